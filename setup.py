"""What is packed, and how the kernels are compiled; everything else is in pyproject.toml.

ODQA_FAST_BUILD=debug     assertions, no optimization
ODQA_FAST_BUILD=sanitize  address and undefined-behaviour sanitizers
ODQA_FAST_BUILD=none      no kernels: for an editable install whose kernels `make build` compiles
"""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

MODE = os.environ.get("ODQA_FAST_BUILD", "release")
# Contraction would fuse a multiply and an add and move the last bit of a score.
COMMON = ["-std=c++17", "-ffp-contract=off", "-fvisibility=hidden"]
SANITIZERS = "-fsanitize=address,undefined"
FLAGS = {
    "release": ["-O3", "-g0"],
    "debug": ["-O0", "-g0"],
    "sanitize": ["-O1", "-g", SANITIZERS, "-fno-omit-frame-pointer"],
    "none": [],
}
if MODE not in FLAGS:
    sys.exit(f"ODQA_FAST_BUILD={MODE}: expected one of {', '.join(FLAGS)}")

BUILD = f"build/{MODE}"
KERNELS = Path("src/kernels")
DECLARATIONS = Path("odqa_fast/_kernels")
INCLUDE = re.compile(r'^ *(?:#include|cdef extern from) "([^"<]+)"', re.MULTILINE)
CIMPORT = re.compile(r"^from odqa_fast\._kernels\.(\w+) cimport", re.MULTILINE)


def included(source: Path, found: set[str]) -> set[str]:
    """Add to `found` the headers and .pxd files that a source includes, and what those include."""
    text = source.read_text(encoding="utf-8")
    # What a .pxd includes is included by the C++ of the kernel, so it is looked for from there.
    folder = source.parent if source.suffix == ".hpp" else KERNELS
    files = [os.path.normpath(folder / name) for name in INCLUDE.findall(text)]
    files += [str(DECLARATIONS / f"{name}.pxd") for name in CIMPORT.findall(text)]
    own = DECLARATIONS / f"{source.stem}.pxd"
    if source.suffix == ".pyx" and own.exists():
        files.append(str(own))
    for file in set(files) - found:
        found.add(file)
        included(Path(file), found)
    return found


class BuildKernels(build_ext):
    """Compile the kernels that changed, on all cores, and say which one of how many."""

    def build_extensions(self) -> None:
        """Make C++ of those that changed, then compile."""
        from Cython.Build import cythonize

        made = cythonize(
            self.extensions,
            build_dir=BUILD,
            nthreads=self.parallel,
            force=self.force,
            compiler_directives={
                "language_level": 3,
                "boundscheck": MODE != "release",
                "wraparound": False,
                "cdivision": True,
                "initializedcheck": False,
                "binding": True,
            },
        )
        for extension, translated in zip(self.extensions, made, strict=True):
            extension.sources = translated.sources
        self.stale = [e for e in self.extensions if self.is_stale(e)]
        super().build_extensions()

    def is_stale(self, extension: Extension) -> bool:
        """Whether a kernel is older than anything that it is made of."""
        files = [*extension.sources, *extension.depends]
        return self.force or newer_group(files, self.get_ext_fullpath(extension.name))

    def build_extension(self, ext: Extension) -> None:
        """Compile one kernel, where it is stale; called from several threads."""
        if ext in self.stale:
            number = self.stale.index(ext) + 1
            print(f"[{number}/{len(self.stale)}] Compiling {ext.name}", flush=True)
        super().build_extension(ext)

    def copy_extensions_to_source(self) -> None:
        """Replace what lies there, which may be of another mode and newer."""
        self.force = True
        super().copy_extensions_to_source()


extensions = [
    Extension(
        f"odqa_fast._kernels.{source.stem}",
        [str(source)],
        language="c++",
        extra_compile_args=[*COMMON, *FLAGS[MODE]],
        extra_link_args=[SANITIZERS] if MODE == "sanitize" else [],
        depends=sorted(included(source, {"setup.py"})),
    )
    for source in sorted(KERNELS.glob("*.pyx"))
]

# Processes that Cython starts may import this file again.
if __name__ == "__main__":
    setup(
        # The last three hold data alone.
        packages=[
            *find_packages(include=["odqa_fast*"]),
            *(f"odqa_fast.{name}" for name in ("examples", "models", "prompts")),
        ],
        ext_modules=[] if MODE == "none" else extensions,
        cmdclass={"build_ext": BuildKernels},
        options={"build": {"build_base": BUILD}, "build_ext": {"parallel": os.cpu_count()}},
    )

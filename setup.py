"""The compiled modules and the switches of their build; everything else is in pyproject.toml.

ODQA_FAST_BUILD=debug     assertions, no optimization
ODQA_FAST_BUILD=sanitize  address and undefined-behaviour sanitizers
"""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

MODE = os.environ.get("ODQA_FAST_BUILD", "release")
# Contraction would fuse a multiply and an add and move the last bit of a score.
FLAGS = {
    "release": ["-O3", "-g0"],
    "debug": ["-O0", "-g0"],
    "sanitize": ["-O1", "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer"],
}
if MODE not in FLAGS:
    sys.exit(f"ODQA_FAST_BUILD={MODE}: expected one of {', '.join(FLAGS)}")

extensions = [
    Extension(
        f"odqa_fast._kernels.{name}",
        [f"src/kernels/{name}.pyx"],
        language="c++",
        extra_compile_args=["-std=c++17", "-ffp-contract=off", "-fvisibility=hidden", *FLAGS[MODE]],
        extra_link_args=["-fsanitize=address,undefined"] if MODE == "sanitize" else [],
        depends=[*glob("src/*/*.hpp"), *glob("odqa_fast/_kernels/*.pxd")],
    )
    for name in (
        "columns",
        "match",
        "cr",
        "normalize",
        "sums",
        "hashes",
        "lines",
        "retrieval",
        "rouge",
        "bertscore",
        "spans",
    )
]

setup(
    ext_modules=cythonize(
        extensions,
        build_dir="build",
        compiler_directives={
            "language_level": 3,
            "boundscheck": MODE != "release",
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
            "binding": True,
        },
    )
)

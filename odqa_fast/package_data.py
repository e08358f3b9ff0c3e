"""The folders that come with the package beside its code: examples, models."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from odqa_fast.errors import DataError


def bundled(name: str) -> Path:
    """A folder that comes with the package.

    Raises:
        DataError: it is missing.
    """
    # Installed, it lies in the package; in a source tree, beside it.
    package = Path(str(resources.files("odqa_fast")))
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise DataError(f"the package's folder {name} is missing.", hint="Install the package again.")

"""Every job there is: what `job.py` of a package of odqa_fast holds, by the command's name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from odqa_fast.runs.job import Job

_PACKAGE = Path(__file__).parents[1]


@cache
def jobs() -> dict[str, type[Job[Any]]]:
    """The jobs that have a command, by its name."""
    found: dict[str, type[Job[Any]]] = {}
    for file in sorted(_PACKAGE.glob("*/job.py")):
        module = import_module(f"{_PACKAGE.name}.{file.parent.name}.job")
        for kind in vars(module).values():
            is_job = isinstance(kind, type) and issubclass(kind, Job)
            if is_job and kind.__module__ == module.__name__ and kind.command:
                found[kind.command] = kind
    return found

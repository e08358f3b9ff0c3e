"""Every job there is: what `job.py` of a package of odqa_fast holds, by the command's name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import odqa_fast
from odqa_fast.runs.job import Job


@cache
def jobs() -> dict[str, type[Job[Any]]]:
    """The jobs that have a command, by its name."""
    found: dict[str, type[Job[Any]]] = {}
    for file in sorted(Path(odqa_fast.__path__[0]).glob("*/job.py")):
        module = import_module(f"{odqa_fast.__name__}.{file.parent.name}.job")
        for kind in vars(module).values():
            is_job = isinstance(kind, type) and issubclass(kind, Job)
            if is_job and kind.__module__ == module.__name__ and kind.command:
                found[kind.command] = kind
    return found

"""Ways to show a run's `RunSummary`: one module per format, each with `render(summary) -> str`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from odqa_fast.runs.summary import RunSummary


def formats() -> list[str]:
    """The formats there are, by their module's name."""
    return [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]


def render(summary: RunSummary, fmt: str) -> str:
    """The summary of a run as text in a format of `formats()`."""
    text: str = import_module(f"{__name__}.{fmt}").render(summary)
    return text

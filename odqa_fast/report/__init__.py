"""Ways to show a run's `RunSummary`: every module here without an underscore is one, under its own
name.

It holds `render(summary) -> str`.
"""

from __future__ import annotations

from odqa_fast.plugins import Plugins
from odqa_fast.runs.summary import RunSummary

REPORTS = Plugins("report", __name__, "odqa_fast.reports")


def formats() -> list[str]:
    """The names of all reports."""
    return REPORTS.names()


def render(summary: RunSummary, fmt: str) -> str:
    """The summary of a run as text.

    Raises:
        OdqaError: there is no report of that name.
    """
    text: str = REPORTS.load(fmt).render(summary)
    return text

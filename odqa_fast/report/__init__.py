r"""Ways to show a run's `RunSummary`: every module here without an underscore is one, under its own
name, which `--format` takes.

It holds `render(summary) -> str`. Every command shows its summary by it, so that `metrics` may be
empty and what a command adds stands in `extras`; a mean may be None. For example:

    def render(summary):
        lines = ["| metric | mean |", "|---|---|"]
        lines += [f"| {name} | {row.mean} |" for name, row in summary.metrics.items()]
        return "\n".join(lines)
"""

from __future__ import annotations

from odqa_fast.errors import OdqaError
from odqa_fast.plugins import Plugins
from odqa_fast.runs.summary import RunSummary

REPORTS = Plugins("report", __name__, "odqa_fast.reports")


def formats() -> list[str]:
    """The names of all reports."""
    return REPORTS.names()


def render(summary: RunSummary, fmt: str) -> str:
    """The summary of a run as text.

    Raises:
        OdqaError: there is no report of that name, or it fails.
    """
    report = REPORTS.load_holding(fmt, "render")
    try:
        text: str = report.render(summary)
    except (OdqaError, MemoryError):
        raise
    except Exception as error:  # whatever a package of others may do
        raise OdqaError(
            f"the report {fmt!r} is broken: {type(error).__name__}: {error}.",
            hint="Other reports show the same run.",
        ) from error
    return text

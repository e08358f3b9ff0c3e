"""The summary as a table for people."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from odqa_fast.report._judge import print_judge, print_plan

# Wide enough for any signature: lines are never folded, a terminal may do that.
_WIDTH = 400


def render(summary: Mapping[str, Any]) -> str:
    """The means, then the counts that are not zero, then the signatures, one a line."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("metric", "mean", "scored", "not scored"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    for metric, row in summary["metrics"].items():
        mean = "-" if row["mean"] is None else f"{row['mean']:.6f}"
        table.add_row(Text(metric), mean, f"{row['n_scored']:,}", f"{row['n_null']:,}")
    text = io.StringIO()
    console = Console(file=text, width=_WIDTH, color_system=None, force_terminal=False)
    if summary["metrics"]:
        console.print(table)
    console.print(Text(f"counts: {_counts(summary['counts'])}"))
    if "diagnosis" in summary:
        _print_diagnosis(console, summary["diagnosis"])
    if "judge" in summary:
        print_judge(console, summary)
    if "dry_run" in summary:
        print_plan(console, summary["dry_run"])
    if summary["metrics"]:
        console.print(Text("signatures:"))
    for row in summary["metrics"].values():
        console.print(Text(f"  {row['signature']}"))
    return "\n".join(line.rstrip() for line in text.getvalue().strip("\n").splitlines())


def _print_diagnosis(console: Console, diagnosis: Mapping[str, Any]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("diagnosis", "rows", "share", "mean F1"):
        table.add_column(heading, justify="left" if heading == "diagnosis" else "right")
    for cell in diagnosis["cells"]:
        share, f1 = (_number(cell[key]) for key in ("share", "f1"))
        table.add_row(Text(cell["label"]), f"{cell['rows']:,}", share, f1)
    table.add_row("not told", f"{diagnosis['unlabelled']:,}", "", "")
    console.print(table)
    for name, value in diagnosis["findings"].items():
        shown = _number(value) if isinstance(value, float) or value is None else f"{value:,}"
        console.print(Text(f"{name.replace('_', ' ')}: {shown}"))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def _counts(counts: Mapping[str, int]) -> str:
    shown = {name: n for name, n in counts.items() if n or name == "rows"}
    return ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in shown.items())

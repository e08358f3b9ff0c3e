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
from odqa_fast.runs.summary import RunSummary

# Wide enough for any signature: lines are never folded, a terminal may do that.
_WIDTH = 400


def render(summary: RunSummary) -> str:
    """The means, what a command adds, the counts that are not zero, then the signatures."""
    text = io.StringIO()
    console = Console(file=text, width=_WIDTH, color_system=None, force_terminal=False)
    if summary.metrics:
        _print_metrics(console, summary)
    for name, curve in summary.extras.get("levels", {}).items():
        _print_levels(console, name, curve)
    if "seconds" in summary.extras:
        _print_seconds(console, summary.extras["seconds"])
    console.print(Text(f"counts: {_counts(summary.counts)}"))
    for part in ("tokens", "runs"):
        if part in summary.extras:
            shown = (f"{_words(n)} {short(v)}" for n, v in summary.extras[part].items())
            console.print(Text(f"{part}: {', '.join(shown)}"))
    if "diagnosis" in summary.extras:
        _print_diagnosis(console, summary.extras["diagnosis"])
    if "judge" in summary.extras:
        print_judge(console, summary)
    if "dry_run" in summary.extras:
        print_plan(console, summary.extras["dry_run"])
    if summary.metrics:
        console.print(Text("signatures:"))
    for row in summary.metrics.values():
        console.print(Text(f"  {row.signature}"))
    for name in ("signature", "out"):
        if name in summary.extras:
            console.print(Text(f"{name}: {summary.extras[name]}"))
    return "\n".join(line.rstrip() for line in text.getvalue().strip("\n").splitlines())


def _print_metrics(console: Console, summary: RunSummary) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("metric", "mean", "scored", "not scored"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    for metric, row in summary.metrics.items():
        mean = "-" if row.mean is None else f"{row.mean:.6f}"
        table.add_row(Text(metric), mean, f"{row.n_scored:,}", f"{row.n_null:,}")
    console.print(table)


def _print_seconds(console: Console, seconds: Mapping[str, Mapping[str, float]]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    headings = ("mean", "median", "p90", "p99", "n")
    for heading in ("seconds", *headings):
        table.add_column(heading, justify="left" if heading == "seconds" else "right")
    for name, figures in seconds.items():
        table.add_row(Text(name), *(short(figures.get(heading)) for heading in headings))
    console.print(table)


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
        console.print(Text(f"{_words(name)}: {shown}"))


def _print_levels(console: Console, name: str, curve: Mapping[str, Any]) -> None:
    """The levels of one curve, one a line; columns without a number are left out."""
    columns = {
        "level": "level",
        "weight": "weight",
        "score": "score",
        "compliance": "compliant",
        "score_compliant": "score of compliant",
        "ratio": "ratio",
        "par": "par",
        "noise_removed": "noise removed",
        "evidence_kept": "evidence kept",
    }
    rows = curve["levels"]
    shown = {key: head for key, head in columns.items() if any(r[key] is not None for r in rows)}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=Text(name), title_justify="left")
    for heading in (*shown.values(), "95 % interval", "failed"):
        table.add_column(heading, justify="left" if heading == "failed" else "right")
    for row in rows:
        failed = ", ".join(f"{reason} {n:,}" for reason, n in row["reasons"].items())
        cells = ("-" if row[key] is None else f"{row[key]:.4f}" for key in shown)
        table.add_row(*cells, _interval(row["interval"]), Text(failed))
    console.print(table)
    score, area = _number(curve["score"]), _number(curve["area"])
    console.print(Text(f"score {score} {_interval(curve['interval'])}, area {area}\n"))


def _interval(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def short(value: object) -> str:
    """A number in few digits; any other value as it is."""
    if isinstance(value, float):
        return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else "-" if value is None else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _counts(counts: Mapping[str, int]) -> str:
    shown = {name: n for name, n in counts.items() if n or name == "rows"}
    return ", ".join(f"{_words(name)} {n:,}" for name, n in shown.items())

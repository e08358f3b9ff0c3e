"""What judges said, how far they agree and how biased they are, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from odqa_fast.runs.summary import RunSummary


def print_judge(console: Console, summary: RunSummary) -> None:
    """The part of a summary that `odqa-fast judge` adds, a table for each of its questions."""
    judge = summary.extras["judge"]
    metrics = {name: row.as_dict() for name, row in summary.metrics.items()}
    judged = {name: row for name, row in metrics.items() if "verdicts" in row}
    _print(
        console,
        ("judge", "mean", "95 % interval", "failed as 0", "as 1", "verdicts", "failures"),
        (
            (
                name,
                _number(row["mean"]),
                _interval(row),
                _number(row["if_failed_0"]),
                _number(row["if_failed_1"]),
                _counted(row["verdicts"]),
                _counted(row["failures"]) or "none",
            )
            for name, row in judged.items()
        ),
    )
    _print(
        console,
        ("agreement of", "with", "rows", "accuracy", "95 % interval", "kappa", "95 % interval"),
        (
            (
                row["of"],
                row["with"],
                f"{row['accuracy']['n']:,}",
                *_estimated(row["accuracy"]),
                *_estimated(row["kappa"]),
            )
            for row in judge.get("agreement", ())
        ),
    )
    _print(
        console,
        ("among judges", "rows", "all agree", "95 % interval", "kappa", "95 % interval", "of"),
        (
            (
                rubric,
                f"{row['kappa']['n']:,}",
                *_estimated(row["all_agree"]),
                *_estimated(row["kappa"]),
                row["kappa"]["kind"],
            )
            for rubric, row in judge["among_judges"].items()
        ),
    )
    _print(
        console,
        ("bias of", "by", "rows", "value", "95 % interval"),
        (
            (name, figure.replace("_", " "), f"{row['n']:,}", *_estimated(row))
            for name, figures in judge["bias"].items()
            for figure, row in figures.items()
        ),
    )
    _print(
        console,
        ("by people", "verdict", "correct", "not correct"),
        (
            (name, verdict, f"{row['correct']:,}", f"{row['not correct']:,}")
            for name, rows in judge.get("confusion", {}).items()
            for verdict, row in rows.items()
        ),
    )
    _print(
        console,
        ("mean set right by people", "rows", "value", "95 % interval"),
        (
            (f"{name}, {kind.replace('_', ' ')}", f"{row[kind]['n']:,}", *_estimated(row[kind]))
            for name, row in judge.get("corrected", {}).items()
            for kind in ("prediction_powered", "people_alone")
        ),
    )
    _print(
        console,
        ("grounding", "rows", "share"),
        (
            (name, f"{cell['rows']:,}", _number(cell["share"]))
            for name, cell in judge.get("grounding", {}).get("cells", {}).items()
        ),
    )
    usage = {name: value for name, value in judge["usage"].items() if value is not None}
    console.print(Text(f"usage: {_counted(usage)}"))


def print_plan(console: Console, plans: Sequence[Mapping[str, Any]]) -> None:
    """What would be asked of each judge."""
    _print(
        console,
        (
            *("judge", "rubric", "requests", "kept", "to ask"),
            *("asked once: tokens in", "out", "cost"),
            *("at most: requests", "tokens in", "out", "cost"),
        ),
        (
            (
                plan["judge"],
                plan["rubric"],
                *(f"{plan[name]:,}" for name in ("requests", "kept", "to_ask")),
                f"{'' if plan['tokens_in_counted'] else 'about '}{plan['tokens_in_asked_once']:,}",
                f"{plan['tokens_out_asked_once']:,}",
                _cost(plan["cost_asked_once"]),
                f"{plan['requests_at_most']:,}",
                f"{plan['tokens_in_at_most']:,}",
                f"{plan['tokens_out_at_most']:,}",
                _cost(plan["cost_at_most"]),
            )
            for plan in plans
        ),
    )


def _cost(cost: float | None) -> str:
    return "-" if cost is None else f"{cost:,.4f}"


def _print(console: Console, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table, where it has rows."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading)
    for row in rows:
        table.add_row(*map(Text, row))
    if table.row_count:
        console.print(table)


def _estimated(estimate: Mapping[str, Any]) -> tuple[str, str]:
    return _number(estimate["value"]), _interval(estimate)


def _interval(estimate: Mapping[str, Any]) -> str:
    ends = estimate["low"], estimate["high"]
    return "-" if None in ends else " to ".join(map(_number, ends))


def _number(value: float | None) -> str:
    # Adding 0 makes a zero of a negative one.
    return "-" if value is None else f"{round(value, 4) + 0.0:.4f}"


def _counted(counts: Mapping[str, float]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,}"
        if isinstance(value, int)
        else f"{name.replace('_', ' ')} {value:,.3f}"
        for name, value in counts.items()
    )

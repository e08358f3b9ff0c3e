"""What judges said, how far they agree and how biased they are, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from odqa_fast.runs.summary import RunSummary

Row = Mapping[str, Any]
Cells = tuple[str, ...]


def print_judge(console: Console, summary: RunSummary) -> None:
    """The part of a summary that `odqa-fast judge` adds, a table for each of its questions."""
    judge = summary.extras["judge"]
    for headings, rows in (
        (_VERDICTS, _verdicts(summary)),
        (_AGREEMENT, map(_agreement, judge.get("agreement", ()))),
        (_AMONG, (_among(*each) for each in judge["among_judges"].items())),
        (_BIAS, _bias(judge["bias"])),
        (_BY_PEOPLE, _by_people(judge.get("confusion", {}))),
        (_CORRECTED, _corrected(judge.get("corrected", {}))),
        (_GROUNDING, _grounding(judge.get("grounding", {}))),
    ):
        _print(console, headings, rows)
    usage = {name: value for name, value in judge["usage"].items() if value is not None}
    console.print(Text(f"usage: {_counted(usage)}"))


_VERDICTS = ("judge", "mean", "95 % interval", "failed as 0", "as 1", "verdicts", "failures")


def _verdicts(summary: RunSummary) -> Iterator[Cells]:
    for name, metric in summary.metrics.items():
        row = metric.as_dict()
        if "verdicts" in row:
            yield (
                name,
                _number(row["mean"]),
                _interval(row),
                _number(row["if_failed_0"]),
                _number(row["if_failed_1"]),
                _counted(row["verdicts"]),
                _counted(row["failures"]) or "none",
            )


_AGREEMENT = ("agreement of", "with", "rows", "accuracy", "95 % interval", "kappa", "95 % interval")


def _agreement(row: Row) -> Cells:
    accuracy, kappa = row["accuracy"], row["kappa"]
    rows = f"{accuracy['n']:,}"
    return row["of"], row["with"], rows, *_estimated(accuracy), *_estimated(kappa)


_AMONG = ("among judges", "rows", "all agree", "95 % interval", "kappa", "95 % interval", "of")


def _among(rubric: str, row: Row) -> Cells:
    agree, kappa = row["all_agree"], row["kappa"]
    return rubric, f"{kappa['n']:,}", *_estimated(agree), *_estimated(kappa), kappa["kind"]


_BIAS = ("bias of", "by", "rows", "value", "95 % interval")


def _bias(bias: Row) -> Iterator[Cells]:
    for name, figures in bias.items():
        for figure, row in figures.items():
            yield name, figure.replace("_", " "), f"{row['n']:,}", *_estimated(row)


_BY_PEOPLE = ("by people", "verdict", "correct", "not correct")


def _by_people(confusion: Row) -> Iterator[Cells]:
    for name, rows in confusion.items():
        for verdict, row in rows.items():
            yield name, verdict, f"{row['correct']:,}", f"{row['not correct']:,}"


_CORRECTED = ("mean set right by people", "rows", "value", "95 % interval")


def _corrected(corrected: Row) -> Iterator[Cells]:
    for name, row in corrected.items():
        for kind in ("prediction_powered", "people_alone"):
            by = f"{name}, {kind.replace('_', ' ')}"
            yield by, f"{row[kind]['n']:,}", *_estimated(row[kind])


_GROUNDING = ("grounding", "rows", "share")


def _grounding(grounding: Row) -> Iterator[Cells]:
    for name, cell in grounding.get("cells", {}).items():
        yield name, f"{cell['rows']:,}", _number(cell["share"])


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

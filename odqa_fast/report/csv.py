"""The summary as CSV: one line per metric; of a run over levels, one per level; of what would be
asked, one per judge and rubric; of what has no metrics, one of counts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from odqa_fast.runs.summary import RunSummary

COLUMNS = ("metric", "mean", "n_scored", "n_null", "signature")


LEVEL_COLUMNS = (
    "text",
    "level",
    "weight",
    "score",
    "low",
    "high",
    "compliance",
    "score_compliant",
    "ratio",
    "par",
    "noise_removed",
    "evidence_kept",
    "n_texts",
)


def render(summary: RunSummary) -> str:
    """A header and the lines; an undefined number is an empty cell."""
    counts, extras = summary.counts, summary.extras
    if "levels" in extras:
        return _written(LEVEL_COLUMNS, _levels(extras["levels"]))
    if "dry_run" in extras:
        plans = [{"rows": counts["rows"], **plan} for plan in extras["dry_run"]]
        return _written(list(plans[0]), plans)
    if not summary.metrics:
        return _written(list(counts), [counts])
    rows = ({"metric": metric, **row.as_dict()} for metric, row in summary.metrics.items())
    return _written(COLUMNS, rows)


def _levels(curves: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, curve in curves.items():
        for level in curve["levels"]:
            low, high = level["interval"] or (None, None)
            yield {"text": name, **level, "low": low, "high": high}


def _written(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().rstrip("\n")

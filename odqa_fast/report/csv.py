"""The summary as CSV: one line per metric."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

COLUMNS = ("metric", "mean", "n_scored", "n_null", "signature")


def render(summary: Mapping[str, Any]) -> str:
    """A header and one line per metric; an undefined mean is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for metric, row in summary["metrics"].items():
        writer.writerow({"metric": metric, **row})
    return text.getvalue().rstrip("\n")

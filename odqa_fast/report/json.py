"""The summary as JSON, the same as `summary.json`."""

from __future__ import annotations

import json

from odqa_fast.runs.summary import RunSummary


def render(summary: RunSummary) -> str:
    """Strict JSON: no NaN, no infinity."""
    return json.dumps(summary.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)

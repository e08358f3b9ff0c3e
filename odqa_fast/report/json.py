"""The summary as JSON, the same as `summary.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def render(summary: Mapping[str, Any]) -> str:
    """Strict JSON: no NaN, no infinity."""
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)

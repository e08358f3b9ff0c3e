from typing import Any

from odqa_fast._kernels.columns import Column

UNITS: tuple[str, ...]

def cr(
    summaries: Column,
    documents: Column,
    unit: str,
    rounded: bool,
    lo: int,
    hi: int,
    out: Any,
) -> dict[str, int]: ...

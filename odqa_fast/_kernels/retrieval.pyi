from typing import Any

from odqa_fast._kernels.columns import Column
from odqa_fast._kernels.match import MatchRule

MEASURES: tuple[str, ...]
PLACES: tuple[str, ...]

def by_answers(
    documents: Column,
    answers: Column,
    how: MatchRule,
    lo: int,
    hi: int,
    outputs: dict[str, Any],
    beside: Column | None = None,
) -> dict[str, int]: ...
def by_ids(
    ids: Column,
    scores: Column,
    relevant: Column,
    relevance: Column,
    lo: int,
    hi: int,
    outputs: dict[str, Any],
) -> dict[str, int]: ...
def by_evidence(
    ids: Column, evidence: Column, lo: int, hi: int, outputs: dict[str, Any]
) -> dict[str, int]: ...

from typing import Any

from odqa_fast._kernels.columns import Column
from odqa_fast._kernels.match import MatchRule

MEASURES: tuple[str, ...]
PLACES: tuple[str, ...]
ANSWER_COUNTS: tuple[str, ...]
ID_COUNTS: tuple[str, ...]
EVIDENCE_COUNTS: tuple[str, ...]

def by_answers(
    documents: Column,
    answers: Column,
    how: MatchRule,
    lo: int,
    hi: int,
    outputs: dict[str, Any],
    beside: Column | None = None,
) -> tuple[int, ...]: ...
def by_ids(
    ids: Column,
    scores: Column,
    relevant: Column,
    relevance: Column,
    lo: int,
    hi: int,
    outputs: dict[str, Any],
) -> tuple[int, ...]: ...
def by_evidence(
    ids: Column, evidence: Column, lo: int, hi: int, outputs: dict[str, Any]
) -> tuple[int, ...]: ...

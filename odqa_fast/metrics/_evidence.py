"""Row functions over the documents of a row: which hold an answer, and in which place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.metrics._match import MatchSettings, match_rule, match_settings, needle_tag
from odqa_fast.metrics._regex import regex_evidence_work
from odqa_fast.metrics.spec import Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

#: How an answer is looked for in a text.
MODES = {
    "token": "whole tokens, NFD, any case, as DPR's has_answer (the default)",
    "raw": "verbatim, case and all",
    "normalized": "as the profile's own containment rule sees both sides",
    "regex": "answers are regular expressions, searched for as DPR does (CuratedTREC)",
}
NORMALIZERS = {"raw": "raw", "token": "dpr", "normalized": None}

#: The first evidence of a row, as indices from 0: see `odqa_fast._kernels.retrieval`.
PLACES = ("document", "answer", "position")


@dataclass(frozen=True)
class EvidenceSettings:
    """The rules of one kernel call."""

    match: MatchSettings


def containment(mode: str, profile: Profile) -> MatchSettings:
    """The rules by which a text holds an answer."""
    return match_settings("contains", profile, text="summary", normalizer=NORMALIZERS[mode])


def evidence_rows(
    settings: EvidenceSettings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    """Scores the rows [lo, hi) into `outputs`; returns the counts by name."""
    from odqa_fast._kernels.retrieval import by_answers

    rule = match_rule(settings.match)
    return by_answers(columns["documents"], columns["answers"], rule, lo, hi, dict(outputs))


def evidence_work(output: str, mode: str, profile: Profile) -> Work:
    """The work for one measure (`hit@5`) or place; those of one mode and profile share a pass."""
    if mode == "regex":
        return regex_evidence_work(output)
    settings = EvidenceSettings(containment(mode, profile))
    return Work(evidence_rows, ("documents", "answers"), settings, output)


def evidence_tags(mode: str, profile: Profile) -> dict[str, str]:
    """The rules that can change which documents hold an answer, for the signature."""
    rule = profile.contains_rule if mode == "normalized" else mode
    return {"match": rule, "golds": "any", "order": "list", "empty": needle_tag(profile)}

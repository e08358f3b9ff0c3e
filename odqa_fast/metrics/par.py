"""PAR: is a gold answer preserved in the compressed text?"""

from __future__ import annotations

from collections.abc import Mapping

from odqa_fast.metrics._match import answer_tags, match_work, needle_tag
from odqa_fast.metrics._regex import regex_text_work
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

_MODES = {
    "raw": "verbatim, case and all (the default)",
    "normalized": "as the profile's own containment rule sees both sides",
    "token": "whole tokens, NFD, any case, as DPR's has_answer",
    "regex": "answers are regular expressions, searched for as DPR does (CuratedTREC)",
}
_NORMALIZERS = {"raw": "raw", "token": "dpr", "normalized": None}


def par_work(option: str, profile: Profile) -> Work:
    """The work for PAR in one of its modes."""
    if option == "regex":
        return regex_text_work("contains", "summary", "search", profile)
    return match_work(
        "contains",
        profile,
        text="summary",
        normalizer=_NORMALIZERS[option],
        no_gold="zero",
    )


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    if option == "regex":
        return {"contains": "regex", "golds": "any", "null": "zero"}
    name = "par" if option == "raw" else f"par:{option}"
    tags = answer_tags(name, profile, golds="any")
    mode = profile.contains_rule if option == "normalized" else option
    return {"contains": mode, **tags, "empty": needle_tag(profile)}


SPECS = (
    MetricSpec(
        id="par",
        about="1 if a gold answer stands inside the summary, else 0",
        inputs=("summary", "answers"),
        empty_rule="a null summary or an empty list of answers scores 0; an answer of nothing "
        "counts only where the profile's reference counts it",
        source="the ODQA compression recipe (raw); FlashRAG (normalized); Karpukhin et al. 2020, "
        "DPR (token)",
        work=par_work,
        tags=_tags,
        options=_MODES,
    ),
)

"""Contains: a gold answer stands inside the prediction ("accuracy" in PopQA, acc in FlashRAG)."""

from __future__ import annotations

from collections.abc import Mapping

from odqa_fast.metrics._match import answer_tags, match_work, needle_tag
from odqa_fast.metrics._patterns import How
from odqa_fast.metrics._regex import regex_text_work
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile


def _work(option: str, profile: Profile) -> Work:
    if option == "regex":
        how: How = "inside" if profile.regex_on == "normalized" else "search"
        return regex_text_work("contains", "prediction", how, profile)
    return match_work("contains", profile)


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    if option == "regex":
        by = {"by": "re"} if profile.regex_on == "normalized" else {}
        return {"match": "regex", **by, "on": profile.regex_on, "golds": "any", "null": "zero"}
    tags = answer_tags("contains", profile, golds="any")
    return {"contains": profile.contains_rule, **tags, "empty": needle_tag(profile)}


_OPTIONS = {
    "normalized": "as the profile's own containment rule sees both sides (the default)",
    "regex": "answers are regular expressions, searched for as DPR does, or in the normalized "
    "prediction (flashrag)",
}

SPECS = (
    MetricSpec(
        id="contains",
        about="1 if a normalized gold answer stands inside the normalized prediction, else 0",
        inputs=("prediction", "answers"),
        empty_rule="an answer of nothing counts only where the profile's reference counts it",
        source="Mallen et al. 2023, PopQA; Jin et al. 2024, FlashRAG",
        work=_work,
        tags=_tags,
        options=_OPTIONS,
    ),
)

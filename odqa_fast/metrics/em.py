"""Exact match: the normalized prediction equals a normalized gold answer."""

from __future__ import annotations

from collections.abc import Mapping

from odqa_fast.metrics._match import answer_tags, match_work
from odqa_fast.metrics._patterns import How
from odqa_fast.metrics._regex import regex_text_work
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile


def em_work(option: str, profile: Profile) -> Work:
    """The work for EM in one of its ways."""
    if option == "regex":
        how: How = "full" if profile.regex_on == "normalized" else "match"
        return regex_text_work("em", "prediction", how, profile)
    normalizer = "strip" if option == "strip" or profile.em_rule == "strip" else None
    return match_work("em", profile, normalizer=normalizer)


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    if option == "regex":
        return {
            "match": "regex",
            "by": "re",
            "on": profile.regex_on,
            "golds": "max",
            "null": "zero",
        }
    if option == "strip":
        return {"match": "strip", "golds": "max", "null": "zero"}
    return answer_tags("em", profile)


SPECS = (
    MetricSpec(
        id="em",
        about="1 if the normalized prediction equals a normalized gold answer, else 0",
        inputs=("prediction", "answers"),
        empty_rule="two empty sides are equal; a null prediction scores 0",
        source="Rajpurkar et al. 2016, SQuAD; the profile names the script",
        work=em_work,
        tags=_tags,
        options={
            "normalized": "as the profile sees both sides (the default)",
            "strip": "equal but for white space at the ends (KILT's accuracy)",
            "regex": "answers are regular expressions that match from the start (NQ-open's "
            "scorer), or all of the normalized prediction (flashrag)",
        },
    ),
)

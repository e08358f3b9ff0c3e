"""Exact match: the normalized prediction equals a normalized gold answer."""

from __future__ import annotations

from collections.abc import Mapping

from odqa_fast.metrics._match import answer_tags, match_work
from odqa_fast.profiles import Profile
from odqa_fast.spec import MetricSpec, Work


def _work(option: str, profile: Profile) -> Work:
    normalizer = "strip" if profile.em_rule == "strip" else None
    return match_work("em", profile, normalizer=normalizer)


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    return answer_tags("em", profile)


SPECS = (
    MetricSpec(
        id="em",
        about="1 if the normalized prediction equals a normalized gold answer, else 0",
        version=1,
        inputs=("prediction", "answers"),
        range=(0, 1),
        higher_is_better=True,
        empty_rule="two empty sides are equal; a null prediction scores 0",
        source="Rajpurkar et al. 2016, SQuAD; the profile names the script",
        work=_work,
        tags=_tags,
    ),
)

"""Token F1, precision and recall: multiset overlap of the tokens of prediction and answer."""

from __future__ import annotations

from collections.abc import Mapping

from odqa_fast.metrics._match import answer_tags, match_work
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile


def f1_work(metric: str, profile: Profile) -> Work:
    """The work for F1, precision or recall."""
    return match_work(metric, profile)


def _spec(metric: str, about: str) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        return f1_work(metric, profile)

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        own_max = metric == "f1" or profile.combine == "each_max"
        return answer_tags(metric, profile, golds="max" if own_max else "best-f1")

    return MetricSpec(
        id=metric,
        about=about,
        inputs=("prediction", "answers"),
        empty_rule="two empty sides score 0 (v1) or 1 (v2) by profile; a null prediction scores 0",
        source="Rajpurkar et al. 2016, SQuAD; the profile names the script",
        work=work,
        tags=tags,
    )


SPECS = (
    _spec("f1", "harmonic mean of token precision and recall, best over the gold answers"),
    _spec("precision", "share of the prediction's tokens found in the answer"),
    _spec("recall", "share of the answer's tokens found in the prediction"),
)

"""Retrieval by answers: which of the documents hold a gold answer, in the order they are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from odqa_fast.metrics._evidence import MODES, evidence_tags, evidence_work
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

_OPTIONS = {**MODES, "answer": "the same as token"}
_EMPTY_RULE = (
    "a row without documents or answers scores 0, null answers are not scored; an answer of "
    "nothing counts only where the profile's reference counts it"
)


def _mode(option: str) -> str:
    return "token" if option == "answer" else option


def _measure(metric: str, cut: str, profile: Profile) -> str:
    if metric == "answer_precision":
        return f"{'share' if profile.short_list == 'length' else 'precision'}{cut}"
    return f"{metric}{cut}"


def _spec(metric: str, cut: str, about: str, source: str) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        return evidence_work(_measure(metric, cut, profile), _mode(option), profile)

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        tags = evidence_tags(_mode(option), profile)
        if metric == "answer_precision":
            tags["over"] = profile.short_list
        return {**tags, "null": "zero"}

    return MetricSpec(
        id=f"{metric}{cut}",
        about=about,
        inputs=("documents", "answers"),
        empty_rule=_EMPTY_RULE,
        source=source,
        work=work,
        tags=tags,
        options=_OPTIONS,
    )


def _family(metric: str, about: str, source: str) -> MetricSpec:
    @cache
    def at(k: int) -> MetricSpec:
        return _spec(metric, f"@{k}", about, source)

    return replace(_spec(metric, "@k", about, source), at=at)


_DPR = "Karpukhin et al. 2020, DPR: top-k retrieval accuracy"
_RANK = "1 over the rank of the first document that holds an answer, 0 where none does"

SPECS = (
    _family("hit", "1 if one of the first k documents holds an answer, else 0", _DPR),
    _family(
        "answer_precision",
        "share of the first k documents that hold an answer",
        "Jin et al. 2024, FlashRAG (over the documents there are); else over k as trec_eval",
    ),
    _spec("mrr", "", _RANK, "Voorhees 1999, TREC-8 question answering track"),
    _family("mrr", f"{_RANK} among the first k", "Voorhees 1999, TREC-8 question answering track"),
)

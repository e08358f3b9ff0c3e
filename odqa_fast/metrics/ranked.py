"""Retrieval by ids: documents ranked as trec_eval ranks them, held against the relevant ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

_COLUMNS = ("documents.id", "documents.score", "relevant_ids", "relevance")
_RECALLS = {
    "full": "over all that is relevant, as trec_eval (the default)",
    "capped": "over no more than k",
}
_EMPTY_RULE = (
    "a row without documents scores 0; without relevant ids it is not scored; an id that stands "
    "twice is found once"
)


def _rows(
    settings: None, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.retrieval import by_ids

    ids, scores, relevant, relevance = (columns[name] for name in _COLUMNS)
    return by_ids(ids, scores, relevant, relevance, lo, hi, dict(outputs))


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    return {"by": "ids", "order": "trec_eval", "null": "zero"}


def _spec(metric: str, cut: str, about: str, source: str) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        measure = "capped" if option == "capped" else metric.removesuffix(":ids")
        return Work(_rows, _COLUMNS, None, f"{measure}{cut}")

    name, ids, _ = metric.partition(":ids")
    return MetricSpec(
        id=f"{name}{cut}{ids}",
        about=about,
        inputs=("documents", "relevant_ids"),
        empty_rule=_EMPTY_RULE,
        source=source,
        work=work,
        tags=_tags,
        options=_RECALLS if metric == "recall" else {},
        uses_profile=False,
    )


def _family(metric: str, about: str, source: str) -> MetricSpec:
    @cache
    def at(k: int) -> MetricSpec:
        return _spec(metric, f"@{k}", about, source)

    return replace(_spec(metric, "@k", about, source), at=at)


def _both(metric: str, about: str, source: str) -> tuple[MetricSpec, MetricSpec]:
    return _spec(metric, "", about, source), _family(metric, f"{about}, of the first k", source)


_TREC = "trec_eval 9, NIST"

SPECS = (
    _family("hit:ids", "1 if one of the first k documents is relevant, else 0", _TREC),
    _family("recall", "share of the relevant documents that stand among the first k", _TREC),
    _family("precision", "share of the first k places that hold a relevant document", _TREC),
    _spec("r_precision", "", "precision at as many places as there are relevant ids", _TREC),
    *_both("mrr:ids", "1 over the rank of the first relevant document, 0 where none is", _TREC),
    *_both("map", "mean over the relevant documents of the precision at their ranks", _TREC),
    *_both(
        "ndcg",
        "discounted cumulative gain over the best that could be had; gain is the relevance, "
        "discount log2(rank + 1)",
        "Järvelin and Kekäläinen 2002, as trec_eval 9",
    ),
)

"""KILT: which sets of evidence were retrieved, and answers that count only where one was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from odqa_fast.metrics.em import em_work
from odqa_fast.metrics.f1 import f1_work
from odqa_fast.metrics.rouge import rouge_work
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

_COLUMNS = ("documents.id", "evidence")
_SOURCE = "Petroni et al. 2021, KILT"


def _rows(
    settings: None, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.retrieval import by_evidence

    return by_evidence(columns["documents.id"], columns["evidence"], lo, hi, dict(outputs))


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    return {"by": "evidence", "order": "list", "null": "zero"}


def _spec(metric: str, cut: str, about: str) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        return Work(_rows, _COLUMNS, None, f"{metric}{cut}")

    return MetricSpec(
        id=f"{metric}{cut}:kilt",
        about=about,
        inputs=("documents", "evidence"),
        empty_rule="a row without documents or evidence sets scores 0; null evidence is not scored",
        source=_SOURCE,
        work=work,
        tags=_tags,
        uses_profile=False,
    )


def _family(metric: str, about: str) -> MetricSpec:
    @cache
    def at(k: int) -> MetricSpec:
        return _spec(metric, f"@{k}", about)

    return replace(_spec(metric, "@k", about), at=at)


@dataclass(frozen=True)
class _Gated:
    score: Work


def _gated_rows(
    settings: _Gated, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    import numpy as np

    (out,) = outputs.values()
    score = settings.score
    counts = score.rows(score.settings, columns, lo, hi, {score.output: out})
    found = np.empty(len(columns["evidence"]))
    of_evidence = _rows(None, columns, lo, hi, {"r_precision": found})
    here = found[lo:hi]
    # NaN where there is no evidence column to gate by; NaN also stays NaN.
    out[lo:hi] = np.where(np.isnan(here), np.nan, np.where(here == 1, out[lo:hi], out[lo:hi] * 0))
    return {**counts, **of_evidence}


def _gated(
    metric: str, score: str, work_of: Callable[[Profile], Work], *, golds: str = "max"
) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        scored = work_of(profile)
        return Work(_gated_rows, (*scored.columns, *_COLUMNS), _Gated(scored), "gated")

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        return {"golds": golds, "gate": "r_precision", "null": "zero"}

    return MetricSpec(
        id=metric,
        about=f"{score} where r_precision:kilt is 1, else 0",
        inputs=("prediction", "answers", "documents", "evidence"),
        empty_rule="as the metric itself; null evidence is not scored",
        source=_SOURCE,
        work=work,
        tags=tags,
        uses_profile=metric != "kilt_rougel",
    )


SPECS = (
    _spec("r_precision", "", "precision at the size of an evidence set, best over the sets"),
    _family("hit", "1 if an evidence set is complete among the first k marks, else 0"),
    _family("recall", "share of the evidence sets that are complete among the first k marks"),
    _family("precision", "share of the first k marks that complete an evidence set"),
    _gated("kilt_em", "em", lambda profile: em_work("normalized", profile)),
    _gated("kilt_f1", "f1", lambda profile: f1_work("f1", profile)),
    _gated("kilt_accuracy", "em:strip", lambda profile: em_work("strip", profile)),
    _gated("kilt_rougel", "rougeL:kilt", lambda _: rouge_work("rougeL", "f:kilt"), golds="best-f"),
)

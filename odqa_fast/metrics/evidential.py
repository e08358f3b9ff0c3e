"""What the documents of a row are worth: how many hold an answer, and whether one survives
compression where one was there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.metrics._evidence import MODES, evidence_tags, evidence_work
from odqa_fast.metrics._match import answer_tags
from odqa_fast.metrics.par import par_work
from odqa_fast.metrics.resources import Resources
from odqa_fast.metrics.spec import MetricSpec, Tally, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

# PAR's own default comes first.
_PAR_MODES = {
    "raw": "verbatim, case and all, in documents and summary alike (the default)",
    "token": "whole tokens, NFD, any case, as DPR's has_answer",
    "normalized": MODES["normalized"],
    "regex": MODES["regex"],
}


@dataclass(frozen=True)
class _Both:
    """Two works over the same rows."""

    documents: Work
    summary: Work


def _open_both(both: _Both, resources: Resources) -> _Both:
    return _Both(both.documents.opened(resources), both.summary.opened(resources))


def _do(
    work: Work,
    columns: Mapping[str, Column],
    lo: int,
    hi: int,
    out: npt.NDArray[np.float64],
) -> Mapping[str, int]:
    return work.rows(work.settings, columns, lo, hi, {work.output: out})


def _preserved_rows(
    settings: _Both,
    columns: Mapping[str, Column],
    lo: int,
    hi: int,
    outputs: Outputs,
) -> Mapping[str, int]:
    import numpy as np

    # Full length, for the kernels write by row number; only [lo, hi) is touched.
    rows = len(columns["answers"])
    hit: npt.NDArray[np.float64] = np.empty(rows)
    kept: npt.NDArray[np.float64] = np.empty(rows)
    of_documents = _do(settings.documents, columns, lo, hi, hit)
    of_summary = _do(settings.summary, columns, lo, hi, kept)
    evidential = hit[lo:hi] == 1
    unscored = np.isnan(hit[lo:hi])
    here = kept[lo:hi]
    if "evidential" in outputs:
        outputs["evidential"][lo:hi] = np.where(evidential, here, np.nan)
    if "all" in outputs:
        outputs["all"][lo:hi] = np.where(unscored, np.nan, np.where(evidential, here, 0.0))
    seen = Tally({**of_documents, **of_summary, "evidential_rows": int(evidential.sum())})
    seen.add_words(of_documents)
    seen.add_words(of_summary)
    return seen


def _preserved(metric: str, output: str, about: str) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        settings = _Both(evidence_work("hit", option, profile), par_work(option, profile))
        return Work(
            _preserved_rows, ("documents", "summary", "answers"), settings, output, _open_both
        )

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        name = "par" if option == "raw" else f"par:{option}"
        rule = {key: tag for key, tag in answer_tags(name, profile).items() if key == "rule"}
        return {**evidence_tags(option, profile), "null": "zero", **rule}

    return MetricSpec(
        id=metric,
        about=about,
        inputs=("documents", "summary", "answers"),
        empty_rule="a null summary scores 0, null answers are not scored",
        source="PAR of the ODQA compression recipe; evidentiality as Lee et al. 2021",
        work=work,
        tags=tags,
        options=_PAR_MODES,
    )


def _share(metric: str, output: str, about: str, *, higher_is_better: bool) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        return evidence_work(output, option, profile)

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        return {**evidence_tags(option, profile), "null": "null"}

    return MetricSpec(
        id=metric,
        about=about,
        inputs=("documents", "answers"),
        higher_is_better=higher_is_better,
        empty_rule="a row without documents is not scored; null answers are not scored",
        source="counting; which text holds an answer as Karpukhin et al. 2020, DPR",
        work=work,
        tags=tags,
        options=MODES,
    )


SPECS = (
    _preserved(
        "par@evidential",
        "evidential",
        "PAR over the rows of which a document holds an answer; other rows are not scored",
    ),
    _preserved(
        "par@evidential:all",
        "all",
        "the same over all rows: those of which no document holds an answer score 0",
    ),
    _share(
        "evidence_share",
        "share",
        "share of a row's documents that hold an answer",
        higher_is_better=True,
    ),
    _share(
        "noise_share",
        "noise",
        "share of a row's documents that hold no answer",
        higher_is_better=False,
    ),
)

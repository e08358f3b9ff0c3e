"""What is to be known of a run over levels."""

from __future__ import annotations

from odqa_fast.engines.replies import KEPT_NOTE
from odqa_fast.io import Dump
from odqa_fast.levels.curve import Curve
from odqa_fast.levels.job import LevelsJob
from odqa_fast.levels.run import LevelsResult
from odqa_fast.runs.input import Read
from odqa_fast.runs.provenance import list_inputs
from odqa_fast.runs.summary import MetricSummary, RunSummary

_GIVEN = "the answers are the dump's own predictions, whatever the compressed text says."


def summarize_levels(
    result: LevelsResult, job: LevelsJob, dump: Dump, n_kept: int = 0
) -> RunSummary:
    """The summary of a run; its `levels` are the curve of the texts as given and, as `clean`, of
    the same without their noise.

    Args:
        result: of the run.
        job: what was asked for.
        dump: as it was read.
        n_kept: replies that were kept from an earlier run.
    """
    read = Read.of(dump)
    counts = {
        "compressions": result.uncompressed.tried,
        "failed_compressions": result.uncompressed.n,
        "asked": result.unanswered.tried,
        "failed_answers": result.unanswered.n,
        "kept_from_before": n_kept,
        **read.oddities,
    }
    noise = job.added_noise
    return RunSummary(
        metrics={
            "level_score" if name != "clean" else "level_score:clean": _summarize_curve(
                curve, result.n_texts, str(result.signatures[name].tagged(read.tags))
            )
            for name, curve in result.curves.items()
        },
        counts={
            "rows": result.n_questions,
            "texts": result.n_texts,
            **{name: n for name, n in counts.items() if n},
        },
        notes=[
            *([_GIVEN] if job.reader == "given" else []),
            *result.uncompressed.note("{n} compressions failed and score 0"),
            *result.unanswered.note("{n} questions have no answer and score 0"),
            *([KEPT_NOTE.format(n=n_kept)] if n_kept else []),
            *read.notes,
        ],
        inputs=list_inputs([dump], job.manifest, job.given_answers),
        extras={
            "levels": {name: curve.as_dict() for name, curve in result.curves.items()},
            **({} if noise is None else {"noise": noise.tag}),
        },
        job=job.record(),
    )


def _summarize_curve(curve: Curve, n_texts: int, signature: str) -> MetricSummary:
    n_scored = min(level.n_texts for level in curve.levels)
    return MetricSummary(curve.score, n_scored, n_texts - n_scored, signature)

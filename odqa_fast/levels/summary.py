"""A run over levels as its folder and `--format json` hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odqa_fast.engines.replies import KEPT_NOTE
from odqa_fast.levels.curve import Curve
from odqa_fast.levels.run import LevelsResult
from odqa_fast.runs.input import Read
from odqa_fast.runs.output import SUMMARY_VERSION
from odqa_fast.texts.text import Text
from odqa_fast.version import __version__


def levels_summary(
    result: LevelsResult,
    texts: Sequence[Text],
    inputs: Sequence[str],
    notes: Sequence[str] = (),
    *,
    read: Read,
    kept: int = 0,
) -> dict[str, Any]:
    """The summary of a run, and under `levels` the curve of the texts as given and, as `clean`, of
    the same without their noise.

    Args:
        result: of the run.
        texts: what it was over.
        inputs: the files they come from.
        notes: what else a reader of the numbers should know.
        read: how they were read.
        kept: replies that were kept from an earlier run.
    """
    counts = {
        "compressions": result.uncompressed.tried,
        "failed_compressions": result.uncompressed.n,
        "asked": result.unanswered.tried,
        "failed_answers": result.unanswered.n,
        "kept_from_before": kept,
        **read.oddities,
    }
    metrics = {
        "level_score" if name != "clean" else "level_score:clean": _metric(
            curve, len(texts), str(result.signatures[name].tagged(read.tags))
        )
        for name, curve in result.curves.items()
    }
    return {
        "format": SUMMARY_VERSION,
        "odqa_fast": __version__,
        "inputs": list(inputs),
        "metrics": metrics,
        "levels": {name: curve.as_dict() for name, curve in result.curves.items()},
        "counts": {
            "rows": sum(len(text.questions) for text in texts),
            "texts": len(texts),
            **{name: n for name, n in counts.items() if n},
        },
        "notes": [
            *notes,
            *result.uncompressed.note("{n} compressions failed and score 0"),
            *result.unanswered.note("{n} questions have no answer and score 0"),
            *([KEPT_NOTE.format(n=kept)] if kept else []),
            *read.notes,
        ],
    }


def _metric(curve: Curve, n_texts: int, signature: str) -> dict[str, Any]:
    n_scored = min(level.n_texts for level in curve.levels)
    return {
        "mean": curve.score,
        "n_scored": n_scored,
        "n_null": n_texts - n_scored,
        "signature": signature,
    }

"""`odqa-fast demo`: the main jobs on the example that comes with the package."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

from odqa_fast.cli import _options, _output
from odqa_fast.cli._errors import tell
from odqa_fast.errors import EngineError, OdqaWarning
from odqa_fast.levels.job import levels_file
from odqa_fast.package_data import bundled
from odqa_fast.runs.summary import RunSummary
from odqa_fast.scoring.job import ScoreJob

_SAID = """\
The example's answers and summaries are scored as they are. Then two irrelevant sentences are put
into each text, and BM25 compresses it to 20, 40 and 60 %: noisy, and clean again. The reader there
is 'given': it gives the example's answers whatever is left of the text, for that needs no model.
PAR, noise removed and evidence kept tell what BM25 did; the score would take a reader to tell."""

_METRICS = ("em", "f1", "contains", "par", "par:token", "cr")


def command(fmt: _options.Format = "table") -> None:
    """Score the bundled example, add noise to it, compress it to three levels: no model needed."""
    path = bundled("examples") / "dump.jsonl"
    job = ScoreJob(path, _METRICS)
    with _output.notes_on_stderr():
        scores = job.run()
    summary = replace(job.summarize(scores), inputs=[{"path": path.name}], job={})
    try:
        levels = _levels(path)
    except EngineError as error:
        tell(f"noise and levels are left out: {error}")
    else:
        summary = replace(
            summary,
            metrics={**summary.metrics, **levels.metrics},
            notes=[*summary.notes, *levels.notes],
            extras={**summary.extras, "levels": levels.extras["levels"]},
        )
        if fmt == "table":
            _output.echo(_SAID)
    _output.show(summary, fmt)


def _levels(path: Path) -> RunSummary:
    with warnings.catch_warnings():
        # What it says is said above the table.
        warnings.simplefilter("ignore", OdqaWarning)
        return levels_file(path, noise="sentences", noise_count=2, seed=1)

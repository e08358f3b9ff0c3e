"""`odqa-fast demo`: the main jobs on the example that comes with the package."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from odqa_fast.cli import _options, _output
from odqa_fast.cli._errors import tell
from odqa_fast.errors import EngineError, OdqaWarning
from odqa_fast.package_data import bundled

_SAID = """\
The example's answers and summaries are scored as they are. Then two irrelevant sentences are put
into each text, and BM25 compresses it to 20, 40 and 60 %: noisy, and clean again. The reader there
is 'given': it gives the example's answers whatever is left of the text, for that needs no model.
PAR, noise removed and evidence kept tell what BM25 did; the score would take a reader to tell."""


def command(fmt: _options.Format = "table") -> None:
    """Score the bundled example, add noise to it, compress it to three levels: no model needed."""
    from odqa_fast.runs.output import summary_of
    from odqa_fast.scoring.score import score_file

    path = bundled("examples") / "dump.jsonl"
    with _output.notes_on_stderr():
        result = score_file(path, ["em", "f1", "contains", "par", "par:token", "cr"])
    summary = summary_of(replace(result, inputs=[path.name]))
    try:
        levels = _levels(path)
    except EngineError as error:
        tell(f"noise and levels are left out: {error}")
    else:
        summary["metrics"] |= levels["metrics"]
        summary["levels"] = levels["levels"]
        summary["notes"] += levels["notes"]
        if fmt == "table":
            _output.echo(_SAID)
    _output.show(summary, fmt)


def _levels(path: Path) -> dict[str, Any]:
    from odqa_fast.levels.files import levels_file
    from odqa_fast.levels.ratio import RatioRule
    from odqa_fast.levels.run import LevelsOptions
    from odqa_fast.noise import NoiseOptions
    from odqa_fast.texts.length import length_in

    options = LevelsOptions([0.2, 0.4, 0.6], RatioRule(length_in("chars")))
    with warnings.catch_warnings():
        # What it says is said above the table.
        warnings.simplefilter("ignore", OdqaWarning)
        return levels_file(path, options, noise=NoiseOptions("sentences", count=2, seed=1))

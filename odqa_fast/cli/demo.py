"""`odqa-fast demo`: the main job on the example that comes with the package."""

from __future__ import annotations

from dataclasses import replace

from odqa_fast.bundled import bundled
from odqa_fast.cli import _options, _output


def command(fmt: _options.Format = "table") -> None:
    """Score the bundled example: about 200 questions with documents, summaries and predictions."""
    from odqa_fast.io.write import summary_of
    from odqa_fast.scoring.score import score_file

    path = bundled("examples") / "dump.jsonl"
    with _output.notes_on_stderr():
        result = score_file(path, ["em", "f1", "contains", "par", "par:token", "cr"])
    _output.show(summary_of(replace(result, inputs=[path.name])), fmt)

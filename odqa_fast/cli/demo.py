"""`odqa-fast demo`: the main job on the example that comes with the package."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

from odqa_fast.cli import _options, _output
from odqa_fast.errors import DataError


def command(fmt: _options.Format = "table") -> None:
    """Score the bundled example: about 200 questions with documents, summaries and predictions."""
    from odqa_fast.io.write import summary_of
    from odqa_fast.scoring.score import score_file

    path = _example()
    with _output.notes_on_stderr():
        result = score_file(path, ["em", "f1", "contains", "par", "par:token", "cr"])
    _output.show(summary_of(replace(result, inputs=[path.name])), fmt)


def _example() -> Path:
    # Installed, the example lies in the package; in a source tree, beside it.
    package = Path(str(resources.files("odqa_fast")))
    for folder in (package / "examples", package.parent / "examples"):
        if (folder / "dump.jsonl").is_file():
            return folder / "dump.jsonl"
    raise DataError("the example dump.jsonl is missing.", hint="Install the package again.")

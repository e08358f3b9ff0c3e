"""The sentences at the beginning, as many as fit."""

from __future__ import annotations

from odqa_fast.steps.compressors import Compressor, CompressorOptions, Task
from odqa_fast.steps.compressors._plain import Plain, fitting, joined, pieces_of
from odqa_fast.texts.sentences import name_splitter


def _lead(task: Task) -> str:
    pieces = pieces_of(task)
    return joined(pieces, fitting(pieces, range(len(pieces)), task, stop=True))


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """Sentences from the first on, up to the first that does not fit."""
    return Plain("lead", argument, _lead, name_splitter())

"""The sentences at the beginning, as many as fit."""

from __future__ import annotations

from odqa_fast.engines.base import Compressor, Task
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.plain import Plain, choose_fitting, join_pieces, split_task
from odqa_fast.texts.sentences import name_splitter


def _lead(task: Task) -> str:
    pieces = split_task(task)
    return join_pieces(pieces, choose_fitting(pieces, range(len(pieces)), task, stop=True))


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """Sentences from the first on, up to the first that does not fit."""
    return Plain("lead", _lead, name_splitter())

"""Sentences drawn by lot, as many as fit: what any choice of sentences has to beat."""

from __future__ import annotations

from odqa_fast.engines.base import Compressor, Task
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.plain import Plain, choose_fitting, join_pieces, split_task
from odqa_fast.texts.draws import Draws, digest
from odqa_fast.texts.sentences import name_splitter


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """Sentences in an order that the seed and the text draw, whatever the level."""

    def drawn(task: Task) -> str:
        pieces = split_task(task)
        order = Draws(options.seed, digest("random", *task.documents)).order(len(pieces))
        return join_pieces(pieces, choose_fitting(pieces, order, task))

    return Plain("random", drawn, f"seed={options.seed}", name_splitter())

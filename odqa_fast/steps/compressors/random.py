"""Sentences drawn by lot, as many as fit: what any choice of sentences has to beat."""

from __future__ import annotations

from odqa_fast.steps.compressors import Compressor, CompressorOptions, Task
from odqa_fast.steps.compressors._plain import Plain, fitting, joined, pieces_of
from odqa_fast.texts.draws import Draws, digest
from odqa_fast.texts.sentences import name_splitter


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """Sentences in an order that the seed and the text draw, whatever the level."""

    def drawn(task: Task) -> str:
        pieces = pieces_of(task)
        order = Draws(options.seed, digest("random", *task.documents)).order(len(pieces))
        return joined(pieces, fitting(pieces, order, task))

    return Plain("random", argument, drawn, f"seed={options.seed}", name_splitter())

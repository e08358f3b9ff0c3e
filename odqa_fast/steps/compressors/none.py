"""Nothing is left out: what a reader makes of the text as it is."""

from __future__ import annotations

from odqa_fast.steps.compressors import Compressor, CompressorOptions
from odqa_fast.steps.compressors._plain import Plain
from odqa_fast.texts.text import BETWEEN


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """All documents, a blank line between them."""
    return Plain("none", argument, lambda task: BETWEEN.join(task.documents))

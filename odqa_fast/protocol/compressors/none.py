"""Nothing is left out: what a reader makes of the text as it is."""

from __future__ import annotations

from odqa_fast.protocol.compressors import Compressor, CompressorOptions
from odqa_fast.protocol.compressors._plain import Plain
from odqa_fast.protocol.texts import BETWEEN


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """All documents, a blank line between them."""
    return Plain("none", argument, lambda task: BETWEEN.join(task.documents))

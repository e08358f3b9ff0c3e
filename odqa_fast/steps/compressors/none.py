"""Nothing is left out: what a reader makes of the text as it is."""

from __future__ import annotations

from odqa_fast.engines.base import Compressor
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.plain import Plain
from odqa_fast.texts.text import BETWEEN


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """All documents, a blank line between them."""
    return Plain("none", lambda task: BETWEEN.join(task.documents))

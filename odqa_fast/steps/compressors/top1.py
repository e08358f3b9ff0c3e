"""The document that the retriever ranks first, whole: the baseline of plain retrieval."""

from __future__ import annotations

from odqa_fast.steps.compressors import Compressor, CompressorOptions
from odqa_fast.steps.compressors._plain import Plain


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """The first document, however long it is."""
    return Plain("top1", argument, lambda task: task.documents[0] if task.documents else "")

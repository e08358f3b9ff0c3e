"""The document that the retriever ranks first, whole: the baseline of plain retrieval."""

from __future__ import annotations

from odqa_fast.engines.base import Compressor
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.plain import Plain


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """The first document, however long it is."""
    return Plain("top1", lambda task: task.documents[0] if task.documents else "")

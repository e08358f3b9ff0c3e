"""A model folder as the reader, by ONNX Runtime."""

from __future__ import annotations

from odqa_fast.inference import reader
from odqa_fast.inference.generate import OnnxOptions
from odqa_fast.protocol.readers import Reader, ReaderOptions
from odqa_fast.protocol.readers._model import ModelReader


def open_reader(argument: str, options: ReaderOptions) -> Reader:
    """The model of a folder.

    Raises:
        ModelError, EngineError: it cannot be opened.
    """
    worker = reader.open_reader(
        f"onnx:{argument}", OnnxOptions(options.device), prompt=options.prompt or "answer"
    )
    return ModelReader(f"onnx:{argument}", worker)

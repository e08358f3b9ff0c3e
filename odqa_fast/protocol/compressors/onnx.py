"""A model folder as the compressor, by ONNX Runtime."""

from __future__ import annotations

from odqa_fast.inference.generate import OnnxOptions
from odqa_fast.inference.open import open_engine
from odqa_fast.protocol.compressors import Compressor, CompressorOptions
from odqa_fast.protocol.compressors._model import ModelCompressor


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """The model of a folder.

    Raises:
        ModelError, EngineError: it cannot be opened.
    """
    name = f"onnx:{argument}"
    return ModelCompressor(name, open_engine(name, OnnxOptions(options.device)), options)

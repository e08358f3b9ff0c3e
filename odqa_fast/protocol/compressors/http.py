"""A model behind an OpenAI-compatible endpoint as the compressor."""

from __future__ import annotations

from odqa_fast.inference.open import open_engine
from odqa_fast.protocol.compressors import Compressor, CompressorOptions
from odqa_fast.protocol.compressors._model import ModelCompressor


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """The model of `<base-url>#<model>`.

    Raises:
        OdqaError: the argument is not of that form.
    """
    name = f"http:{argument}"
    return ModelCompressor(name, open_engine(name), options)

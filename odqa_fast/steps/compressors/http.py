"""A model behind an OpenAI-compatible endpoint as the compressor: `http:<base-url>#<model>`."""

from __future__ import annotations

from odqa_fast.steps.compressors import Compressor, CompressorOptions
from odqa_fast.steps.compressors._model import open_model


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """See `open_model`."""
    return open_model(f"http:{argument}", options)

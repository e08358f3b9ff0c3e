"""A model behind an OpenAI-compatible endpoint as the reader: `http:<base-url>#<model>`."""

from __future__ import annotations

from odqa_fast.steps.readers import Reader, ReaderOptions
from odqa_fast.steps.readers._model import open_model


def open_reader(argument: str, options: ReaderOptions) -> Reader:
    """See `open_model`."""
    return open_model(f"http:{argument}", options)

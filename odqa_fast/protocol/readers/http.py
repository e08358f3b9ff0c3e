"""A model behind an OpenAI-compatible endpoint as the reader."""

from __future__ import annotations

from odqa_fast.protocol.readers import Reader, ReaderOptions
from odqa_fast.protocol.readers._model import open_model


def open_reader(argument: str, options: ReaderOptions) -> Reader:
    """The model of `<base-url>#<model>`.

    Raises:
        OdqaError: the argument is not of that form.
    """
    return open_model(f"http:{argument}", options)

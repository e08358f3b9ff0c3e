"""Compressors: a question and its documents to a summary."""

from __future__ import annotations

from odqa_fast.inference.open import open_engine
from odqa_fast.inference.options import EngineOptions
from odqa_fast.inference.prepared import Worker
from odqa_fast.inference.prompt import load_prompt
from odqa_fast.inference.prompted import PromptedWorker


def open_compressor(
    model: str, options: EngineOptions | None = None, *, prompt: str = "compress"
) -> Worker:
    """A model that summarizes.

    Args:
        model: see `open.open_engine`.
        options: how it runs.
        prompt: see `prompt.load_prompt`; of the kind `compress`.

    Raises:
        OdqaError: there is no such prompt or engine.
        ModelError, EngineError: the model cannot be opened.
    """
    loaded = load_prompt(prompt, "compress")
    return PromptedWorker(open_engine(model, options), loaded, "documents")

"""Compressors: a question and its documents to a summary."""

from __future__ import annotations

from odqa_fast.engines.open import open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.prepared import Worker
from odqa_fast.engines.prompt import load_prompt
from odqa_fast.engines.prompted import PromptedWorker


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

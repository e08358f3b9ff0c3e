"""Readers: a question and a context to an answer, written, or taken out of the context."""

from __future__ import annotations

from odqa_fast.engines.card import load_card
from odqa_fast.engines.extractive import ExtractiveReader
from odqa_fast.engines.open import is_folder, model_folder, open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.prepared import Worker
from odqa_fast.engines.prompt import load_prompt
from odqa_fast.engines.prompted import PromptedWorker


def open_reader(
    model: str,
    options: EngineOptions | None = None,
    *,
    prompt: str = "answer",
    closed_prompt: str = "answer-closed",
) -> Worker:
    """A model that answers.

    Args:
        model: see `open.open_engine`; a model for question-answering makes an extractive reader,
            which has no prompt.
        options: how it runs.
        prompt: see `prompt.load_prompt`; of the kind `answer`.
        closed_prompt: for rows without a context; of the kind `answer-closed`.

    Raises:
        OdqaError: there is no such prompt or engine.
        ModelError, EngineError: the model cannot be opened.
    """
    if is_folder(model):
        folder = model_folder(model)
        if load_card(folder, verify=False).task == "question-answering":
            return ExtractiveReader(folder, options)
    asked = load_prompt(prompt, "answer")
    closed = load_prompt(closed_prompt, "answer-closed")
    return PromptedWorker(open_engine(model, options), asked, "context", closed)

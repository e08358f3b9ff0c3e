"""Readers: every module here without an underscore is one, under its own name.

It holds `open_reader(argument, options)`; see `components`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from odqa_fast.engines.base import Reader
from odqa_fast.engines.opening import open_engine, open_own_reader
from odqa_fast.engines.prompts import load_prompt
from odqa_fast.plugins import Plugins
from odqa_fast.steps.components import ComponentOptions, open_component
from odqa_fast.steps.prompted import PromptedReader

#: Those that are no model; every engine is a reader as well.
READERS = Plugins("reader", __name__, "odqa_fast.readers")


@dataclass(frozen=True, kw_only=True)
class ReaderOptions(ComponentOptions):
    """What a reader may be told beside its questions.

    Attributes:
        predictions: the answers that the dump itself has, by the question's id.
        closed_prompt: for a model, as `prompt`, where there is no context.
    """

    predictions: Mapping[str, str | None] = field(default_factory=dict)
    closed_prompt: str = "answer-closed"


def open_reader(asked: str, options: ReaderOptions | None = None) -> Reader:
    """The reader of a name, e.g. `given` or `onnx:FOLDER`.

    Raises:
        OdqaError, ModelError, EngineError: see `components.open_component`.
    """
    given = options or ReaderOptions()

    def open_model() -> Reader:
        own = open_own_reader(asked, given.engine)
        if own is not None:
            return own
        prompt = load_prompt(given.prompt or "answer", "answer")
        closed = load_prompt(given.closed_prompt, "answer-closed")
        return PromptedReader(open_engine(asked, given.engine), prompt, closed)

    return open_component(READERS, asked, given, open_model)

"""Readers: every module here without an underscore is one, under its own name.

A module holds `open_reader(argument, options)`; what stands behind a colon (`onnx:FOLDER`) is the
argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.steps import plugins as modules


@dataclass(frozen=True, slots=True)
class Asked:
    """One question about one compressed text, and all that a reader may know of it.

    `id` and `level` name it; they are for readers that look answers up.
    """

    id: str
    level: float
    question: str
    context: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What a reader answered.

    Attributes:
        text: the answer; None where there is none.
        seconds: what answering took, without what the compressor took.
        error: why there is none, for a person to read.
        chars_left_out: how much of the compressed text did not fit into the reader.
    """

    text: str | None
    seconds: float | None = None
    error: str = ""
    chars_left_out: int = 0


class Reader(Protocol):
    """Answers questions from a text.

    Attributes:
        id: as it was asked for.
        signature: all that could make it another answer.
    """

    id: str

    @property
    def signature(self) -> str:
        """See above."""

    def read(self, asked: Sequence[Asked]) -> Iterator[tuple[int, Answered]]:
        """Each question's position and its answer, once each, in the order they get done."""


@dataclass(frozen=True)
class ReaderOptions:
    """What a reader may be told beside its questions.

    Attributes:
        predictions: the answers that the dump itself has, by the question's id.
        prompt: for a model, the name or the path of its prompt; None for its own.
        engine: for a model, how it runs or is asked.
        replies: for a model, what opens the file of its kept replies; None keeps none.
    """

    predictions: Mapping[str, str | None] = field(default_factory=dict)
    prompt: str | None = None
    engine: EngineOptions = field(default_factory=EngineOptions)
    replies: Callable[[], ReplyStore] | None = None


def readers() -> list[str]:
    """The names of the readers there are."""
    return modules.names(__path__)


def open_reader(asked: str, options: ReaderOptions | None = None) -> Reader:
    """The reader of a name, e.g. `given` or `onnx:FOLDER`.

    Raises:
        OdqaError: there is none of that name, or it takes no prompt or no
            options of an engine and is given some.
    """
    options = options or ReaderOptions()
    module, argument = modules.find(
        __name__, readers(), "reader", asked, options.prompt, options.engine
    )
    reader: Reader = module.open_reader(argument, options)
    return reader

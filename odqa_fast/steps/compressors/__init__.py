"""Compressors: every module here without an underscore is one, under its own name.

A module holds `open_compressor(argument, options)`; what stands behind a colon (`onnx:FOLDER`) is
the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.errors import OdqaError
from odqa_fast.profiles import DEFAULT_PROFILE, PROFILES, Profile
from odqa_fast.steps import plugins as modules
from odqa_fast.texts.length import Length


@dataclass(frozen=True, slots=True)
class Task:
    """One text to compress, and all that a compressor may know of it.

    Attributes:
        documents: the text's documents.
        questions: what will be asked; none where that may not be seen.
        answers: those to each question, for a compressor that `sees_answers`; else none.
        level: the largest ratio of compressed to original.
        length: how lengths are counted.
    """

    documents: tuple[str, ...]
    questions: tuple[str, ...]
    level: float
    length: Length
    answers: tuple[tuple[str, ...], ...] = ()

    @property
    def budget(self) -> int:
        """The longest that the compressed text may be; what stands between documents is not
        counted, so that the ratio is kept by either count."""
        return self.length.budget(sum(map(self.length.count, self.documents)), self.level)


@dataclass(frozen=True, slots=True)
class Compressed:
    """What a compressor made of one text.

    Attributes:
        text: the compressed text; None where there is none.
        seconds: what compressing took.
        error: why there is none, for a person to read.
    """

    text: str | None
    seconds: float = 0.0
    error: str = ""


class Compressor(Protocol):
    """Makes texts shorter.

    Attributes:
        id: as it was asked for.
        signature: all that could make it another text.
        sees_answers: whether its tasks hold the answers; only an upper bound may.
    """

    id: str
    sees_answers: bool

    @property
    def signature(self) -> str:
        """See above."""

    def compress(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Compressed]]:
        """Each task's position and what became of it, once each, in the order they get done."""


@dataclass(frozen=True)
class CompressorOptions:
    """What a compressor may be told beside its tasks.

    Attributes:
        seed: for those that draw.
        profile: whose rules say what an answer is.
        prompt: for a model, the name or the path of its prompt; None for its own.
        engine: for a model, how it runs or is asked.
        replies: for a model, what opens the file of its kept replies; None keeps none.
    """

    seed: int = 0
    profile: Profile = PROFILES[DEFAULT_PROFILE]
    prompt: str | None = None
    engine: EngineOptions = field(default_factory=EngineOptions)
    replies: Callable[[], ReplyStore] | None = None


def compressors() -> list[str]:
    """The names of the compressors there are."""
    return modules.names(__path__)


def open_compressor(asked: str, options: CompressorOptions | None = None) -> Compressor:
    """The compressor of a name, e.g. `bm25` or `onnx:FOLDER`.

    Raises:
        OdqaError: there is none of that name, or it takes no prompt or no
            options of an engine and is given some.
    """
    options = options or CompressorOptions()
    module, argument = modules.find(
        __name__, compressors(), "compressor", asked, options.prompt, options.engine
    )
    compressor: Compressor = module.open_compressor(argument, options)
    return compressor


def no_argument(name: str, argument: str) -> None:
    """Refuses what stands behind the colon.

    Raises:
        OdqaError: something does.
    """
    if argument:
        raise OdqaError(f"the compressor {name!r} takes nothing behind a colon.")

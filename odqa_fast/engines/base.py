"""What models are to the rest: engines, readers, compressors and encoders, one protocol each.

All but encoders take requests and give replies. A request to an engine is a prompt; a reader and a
compressor say themselves what their requests are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from odqa_fast.engines.context import Context
from odqa_fast.errors import OdqaError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: What a component is asked: by default a question, or a text to compress.
A = TypeVar("A", contravariant=True)


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt.

    Attributes:
        user: the user's turn, with everything filled in.
        system: the system's turn; none where empty.
        prefill: how the reply has to begin; not repeated in the reply's text.
        stop: texts that end a reply; not part of it.
        max_new_tokens: the longest reply.
        prompt: the signature of the template it was made of, if of any.
        schema: a JSON schema, as text, that the reply should follow; engines that cannot hold a
            reply to it leave it out.
        thought_tokens: room for a thought before the reply, as far as the model has it.
    """

    user: str
    system: str = ""
    prefill: str = ""
    stop: tuple[str, ...] = ()
    max_new_tokens: int = 32
    prompt: str = ""
    schema: str = ""
    thought_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request.

    Attributes:
        text: the reply without its stop text and without the thought before it; empty where
            `finish` is `error`.
        finish: `stop` at an end token or a stop text, `length` at `max_new_tokens` or inside a
            thought, `error` where there is no reply.
        tokens_in: tokens of the prompt; 0 where nobody counts them.
        tokens_out: tokens of the reply; 0 where nobody counts them.
        seconds: what generating took; no rendering, tokenizing or waiting. In a batch, this
            request's share of it.
        error: why there is no reply, for a person to read; what stands before the first colon is
            the kind, to count by.
        tokenize_seconds: what the chat template and the tokenizer took.
        queue_seconds: from then on, until generating began.
        attempts: how often the request was sent to get it.
        cached: it was kept from an earlier time: nothing ran now.
        thought: what the model thought before it replied.
    """

    text: str
    finish: Literal["stop", "length", "error"]
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    error: str = ""
    tokenize_seconds: float = 0.0
    queue_seconds: float = 0.0
    attempts: int = 1
    cached: bool = False
    thought: str = ""

    @property
    def result(self) -> str | None:
        """The text; None where there is none."""
        return None if self.finish == "error" else self.text


class Engine(Protocol):
    """Runs prompts.

    Attributes:
        id: as it was asked for: `onnx:<model>`, `http:<base-url>#<model>`.
        signature: all that could make it another text: model and its hash, where it ran, sampling.
            As opened, replies can be kept under it; once some came, it says how they were made,
            without what an endpoint turned out not to take.
        facts: where and how it runs, for the summary of a run.
        max_input_tokens: the longest prompt; None where nobody can say.
    """

    id: str
    max_input_tokens: int | None

    @property
    def signature(self) -> str:
        """See above."""

    @property
    def facts(self) -> Mapping[str, object]:
        """See above."""

    def count_tokens(self, request: Request) -> int | None:
        """The tokens of a whole prompt, as the model sees it; None where nobody can say."""

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, once each, in the order in which they get done.

        Raises:
            EngineError: nothing more can come (no device, no access); a single request that fails
                is a Reply with an `error`.
        """

    def close(self) -> None:
        """Lets go of the model or the connections."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request of a reader or a compressor, made and cut to what it can take.

    Attributes:
        request: equal requests have equal replies.
        seconds: what filling the template took.
        documents_left_out: whole texts that did not fit.
        chars_left_out: code points that did not fit, of texts as they stand in the prompt; those
            of whole texts included.
    """

    request: Hashable
    seconds: float = 0.0
    documents_left_out: int = 0
    chars_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """One question, and all that a reader may know of it.

    Attributes:
        question: empty where there is none.
        context: what is read.
        id: of the question, for readers that look answers up.
        level: to which the context was compressed, likewise; None where that is not known.
    """

    question: str
    context: Context
    id: str = ""
    level: float | None = None


class Length(Protocol):
    """How long a text is, in some unit; see `odqa_fast.texts.length`."""

    @property
    def tag(self) -> str:
        """Names the unit in signatures."""

    def count(self, text: str, /) -> int:
        """The length of a text."""

    def budget(self, original: int, level: float) -> int:
        """The longest that a text of a length may become to pass at a level."""


@dataclass(frozen=True, slots=True)
class Task:
    """One text to compress, and all that a compressor may know of it.

    Attributes:
        documents: the text's documents.
        questions: what will be asked; none where that may not be seen.
        level: the largest ratio of compressed to original; None where that is the compressor's.
        length: how lengths are counted; None where there is no level.
        answers: those to each question, for a compressor that `sees_answers`; else none.
        titles: of the documents, where there is no level.
    """

    documents: tuple[str, ...]
    questions: tuple[str, ...]
    level: float | None = None
    length: Length | None = None
    answers: tuple[tuple[str, ...], ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """The level.

        Raises:
            OdqaError: there is none.
        """
        return self._to_level()[0]

    @property
    def count(self) -> Callable[[str], int]:
        """How long a text is.

        Raises:
            OdqaError: there is no level.
        """
        return self._to_level()[1].count

    @property
    def budget(self) -> int:
        """The longest that the compressed text may be; what stands between documents is not
        counted, so that the ratio is kept by either count.

        Raises:
            OdqaError: there is no level.
        """
        level, length = self._to_level()
        return length.budget(sum(map(length.count, self.documents)), level)

    def _to_level(self) -> tuple[float, Length]:
        if self.level is None or self.length is None:
            raise OdqaError("this compressor needs a level, e.g. 0.2.")
        return self.level, self.length


class Component(Protocol[A]):
    """What a reader and a compressor have in common.

    Attributes:
        id: as it was asked for.
        signature: all that could make it another text.
        facts: where and how it runs, for the summary of a run.
        needs_question: whether nothing can be asked without a question.
    """

    id: str
    needs_question: bool

    @property
    def signature(self) -> str:
        """See above."""

    @property
    def facts(self) -> Mapping[str, object]:
        """See above."""

    def prepare(self, asked: A) -> Prepared:
        """The request that this comes to."""

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, once each, in the order in which they get done.

        Raises:
            EngineError: nothing more can come.
        """

    def close(self) -> None:
        """Lets go of the model."""


class Reader(Component[Query], Protocol):
    """Answers questions from a context."""


class Compressor(Component[Task], Protocol):
    """Makes texts shorter.

    Attributes:
        sees_answers: whether its tasks hold the answers; only an upper bound may.
    """

    sees_answers: bool


def ask(component: Component[A], asked: Sequence[A]) -> Iterator[tuple[int, Prepared, Reply]]:
    """The position of each thing asked, its request and the reply, in the order they get done."""
    prepared = [component.prepare(each) for each in asked]
    for at, reply in component.run([each.request for each in prepared]):
        yield at, prepared[at], reply


class Encoder(Protocol):
    """Turns texts into token vectors.

    Attributes:
        signature: the model, its layer, its numbers' type, where it runs.
        dimension: of a token's vector.
        layer: after which the vectors are taken.
        max_tokens: of a text, special ones included; the rest is cut.
        special_ids: of the tokens that start and end a text.
    """

    signature: str
    dimension: int
    layer: int
    max_tokens: int
    special_ids: frozenset[int]

    def tokenize(self, texts: Sequence[str]) -> tuple[list[npt.NDArray[np.int64]], list[bool]]:
        """The token ids of each text with the special ones, and whether the text was cut."""

    def embed(self, ids: Sequence[npt.NDArray[np.int64]], vectors: npt.NDArray[np.float32]) -> None:
        """Writes the vectors of all tokens, text after text, each of length 1.

        Raises:
            EngineError: a vector is not a number.
        """

"""What runs a prompt: requests in, replies out, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


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


class Engine(Protocol):
    """Runs prompts.

    Attributes:
        id: as it was asked for: `onnx:<model>`, `http:<base-url>#<model>`.
        signature: all that could make it another text: model and its hash, where it ran, sampling.
            As opened, replies can be kept under it; once some came, it says how they were made,
            without what an endpoint turned out not to take.
        max_input_tokens: the longest prompt; None where nobody can say.
    """

    id: str
    max_input_tokens: int | None

    @property
    def signature(self) -> str:
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

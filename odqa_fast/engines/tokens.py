"""Requests as the tokens a model sees, and its tokens as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.base import Request
from odqa_fast.engines.card import ModelCard
from odqa_fast.engines.thoughts import is_mark, opens
from odqa_fast.engines.token_count import read_tokenizer
from odqa_fast.errors import EngineError, OdqaError

if TYPE_CHECKING:
    from odqa_fast.engines.chat_template import ChatTemplate

Ids = npt.NDArray[np.int64]
Thinking = Literal["on", "off"]


class Codec:
    """The tokenizer and the chat template of a model.

    Args:
        card: of the model.
        thinking: whether the template lets the model think first; None leaves it to the template.

    Raises:
        EngineError: a library is not installed.
        ModelError: the tokenizer or the template is none.
        OdqaError: the template does not know of thinking.
    """

    def __init__(self, card: ModelCard, thinking: Thinking | None = None) -> None:
        self._tokenizer = load_tokenizer(card)
        self._add_special_tokens = card.add_special_tokens
        self._special: re.Pattern[str] | None = None
        self._system = card.prompt.system or ""
        self._template = make_chat_template(card, thinking)
        marks = self._tokenizer.get_added_tokens_decoder()
        special = {number: mark.content for number, mark in marks.items() if mark.special}
        #: A thought's marks are text, also where the tokenizer calls them special.
        self._thought_marks = {number: each for number, each in special.items() if is_mark(each)}
        if self._template is not None and special:
            contents = sorted(special.values(), key=len, reverse=True)
            self._special = re.compile("|".join(map(re.escape, contents)))

    def text(self, request: Request) -> str:
        """The whole prompt as text.

        Raises:
            ModelError: the chat template refuses it.
        """
        system = request.system or self._system
        if self._template is None:
            parts = [system, request.user] if system else [request.user]
            return "\n\n".join(parts)
        prompt = self._template.render(self._as_data(system), self._as_data(request.user))
        return prompt + request.prefill

    @cached_property
    def opens_thought(self) -> bool:
        """Whether a prompt ends inside a thought, for the chat template opens one."""
        return self._template is not None and opens(self.text(Request("?")))

    def _as_data(self, text: str) -> str:
        """A turn that cannot end itself: what would be read as a mark of the template is broken."""
        if self._special is None:
            return text
        return self._special.sub(lambda mark: mark[0][0] + " " + mark[0][1:], text)

    def encode(self, request: Request) -> Ids:
        """The whole prompt as tokens."""
        return self.ids(self.text(request), special=self._add_special_tokens)

    def ids(self, text: str, *, special: bool = False) -> Ids:
        """A text as tokens."""
        encoding = self._tokenizer.encode(text, add_special_tokens=special)
        return np.array(encoding.ids, np.int64)

    def decode(self, ids: Sequence[int]) -> str:
        """Tokens as text, without the special ones but for a thought's marks."""
        text, begin = "", 0
        for at, token in enumerate(ids) if self._thought_marks else ():
            if token in self._thought_marks:
                text += self._plain(ids[begin:at]) + self._thought_marks[token]
                begin = at + 1
        return text + self._plain(ids[begin:])

    def _plain(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def stream(self) -> TextStream:
        """A text that grows by tokens."""
        return TextStream(self._tokenizer, self._thought_marks)


class TextStream:
    """The text of tokens that come one by one; a character stands in it once it is whole."""

    def __init__(self, tokenizer: Any, marks: Mapping[int, str]) -> None:
        from tokenizers.decoders import DecodeStream

        self._tokenizer = tokenizer
        self._marks = marks
        self._stream = DecodeStream(skip_special_tokens=True)

    def add(self, token: int) -> str:
        """What a token adds to the text."""
        if token in self._marks:
            return self._marks[token]
        return self._stream.step(self._tokenizer, token) or ""


def load_tokenizer(card: ModelCard) -> Any:
    """The model's tokenizer.

    Raises:
        EngineError, ModelError: as `read_tokenizer`.
    """
    tokenizer, _ = read_tokenizer(str(card.path(card.tokenizer)))
    return tokenizer


def make_chat_template(
    card: ModelCard, thinking: Thinking | None = None, *, where: str = ""
) -> ChatTemplate | None:
    """The model's chat template, if it has one.

    Args:
        card: of the model.
        thinking: see `Codec`.
        where: what errors call the model; its folder by default.

    Raises:
        EngineError: jinja2 is not installed.
        ModelError: it is no template.
        OdqaError: it does not know of thinking.
    """
    where = where or str(card.folder)
    source = card.prompt.chat_template
    if thinking is not None and "enable_thinking" not in (source or ""):
        raise OdqaError(
            "its chat template has no enable_thinking, which --thinking would set.", where=where
        )
    if source is None:
        return None
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise EngineError(
            "chat templates need the library jinja2.", hint="pip install 'odqa-fast[cpu]'"
        ) from None
    from odqa_fast.engines.chat_template import ChatTemplate

    given: dict[str, object] = {
        "bos_token": card.prompt.bos_token,
        "eos_token": card.prompt.eos_token,
    }
    if thinking is not None:
        given["enable_thinking"] = thinking == "on"
    return ChatTemplate(source, given, where)


def check_template(card: ModelCard, where: str = "") -> None:
    """See that a model's chat template, if it has one, makes prompts.

    Raises:
        EngineError, ModelError: see `make_chat_template` and `ChatTemplate.check`.
    """
    if (template := make_chat_template(card, where=where)) is not None:
        template.check()

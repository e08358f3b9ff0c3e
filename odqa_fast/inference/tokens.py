"""Requests as the tokens a model sees, and its tokens as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.inference.card import ModelCard
from odqa_fast.inference.engine import Request
from odqa_fast.inference.templates import Template
from odqa_fast.inference.token_count import read_tokenizer

Ids = npt.NDArray[np.int64]


class Codec:
    """The tokenizer and the chat template of a model."""

    def __init__(self, card: ModelCard) -> None:
        self._tokenizer = load_tokenizer(card)
        self._add_special_tokens = card.add_special_tokens
        self._template = None
        self._special: re.Pattern[str] | None = None
        self._given = {"bos_token": card.prompt.bos_token, "eos_token": card.prompt.eos_token}
        self._system = card.prompt.system or ""
        if card.prompt.chat_template is not None:
            self._template = Template(card.prompt.chat_template, str(card.folder))
            marks = self._tokenizer.get_added_tokens_decoder().values()
            contents = sorted((m.content for m in marks if m.special), key=len, reverse=True)
            self._special = re.compile("|".join(map(re.escape, contents))) if contents else None

    def text(self, request: Request) -> str:
        """The whole prompt as text.

        Raises:
            ModelError: the chat template refuses it.
        """
        system = request.system or self._system
        if self._template is None:
            parts = [system, request.user] if system else [request.user]
            return "\n\n".join(parts)
        messages = [{"role": "system", "content": self._as_data(system)}] if system else []
        messages.append({"role": "user", "content": self._as_data(request.user)})
        prompt = self._template.render(messages=messages, add_generation_prompt=True, **self._given)
        return prompt + request.prefill

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
        """Tokens as text, without the special ones."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def stream(self) -> TextStream:
        """A text that grows by tokens."""
        return TextStream(self._tokenizer)


class TextStream:
    """The text of tokens that come one by one; a character stands in it once it is whole."""

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers.decoders import DecodeStream

        self._tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)

    def add(self, token: int) -> str:
        """What a token adds to the text."""
        return self._stream.step(self._tokenizer, token) or ""


def load_tokenizer(card: ModelCard) -> Any:
    """The model's tokenizer.

    Raises:
        EngineError, ModelError: as `read_tokenizer`.
    """
    tokenizer, _ = read_tokenizer(str(card.path(card.tokenizer)))
    return tokenizer

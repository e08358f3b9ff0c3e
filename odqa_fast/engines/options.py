"""`EngineOptions`: how a model runs or is asked, declared once for every engine and command."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from odqa_fast.errors import OdqaError

#: Fields of a request that say what is asked, each with what sets it here.
_OWN_FIELDS = {
    "model": "the model's name",
    "messages": "the prompt",
    "stream": "this program, which reads replies whole",
    "n": "this program, for which a prompt has one reply",
    "stop": "the prompt",
    "response_format": "the prompt",
    "max_tokens": "the prompt's max_new_tokens",
    "max_completion_tokens": "the prompt's max_new_tokens",
    "temperature": "--temperature",
    "top_p": "--top-p",
    "seed": "--seed",
}
#: The field whose values vLLM, SGLang and llama.cpp hand to the chat template.
_TEMPLATE = "chat_template_kwargs"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How a model runs or is asked. An engine honours an option or refuses it by its name.

    Args:
        device: of a model folder, where it runs; see `session.open_runtime`.
        threads: of a model folder, on the CPU; all processors where None.
        timing: `batch` runs prompts together and shares what they have in common; `each` runs one
            by one, every prompt whole, so that a reply's seconds are what it takes by itself.
        rows: of a model folder, prompts at once under `batch`; by device where None.
        temperature: at 0 the likeliest token is taken; None leaves it to an endpoint.
        top_p: only the likeliest tokens that together have this probability can be drawn; None is
            1 for a model folder and leaves it to an endpoint.
        seed: of the draws; there are none at temperature 0. None is 0 for a model folder and leaves
            it to an endpoint.
        thinking: whether a model thinks before it replies, as its chat template's
            `enable_thinking` says; None leaves it to the template.
        key_env: of an endpoint, the environment variable that holds its key, and then has to;
            `http.DEFAULT_KEY_ENV`, where it is set, by default. No other place is looked at, and no
            other service's key is ever sent.
        timeout_seconds: of an endpoint, the longest one try may take.
        retries: of an endpoint, how often a try that failed is repeated.
        concurrency: of an endpoint, how many requests are under way at most under `batch`.
        request_fields: of an endpoint, further fields of every request, as JSON values.

    Raises:
        OdqaError: a value is out of range, or two options exclude each other.
    """

    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int | None = None
    timing: Literal["batch", "each"] = "batch"
    rows: int | None = None
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    thinking: Literal["on", "off"] | None = None
    key_env: str | None = None
    timeout_seconds: float = 300.0
    retries: int = 5
    concurrency: int = 8
    request_fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, holds, said in self._checks():
            if not holds:
                raise OdqaError(f"{flag(name)} has to be {said}, not {getattr(self, name)}.")
        for name in ("rows", "concurrency"):
            if self.timing == "each" and name in self.given():
                raise OdqaError(
                    f"{flag(name)} goes with --timing batch: each is one prompt at a time."
                )
        for name, value in self.request_fields.items():
            if name in _OWN_FIELDS:
                raise OdqaError(
                    f"--request-field sets no {name!r}.", hint=f"It is set by {_OWN_FIELDS[name]}."
                )
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError, RecursionError):
                raise OdqaError(f"--request-field {name}: its value is no JSON.") from None
        if self.thinking and not isinstance(self.request_fields.get(_TEMPLATE, {}), dict):
            raise OdqaError(
                f"--request-field {_TEMPLATE} has to be an object to go with --thinking."
            )

    def _checks(self) -> Iterator[tuple[str, bool, str]]:
        """Each option with a range, whether it holds, and the range in words."""
        yield "temperature", _in(self.temperature, 0, math.inf), "0 or more"
        yield "top_p", _in(self.top_p, 0, 1) and self.top_p != 0, "above 0 and at most 1"
        yield "threads", _in(self.threads, 1, math.inf), "1 or more"
        yield "rows", _in(self.rows, 1, math.inf), "1 or more"
        yield "timeout_seconds", _in(self.timeout_seconds, 0.001, math.inf), "0.001 or more"
        yield "retries", _in(self.retries, 0, math.inf), "0 or more"
        yield "concurrency", _in(self.concurrency, 1, math.inf), "1 or more"

    @property
    def draws(self) -> bool:
        """Whether tokens may be drawn."""
        return self.temperature != 0

    def given(self) -> list[str]:
        """The options that are not as they are by default; a seed of no draws is not counted."""
        names = [each.name for each in fields(self) if each.name != "seed" or self.draws]
        return [name for name in names if getattr(self, name) != getattr(_DEFAULT, name)]

    def require(self, honoured: Collection[str], by: str) -> None:
        """Refuses options that something has no use for.

        Args:
            honoured: the names of those it has.
            by: what it is, for the message.

        Raises:
            OdqaError: another option is given.
        """
        for name in self.given():
            if name not in honoured:
                raise OdqaError(f"{flag(name)} is no option of {by}.")

    def only(self, honoured: Collection[str]) -> EngineOptions:
        """These options where they are honoured, and else the defaults."""
        kept = {name: getattr(self, name) for name in self.given() if name in honoured}
        return replace(_DEFAULT, **kept)

    def divided(self, parts: Iterable[tuple[str, Collection[str]]]) -> list[EngineOptions]:
        """The options of a run that has several engines: each gets those that it honours.

        Args:
            parts: of each, its name and the names of the options that it honours.

        Raises:
            OdqaError: an option is given that none of them honours.
        """
        names, honoured = zip(*parts, strict=True)
        self.require(frozenset().union(*honoured), " or ".join(names))
        return [self.only(each) for each in honoured]


def flag(name: str) -> str:
    """How an option is called on the command line."""
    short = {"timeout_seconds": "timeout", "request_fields": "request-field"}
    return f"--{short.get(name, name).replace('_', '-')}"


def _in(value: float | None, low: float, high: float) -> bool:
    return value is None or low <= value <= high


_DEFAULT = EngineOptions()

"""`EngineOptions`: how a model runs or is asked, declared once for every engine and command."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from odqa_fast.errors import OdqaError
from odqa_fast.option import Option, Options, flag

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
_ENDPOINT = "Of an endpoint: "


def _as_temperature(text: str) -> float | None:
    """Below 0 it is left to an endpoint: a command line has no way to write None."""
    try:
        value = float(text)
    except ValueError:
        raise OdqaError(f"--temperature has to be a number, not {text!r}.") from None
    return None if value < 0 else value


@dataclass(frozen=True, kw_only=True)
class EngineOptions(Options):
    """How a model runs or is asked. An engine honours an option or refuses it by its name.

    Raises:
        OdqaError: a value is out of range, or two options exclude each other.
    """

    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        Option("Where models run; auto is cuda where it works, else cpu, and says so."),
    ] = "auto"
    threads: Annotated[
        int | None,
        Option(
            "Of a model folder, on the CPU; by default $ODQA_FAST_THREADS, or all processors.",
            low=1,
        ),
    ] = None
    timing: Annotated[
        Literal["batch", "each"],
        Option(
            "each: one by one, so that seconds are those of a row by itself; "
            "batch: together, so that they are a row's share, and named amortized."
        ),
    ] = "batch"
    rows: Annotated[
        int | None,
        Option(
            "Of a model folder: prompts that generate together; halved if too many; by device.",
            low=1,
        ),
    ] = None
    temperature: Annotated[
        float | None,
        Option(
            "0 takes the likeliest token; below 0 (in Python None) it is left to the endpoint.",
            low=0,
            read=_as_temperature,
            metavar="NUMBER",
        ),
    ] = 0.0
    top_p: Annotated[
        float | None,
        Option(
            "Draw from the likeliest tokens that together have this probability; by default 1 for "
            "a model folder, and left to an endpoint.",
            above=0,
            high=1,
        ),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "Of the draws; at temperature 0 there are none. By default 0 for a model folder, and "
            "left to an endpoint.",
            low=0,
        ),
    ] = None
    thinking: Annotated[
        Literal["on", "off"] | None,
        Option("Whether the model thinks first; its chat template's own way."),
    ] = None
    key_env: Annotated[
        str | None,
        Option(
            f"{_ENDPOINT}the environment variable that holds its key; ODQA_FAST_API_KEY, "
            "where it is set, by default. No other key is ever sent."
        ),
    ] = None
    concurrency: Annotated[
        int, Option(f"{_ENDPOINT}requests under way at a time, with batch.", low=1)
    ] = 8
    timeout_seconds: Annotated[
        float,
        Option(
            f"{_ENDPOINT}seconds a request may take.", flag="timeout", unit="seconds", low=0.001
        ),
    ] = 300.0
    retries: Annotated[int, Option(f"{_ENDPOINT}tries after one that failed.", low=0)] = 5
    request_fields: Annotated[
        Mapping[str, Any],
        Option(
            f"{_ENDPOINT}NAME=VALUE, one more field of every request, e.g. "
            "reasoning_effort=low; repeatable.",
            flag="request-field",
            pair=("NAME=VALUE", "reasoning_effort=low"),
            as_json=True,
        ),
    ] = field(default_factory=dict)

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        given = (
            self.part(EngineOptions).given() if type(self) is not EngineOptions else self.given()
        )
        for name in ("rows", "concurrency"):
            if self.timing == "each" and name in given:
                raise OdqaError(
                    f"{flag(EngineOptions, name)} goes with --timing batch: each is one prompt at "
                    "a time."
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

    @property
    def draws(self) -> bool:
        """Whether tokens may be drawn."""
        return self.temperature != 0

    def given(self) -> list[str]:
        """The options that are not as they are by default; a seed of no draws is not counted."""
        return [name for name in super().given() if name != "seed" or self.draws]

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
                raise OdqaError(f"{flag(EngineOptions, name)} is no option of {by}.")

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


_DEFAULT = EngineOptions()

"""Chat templates: jinja2 programs that make a prompt of turns, as transformers renders them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any

import jinja2
from jinja2.ext import Extension
from jinja2.nodes import Scope

from odqa_fast.engines.template_bounds import (
    BoundedEnvironment,
    OutOfBoundsError,
    bound_text,
    bound_time,
)
from odqa_fast.errors import ModelError

#: The day that templates are told, so that a prompt is the same tomorrow. It is what Llama 3's own
#: template takes where it is told none.
TODAY = datetime(2024, 7, 26)

_PROBE_SYSTEM, _PROBE_USER = "Be brief.", "Which river is it?"


class ChatTemplate:
    """A template that may only make text, within bounds, in a sandbox that can change nothing.

    Args:
        source: the template.
        given: what it is told beside the turns.
        where: of what model it is, for errors.

    Raises:
        ModelError: it is no template.
    """

    def __init__(self, source: str, given: Mapping[str, Any], where: str) -> None:
        self._given = {"tools": None, "documents": None, **given}
        self._where = where
        environment = BoundedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols", _Generation],
        )
        environment.add_filters({"tojson": _as_json})
        environment.globals |= {"raise_exception": _refuse, "strftime_now": TODAY.strftime}
        with self._explained("cannot be read"):
            self._template = environment.from_string(source)

    def check(self) -> None:
        """See that it makes prompts, with and without a system turn.

        Raises:
            ModelError: it does not, or leaves out what the user says.
        """
        for system in ("", _PROBE_SYSTEM):
            prompt = self.render(system, _PROBE_USER)
            for turn, text in (("user", _PROBE_USER), ("system", system)):
                if text not in prompt:
                    raise ModelError(
                        f"the chat template leaves out the {turn} turn.", where=self._where
                    )

    def render(self, system: str, user: str) -> str:
        """The prompt of two turns, up to where the model's begins.

        Where a template cannot do both turns, the user's begins with what the system's would say.

        Raises:
            ModelError: the template refuses the prompt.
        """
        if system and not self._knows_system:
            system, user = "", f"{system}\n\n{user}"
        return self._rendered(system, user)

    @cached_property
    def _knows_system(self) -> bool:
        try:
            prompt = self._rendered(_PROBE_SYSTEM, _PROBE_USER)
        except ModelError:
            return False
        return _PROBE_SYSTEM in prompt and _PROBE_USER in prompt

    def _rendered(self, system: str, user: str) -> str:
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": user})
        with self._explained("refuses the prompt"):
            return bound_text(
                self._template.generate(messages=turns, add_generation_prompt=True, **self._given)
            )

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Bounds the time, and tells whatever a program of somebody else's may raise."""
        try:
            with bound_time():
                yield
        except Exception as error:
            known = isinstance(error, (jinja2.TemplateError, OutOfBoundsError))
            said = str(error) if known else f"{type(error).__name__}: {error}"
            line = " ".join(said.split())
            raise ModelError(f"the chat template {what}: {line}.", where=self._where) from None


class _Generation(Extension):
    """`{% generation %}`: marks what a model is to learn; here its text stands as it is."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> Scope:
        """See `jinja2.ext.Extension`."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return Scope(body, lineno=line)


def _as_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # jinja2's own escapes for HTML.
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)

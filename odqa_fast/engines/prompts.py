r"""Prompt templates: TOML files with an id, a version and places to fill.

A template is one of ours or of an installed package, by name (`odqa_fast/prompts/NAME.toml`), or a
user's, by path:

    id = "answer"
    version = 1
    system = ""
    user = "{context} ... {question}"
    document = "[{rank}] {title}: {text}"
    prefill = ""
    stop = ["\n"]
    max_new_tokens = 32

Only `user` is required beside `id` and `version`. `{name}` is a place to fill; `KINDS` says which
there are and which there have to be. Other braces are text, in pairs; only a reply that is begun by
`prefill` may leave one open. What is filled in is never looked at again, so no question can add a
place of its own. `document` is how one of several documents stands where they are filled in.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odqa_fast.engines.base import Request
from odqa_fast.engines.context import PLACE, fill_places
from odqa_fast.errors import OdqaError
from odqa_fast.plugins import Plugins

#: Templates by name; see `Plugins.load_path` for what an entry point names.
PROMPTS = Plugins(
    "prompt",
    "odqa_fast.prompts",
    "odqa_fast.prompts",
    files=".toml",
    listing="Your own is a path that ends in .toml.",
)


@dataclass(frozen=True)
class Kind:
    """The places of a prompt: those without which it could not say what is asked, and others."""

    must: tuple[str, ...]
    may: tuple[str, ...] = ()


#: What prompts are for.
KINDS: Mapping[str, Kind] = {
    "answer": Kind(("question",), ("context",)),
    "answer-closed": Kind(("question",)),
    "compress": Kind(("documents",), ("question",)),
    "compress-level": Kind(("documents",), ("question", "words")),
    "questions": Kind(("text",), ("count",)),
}
_DOCUMENT = Kind((), ("rank", "title", "text"))

_KEYS: dict[str, type] = {
    "id": str,
    "version": int,
    "system": str,
    "user": str,
    "document": str,
    "prefill": str,
    "stop": list,
    "max_new_tokens": int,
}


@dataclass(frozen=True)
class Prompt:
    """A template; `signature` names it exactly, e.g. `answer/1@3f2a91c0`."""

    id: str
    version: int
    user: str
    signature: str
    system: str = ""
    document: str = ""
    prefill: str = ""
    stop: tuple[str, ...] = ()
    max_new_tokens: int = 32

    @property
    def places(self) -> frozenset[str]:
        """The names of the places to fill."""
        return frozenset(PLACE.findall(self.system + self.user + self.prefill))

    def fill(self, **values: str) -> Request:
        """The prompt with every place filled; a value without a place is left out."""
        return Request(
            user=fill_places(self.user, values),
            system=fill_places(self.system, values),
            prefill=fill_places(self.prefill, values),
            stop=self.stop,
            max_new_tokens=self.max_new_tokens,
            prompt=self.signature,
        )


def fence(**texts: str) -> dict[str, str]:
    """Texts between marks of their own, which none of them can close.

    A mark bears a number made of its text, and another one until it stands in none of the texts. So
    no text can hold the mark that ends it or another one, and prompts that begin with the same text
    begin with the same words, which endpoints answer sooner.

    Returns:
        Each text as `<name-number>`, the text, `</name-number>`, on lines of their own.
    """

    def mark(name: str, text: str) -> str:
        number = _digest(text.encode())
        while any(number in each for each in texts.values()):
            number += _digest(number.encode())
        return f"<{name}-{number}>\n{text}\n</{name}-{number}>"

    return {name: mark(name, text) for name, text in texts.items()}


def load_prompt(name: str, kind: str | Kind) -> Prompt:
    """A template by its name or its path.

    Args:
        name: one of ours, or a path that ends in `.toml`.
        kind: what it will be filled with; by its name, if it is one of `KINDS`.

    Raises:
        OdqaError: there is no such template, or it is not as the module's text says.
    """
    path = Path(name) if name.endswith(".toml") else PROMPTS.load_path(name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OdqaError(f"cannot read the prompt: {error.strerror}.", where=name) from None
    return parse_prompt(data, KINDS[kind] if isinstance(kind, str) else kind, name)


def parse_prompt(data: bytes, kind: Kind, where: str) -> Prompt:
    """A template of the bytes of its file.

    Args:
        data: TOML; its hash stands in the signature.
        kind: what it will be filled with.
        where: the file, for messages.

    Raises:
        OdqaError: it is not as the module's text says.
    """
    try:
        return _parsed(data, kind)
    except RecursionError:
        raise OdqaError("is no prompt: it is nested too deeply.", where=where) from None
    except (OdqaError, ValueError) as error:
        raise OdqaError(f"is no prompt: {error}", where=where) from None


def _parsed(data: bytes, kind: Kind) -> Prompt:
    read: dict[str, Any] = tomllib.loads(data.decode())
    for key, value in read.items():
        if key not in _KEYS:
            raise OdqaError(f"{key!r} is no key of it.", hint=f"Keys: {', '.join(_KEYS)}.")
        if type(value) is not _KEYS[key]:
            raise OdqaError(f"{key!r} has to be of type {_KEYS[key].__name__}.")
    for key in ("id", "version", "user"):
        if key not in read:
            raise OdqaError(f"{key!r} is missing.")
    stop = read.pop("stop", [])
    if not all(isinstance(text, str) and text for text in stop):
        raise OdqaError("'stop' has to be a list of texts that are not empty.")
    if read.get("max_new_tokens", 1) < 1:
        raise OdqaError("'max_new_tokens' has to be 1 or more.")
    signature = f"{read['id']}/{read['version']}@{_digest(data)}"
    prompt = Prompt(stop=tuple(stop), signature=signature, **read)
    for key in ("system", "user", "document"):
        _check_braces(key, getattr(prompt, key))
    _check_places(prompt.places, kind)
    _check_places(PLACE.findall(prompt.document), _DOCUMENT)
    return prompt


def _check_braces(key: str, text: str) -> None:
    opened: list[int] = []
    for at, char in enumerate(text):
        if char == "{":
            opened.append(at)
        elif char == "}":
            if not opened:
                raise _unpaired(key, text[max(0, at - 20) : at + 1])
            opened.pop()
    if opened:
        raise _unpaired(key, text[opened[-1] : opened[-1] + 20])


def _unpaired(key: str, where: str) -> OdqaError:
    return OdqaError(
        f"a brace of {key!r} has no partner: {where!r}.", hint="A place is written {question}."
    )


def _check_places(found: Iterable[str], kind: Kind) -> None:
    known = sorted({*kind.must, *kind.may})
    hint = f"Places here: {', '.join(known)}."
    for place in sorted(set(found) - set(known)):
        raise OdqaError(f"nothing is filled in for {{{place}}}.", hint=hint)
    for place in sorted(set(kind.must) - set(found)):
        raise OdqaError(f"there is no place {{{place}}}, and it needs one.", hint=hint)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]

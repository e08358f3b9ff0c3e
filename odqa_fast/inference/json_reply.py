"""JSON in what a model wrote: bare, in a code fence, amid talk, with single quotes, cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

#: A reasoning model's thoughts, which may weigh every verdict there is.
_THOUGHTS = re.compile(r"^.*</think>", re.DOTALL)

_decoder = json.JSONDecoder(strict=False)


def spoken(reply: str) -> str:
    """A reply without the thoughts before it."""
    return _THOUGHTS.sub("", reply).strip()


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, outermost ones, in order; other text is passed over.

    Single quotes around names and values pass for double ones where the object is none otherwise.
    What stands inside an object that is none is not looked at, for it may be a quotation.
    """
    at = text.find("{")
    while at >= 0:
        found, end = _object_at(text, at)
        if found is not None:
            yield found
        at = text.find("{", end)


def is_cut_off(text: str) -> bool:
    """Whether the text ends inside a JSON object."""
    at = text.find("{")
    return at >= 0 and _end_of(text, at, '"') is None and _end_of(text, at, "'\"") is None


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins there, if it is one, and where it ends."""
    try:
        found, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        end = _end_of(text, at, "'\"") or len(text)
        found = _single_quoted(text[at:end])
    return (found if isinstance(found, dict) else None), end


def _single_quoted(text: str) -> Any:
    """An object written with single quotes, or with a comma too many."""
    parts: list[str] = []
    for piece in re.findall(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^'"]+""", text, re.DOTALL):
        if piece.startswith("'"):
            inner = piece[1:-1].replace("\\'", "'")
            piece = f'"{re.sub(_BARE_QUOTE, chr(92) + chr(34), inner)}"'
        elif not piece.startswith('"'):
            piece = re.sub(r",(\s*[}\]])", r"\1", piece)
        parts.append(piece)
    try:
        return _decoder.decode("".join(parts))
    except (ValueError, RecursionError):
        return None


#: A double quote that no backslash stands before.
_BARE_QUOTE = r'(?<!\\)"'


def _end_of(text: str, at: int, quotes: str) -> int | None:
    """Where the braces that open at `at` are closed, quoted ones apart; None where they are not."""
    depth, quote = 0, ""
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in quotes:
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return at + 1
        at += 1
    return None

"""JSON in what a model wrote: bare, in a code fence, amid talk, cut off, or a little damaged.

A damage is mended where its meaning is certain: single or typographic quotes, a comma too many, a
comma that lacks at the end of a line, comments, an object written as a JSON string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class JsonObject(dict[str, Any]):
    """An object as it was written: a name may stand in it more than once.

    Attributes:
        span: where it stands in its text.
    """

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs
        self.span = (0, 0)

    def values_of(self, name: str) -> list[Any]:
        """All values of a name, whatever its case."""
        return [value for key, value in self._pairs if key.strip().lower() == name]


_decoder = json.JSONDecoder(strict=False, object_pairs_hook=JsonObject)

#: What ends a text that a character begins.
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“"}


def find_objects(text: str) -> Iterator[JsonObject]:
    """The JSON objects in a text, outermost ones, in order; other text is passed over.

    What stands inside an object that is none is not looked at, for it may be a quotation.
    """
    at = text.find("{")
    while at >= 0:
        found, end = _object_at(text, at)
        if found is not None:
            found.span = (at, end)
            yield found
        at = text.find("{", end)


def unquote(text: str) -> str:
    """What a JSON string holds, where the text is one; else the text."""
    try:
        inner = _decoder.decode(text.strip()) if text.lstrip().startswith('"') else None
    except ValueError:
        inner = None
    return inner if isinstance(inner, str) else text


def leave_out(text: str, objects: Sequence[JsonObject]) -> str:
    """What stands around some objects of a text."""
    return " ".join(_between(text, objects))


def _between(text: str, objects: Sequence[JsonObject]) -> list[str]:
    """What stands before the first object, between two, and behind the last one."""
    borders = [0, *(at for each in objects for at in each.span), len(text)]
    return [text[lo:hi] for lo, hi in zip(borders[::2], borders[1::2], strict=True)]


#: A line that says that what stands behind it is the verdict.
_LEAD = re.compile(
    r"[\W_]*(?:sure\W+)?(?:here(?:'s|’s| is)\b[^.?!]*"
    r"|(?:(?:my|the|final|overall)\s+)*"
    r"(?:verdict|winner|grade|evaluation|assessment|judge?ment|json|(?<=final )answer)(?:\s+is)?)"
    r"\s*:[\W_]*",
    re.IGNORECASE,
)
_LONGEST_LEAD = 200
_FENCE = re.compile(r"```\w*")
_WORD = re.compile(r"\w")
_LETTER = re.compile(r"[^\W\d_]")


def find_standing_alone(text: str, objects: Sequence[JsonObject]) -> list[JsonObject]:
    """Those objects in a text that no sentence quotes.

    Such an object has its lines for itself and others, but for a lead (`Here is my verdict:`)
    before it and other sentences behind it.
    """
    between = [_FENCE.sub("", each) for each in _between(text, objects)]
    ends_well = _ends_of_lines(between)
    alone = []
    start, has_words = "", False
    for at, each in enumerate(objects):
        _, new_line, last = between[at].rpartition("\n")
        if new_line:
            start, has_words = "", False
        start = (start + last)[: _LONGEST_LEAD + 1]
        has_words = has_words or _WORD.search(last) is not None
        is_lead = len(start) <= _LONGEST_LEAD and _LEAD.fullmatch(start) is not None
        is_quoted = start.lstrip().startswith(">") or (has_words and not is_lead)
        if ends_well[at] and not is_quoted:
            alone.append(each)
    return alone


def _ends_of_lines(between: Sequence[str]) -> list[bool]:
    """Of each object, whether a line that goes on behind it does so with another sentence."""
    found = []
    goes_on = False
    for piece in reversed(between[1:]):
        rest, new_line, _ = piece.partition("\n")
        letter = _LETTER.search(rest)
        if letter is not None:
            goes_on = letter[0].islower()
        elif new_line:
            goes_on = False
        found.append(not goes_on)
    return found[::-1]


def is_cut_off(text: str) -> bool:
    """Whether the text ends inside a JSON object."""
    at = text.find("{")
    return at >= 0 and _end_of(text, at, '"') is None and _end_of(text, at, _QUOTES) is None


def _object_at(text: str, at: int) -> tuple[JsonObject | None, int]:
    """The object that begins there, if it is one, and where it ends."""
    try:
        found, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        end = _end_of(text, at, _QUOTES) or len(text)
        found = _mended(text[at:end])
    return (found if isinstance(found, JsonObject) else None), end


_PIECE = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|“[^”]*”|„[^“]*“)
    |[^'"“„/]+|.""",
    re.DOTALL | re.VERBOSE,
)


#: A longer object is no verdict and no list of claims.
_LONGEST_MENDED = 1 << 14


def _mended(text: str) -> Any:
    """An object with one of the damages that the module names, or several."""
    if len(text) > _LONGEST_MENDED:
        return None
    # Texts at the odd places, what stands between them at the even ones.
    parts = [""]
    for piece in _PIECE.finditer(text):
        if piece["text"]:
            parts += [_double_quoted(piece["text"]), ""]
        elif not piece["comment"]:
            parts[-1] += piece[0]
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r",(\s*[}\]])", r"\1", parts[at])
        is_before_name = at + 2 < len(parts) and parts[at + 2].lstrip().startswith(":")
        value = parts[at].rstrip() or (parts[at - 1] if at else "")
        if is_before_name and "\n" in parts[at] and value and value[-1] not in "{[,:":
            parts[at] = f",{parts[at]}" if not parts[at].strip() else f"{parts[at]},"
    try:
        return _decoder.decode("".join(parts))
    except (ValueError, RecursionError):
        return None


#: A double quote that no backslash stands before.
_BARE_QUOTE = r'(?<!\\)"'


def _double_quoted(text: str) -> str:
    if text.startswith('"'):
        return text
    inner = text[1:-1].replace("\\'", "'")
    return f'"{re.sub(_BARE_QUOTE, chr(92) + chr(34), inner)}"'


def _end_of(text: str, at: int, quotes: Iterable[str]) -> int | None:
    """Where the braces that open at `at` are closed, quoted ones apart; None where they are not."""
    depth, closer = 0, ""
    while at < len(text):
        char = text[at]
        if closer:
            if char == "\\":
                at += 1
            elif char == closer:
                closer = ""
        elif char in quotes:
            closer = _QUOTES[char]
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return at + 1
        at += 1
    return None

"""What a regular expression can cost, told before it is compiled or matched.

All numbers are upper bounds, and as good as infinite for what is not understood. They hold for the
syntax of `re` and of `regex` alike.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<plain> [^\\()\[|*+?{]+ (?![*+?{]) )
  | (?P<repeat> (?: [*+?] | \{ (?=[\d,]) (?P<least>\d*) (?P<range>,?) (?P<most>\d*) \} ) [?+]? )
  | (?P<open> \( (?: \?: | \?P<\w+> | (?!\?) ) )
  | (?P<close> \) )
  | (?P<bar> \| )
  | (?P<set> \[ \^? \]? (?: \\. | [^\]\\] )* (?: \] | \\? \Z ) )
  | (?P<reference> \\[1-9] )
  | (?P<escape> \\ (?: [pPN]\{[^{}]*\} | . ) )
  | (?P<strange> \(\? | \{ )
  | (?P<character> . )
    """,
    re.VERBOSE | re.DOTALL,
)

#: As good as infinite; sums and products of it stay numbers.
MANY = 1e18


class Bounds(NamedTuple):
    """What a pattern comes to in a text of a given length.

    `size` counts characters, sets and escapes, each as often as it has to stand at least. From one
    place on, there are at most so many `ways` to match it, and a matcher that tries them all takes
    so many `steps`.
    """

    size: float = 0.0
    steps: float = 0.0
    ways: float = 1.0

    def then(self, other: Bounds) -> Bounds:
        """Both, one after the other."""
        return Bounds(
            self.size + other.size,
            min(self.steps + self.ways * other.steps, MANY),
            min(self.ways * other.ways, MANY),
        )

    def beside(self, other: Bounds) -> Bounds:
        """One of both."""
        return Bounds(*(min(mine + others, MANY) for mine, others in zip(self, other, strict=True)))

    def times(self, least: float, most: float) -> Bounds:
        """From `least` to `most` times the same."""
        size = min(self.size * max(least, 1), MANY)
        if self.ways == 1:
            # One way for each number of times.
            return Bounds(size, min(self.steps * most + 1, MANY), max(most - least, 0) + 1)
        if most * math.log2(self.ways) > 59:
            return Bounds(size, MANY, MANY)
        ways = (most + 1) * self.ways**most
        return Bounds(size, min(self.steps * ways + 1, MANY), min(ways, MANY))


_NOTHING = Bounds()
_ONE = Bounds(1.0, 1.0)
_UNKNOWN = Bounds(1.0, MANY, MANY)


class _Group:
    """A group that is open: the alternatives that have ended, and of the last one all but its last
    part."""

    def __init__(self) -> None:
        self.ended: Bounds | None = None
        self.before = self.last = _NOTHING

    def add(self, part: Bounds) -> None:
        if self.last is not _NOTHING:
            self.before = self.before.then(self.last)
        self.last = part

    def end_alternative(self) -> Bounds:
        whole = self.before.then(self.last)
        self.ended = whole if self.ended is None else self.ended.beside(whole)
        self.before = self.last = _NOTHING
        return self.ended


def bounds_of(pattern: str, length: int) -> Bounds:
    """The bounds of a pattern in texts of up to `length` characters, whether it compiles or not.

    Takes time and memory in proportion to the pattern.
    """
    groups = [_Group()]
    for token in _TOKEN.finditer(pattern):
        kind, group = token.lastgroup, groups[-1]
        if kind == "plain" or kind == "set":
            n = token.end() - token.start()
            group.add(Bounds(n, n if kind == "plain" else 1.0))
        elif token["repeat"] is not None:
            least, most = _times(token)
            group.last = group.last.times(least, min(most, max(least, length + 1)))
        elif kind == "open":
            groups.append(_Group())
        elif kind == "close":
            if len(groups) > 1:
                groups.pop()
                groups[-1].add(group.end_alternative())
        elif kind == "bar":
            group.end_alternative()
        elif kind == "strange":
            group.add(_UNKNOWN)
            if token[0] == "(?":
                groups.append(_Group())
        elif kind == "reference":
            group.add(Bounds(1.0, length))
        else:
            group.add(_ONE)
    while len(groups) > 1:
        inner = groups.pop().end_alternative()
        groups[-1].add(inner)
    return groups[0].end_alternative()


def _times(repeat: re.Match[str]) -> tuple[float, float]:
    sign = repeat["repeat"][0]
    if sign != "{":
        return (1.0 if sign == "+" else 0.0), (1.0 if sign == "?" else MANY)
    least = _number(repeat["least"], 0.0)
    return least, _number(repeat["most"], MANY) if repeat["range"] else least


def _number(digits: str, missing: float) -> float:
    return missing if not digits else float(digits) if len(digits) < 18 else MANY

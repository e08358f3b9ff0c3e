"""Regular expressions as gold answers: compiled within bounds, matched within a time limit.

DPR uses the library `regex`, the other reference scorers use `re`, and a pattern means what it
means to them. `re` has no time limit: it matches where a pattern is sure to be done in time, and
`regex` elsewhere, where a pattern that runs over its time is given up for the run, counted and
named. A pattern that does not compile, or is too large, matches nothing; it is counted, and the
first ones are named.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from odqa_fast.errors import EngineError
from odqa_fast.metrics._pattern_bounds import Bounds, bounds_of
from odqa_fast.metrics.spec import Tally

#: search: NFD of both sides, anywhere in the text (DPR). match: as they stand, from the start of
#: the text (the official NQ-open scorer). full, inside: the whole of, or anywhere in, the text as a
#: normalizer leaves it (FlashRAG).
How = Literal["search", "match", "full", "inside"]


_METHODS: dict[How, str] = {
    "search": "search", "match": "match", "full": "fullmatch", "inside": "search"
}  # fmt: skip

#: The size up to which a pattern is compiled. `regex` writes repeats out, at some 300 bytes and 10
#: microseconds for each character of the result: this is about 6 MB.
LARGEST_PATTERN = 20_000
#: The compiled patterns that are kept have no more than this in all.
_KEPT_SIZE = 500_000
#: So many steps take a matcher far less than a second.
_SURE_STEPS = 2_000_000
#: The lengths of texts for which a pattern is asked whether it can take more.
_SURE_LENGTHS = (1000, 200, 50)


def regex_module() -> Any:
    """The `regex` library.

    Raises:
        EngineError: it is not installed.
    """
    try:
        import regex  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise EngineError(
            "answers as regular expressions need the library 'regex'.",
            hint="pip install 'odqa-fast[regex]'",
        ) from None
    return regex


@dataclass(slots=True)
class _Compiled:
    """A pattern that may be matched, or in `refused` why not.

    Texts of up to `longest` characters need no time limit: `quick` matches those, `timed` all.
    """

    longest: float = -1
    quick: Callable[[str], Any] | None = None
    timed: Callable[..., Any] | None = None
    refused: str = ""


class Patterns:
    """The compiled patterns of a run; threads may share it."""

    def __init__(self, how: How, limit_seconds: float) -> None:
        self._how = how
        self._method = _METHODS[how]
        self._limit = limit_seconds
        self._regex = regex_module()
        self._kept: dict[str, _Compiled] = {}
        self._kept_size = 0.0
        self._given_up: set[str] = set()
        self._lock = threading.Lock()

    def find(self, pattern: str, text: str, counts: Tally) -> int | None:
        """Where the pattern first matches the text; None where it does not, is none, or has run
        over its time."""
        compiled = self._kept.get(pattern) or self._compile(pattern)
        if len(text) <= compiled.longest:
            assert compiled.quick is not None
            found = compiled.quick(text)
        else:
            found = self._find_in_time(pattern, compiled, text, counts)
        return None if found is None else int(found.start())

    def text(self, text: str) -> str:
        """The text as these patterns see it; `full` and `inside` take it normalized already."""
        return unicodedata.normalize("NFD", text) if self._how == "search" else text

    def _find_in_time(self, pattern: str, compiled: _Compiled, text: str, counts: Tally) -> Any:
        if compiled.timed is None and not compiled.refused:
            self._add_timed(compiled, _as_re(pattern))
        if compiled.refused:
            _name_refused(pattern, compiled.refused, counts)
            return None
        if pattern in self._given_up:
            return None
        assert compiled.timed is not None
        try:
            return compiled.timed(text, timeout=self._limit)
        except TimeoutError:
            self._give_up(pattern, counts)
            return None

    def _compile(self, pattern: str) -> _Compiled:
        if self._how == "search":
            pattern, given = unicodedata.normalize("NFD", pattern), pattern
        else:
            given = pattern
        if len(pattern) > LARGEST_PATTERN:
            # Not kept: it may be of any size.
            return _Compiled(refused=_LARGE)
        compiled = _Compiled()
        bounds = bounds_of(pattern, _SURE_LENGTHS[0])
        if bounds.size > LARGEST_PATTERN:
            compiled.refused = _LARGE
        elif self._how == "search":
            self._add_timed(compiled, pattern)
            compiled.quick = compiled.timed
        else:
            try:
                flags = re.IGNORECASE | (re.MULTILINE if self._how == "match" else 0)
                compiled.quick = getattr(re.compile(pattern, flags), self._method)
            except (re.error, RecursionError, OverflowError, ValueError):
                compiled.refused = _BAD
        if not compiled.refused:
            compiled.longest = self._longest_sure(pattern, bounds)
        self._keep(given, compiled, len(pattern) + bounds.size)
        return compiled

    def _longest_sure(self, pattern: str, bounds: Bounds) -> int:
        """The longest text that the pattern is sure to be done with in time, or -1; `bounds` are
        those for the first of the lengths."""
        for length in _SURE_LENGTHS:
            if length < _SURE_LENGTHS[0]:
                bounds = bounds_of(pattern, length)
            # A search begins at every place.
            starts = length + 1 if self._method == "search" else 1
            if bounds.steps * starts <= _SURE_STEPS * self._limit:
                return length
        return -1

    def _add_timed(self, compiled: _Compiled, pattern: str) -> None:
        flags = self._regex.IGNORECASE | self._regex.UNICODE
        if self._how in ("search", "match"):
            flags |= self._regex.MULTILINE
        try:
            found = self._regex.compile(pattern, flags, cache_pattern=False)
        except (self._regex.error, RecursionError, OverflowError, ValueError, KeyError):
            compiled.refused = _BAD
        else:
            compiled.timed = getattr(found, self._method)

    def _keep(self, pattern: str, compiled: _Compiled, size: float) -> None:
        with self._lock:
            if self._kept_size > _KEPT_SIZE:
                self._kept.clear()
                self._kept_size = 0
            self._kept[pattern] = compiled
            self._kept_size += size

    def _give_up(self, pattern: str, counts: Tally) -> None:
        with self._lock:
            if pattern in self._given_up:
                return
            self._given_up.add(pattern)
        counts["slow_patterns"] += 1
        counts.add_note(
            f"the pattern {_shown(pattern)} ran over its {self._limit:g} s and was given up; "
            "what it might have matched counts as no match."
        )


_BAD = "answers that are no regular expressions match nothing"
_LARGE = (
    f"answers whose regular expressions have over {LARGEST_PATTERN:,} characters, repeats written "
    "out, match nothing"
)
_COUNTS = {_BAD: "bad_patterns", _LARGE: "large_patterns"}


def _name_refused(pattern: str, why: str, counts: Tally) -> None:
    counts[_COUNTS[why]] += 1
    # The first of all rows are among the first of their range.
    counts.add_example(why, _shown(pattern))


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 60 else f"{pattern[:57]}...")


# The two libraries differ in which characters are words and white space: see the table of `re`'s
# classes in the Python documentation (str.isalnum, str.isspace). Equal over Unicode 14.
_WORD, _SPACE = r"\p{L}\p{N}_", r"\s\x1c-\x1f"
_OUTSIDE = {
    "w": f"[{_WORD}]",
    "W": f"[^{_WORD}]",
    "s": f"[{_SPACE}]",
    "S": f"[^{_SPACE}]",
    "b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    "B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
}
_INSIDE = {
    "w": _WORD,
    "s": _SPACE,
    # All categories but letters and numbers, and of connectors all but "_".
    "W": r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}"
    r"\u203f\u2040\u2054\ufe33\ufe34\ufe4d-\ufe4f\uff3f",
    # What lies between the 29 characters of str.isspace.
    "S": r"\x00-\x08\x0e-\x1b!-\x84\x86-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
    r"\u2030-\u205e\u2060-\u2fff\u3001-\U0010ffff",
}


def _as_re(pattern: str) -> str:
    """A pattern of `re` as one of `regex` that means the same."""
    out: list[str] = []
    at, set_start = 0, -1  # where the set that is open began
    while at < len(pattern):
        char = pattern[at]
        step = 2 if char == "\\" else 1
        piece = pattern[at : at + step]
        if step == 2:
            piece = (_OUTSIDE if set_start < 0 else _INSIDE).get(piece[1:], piece)
        elif set_start < 0 and char == "[":
            set_start = at
            step = 2 if pattern[at + 1 : at + 2] == "^" else 1
            # A bracket that closes nothing yet is a character.
            step += pattern[at + step : at + step + 1] == "]"
            piece = pattern[at : at + step]
        elif set_start >= 0 and char == "]":
            set_start = -1
        elif set_start >= 0 and char == "[":
            # To `re` a bracket in a set is a character, to `regex` it may open a POSIX class.
            piece = r"\["
        out.append(piece)
        at += step
    return "".join(out)

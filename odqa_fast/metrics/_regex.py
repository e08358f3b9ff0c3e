"""Gold answers that are regular expressions (CuratedTREC), through the `regex` library.

Their syntax is that library's own, so it does the matching. It also takes a time limit: a pattern
that runs over it is given up for the whole run, counted, and named. A pattern that does not compile
matches nothing; it is counted, and the first ones are named.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from odqa_fast.errors import EngineError
from odqa_fast.profiles import Profile
from odqa_fast.spec import EXAMPLE, NOTE, SHOWN_EXAMPLES, Resources, Work

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics._match import TextColumn
    from odqa_fast.spec import Outputs

#: search: NFD of both sides, anywhere in the text (DPR). match: as they stand, from the start of
#: the text (the official NQ-open scorer). full, inside: the whole of, or anywhere in, the text as a
#: normalizer leaves it (FlashRAG).
How = Literal["search", "match", "full", "inside"]

_METHODS: dict[How, str] = {
    "search": "search", "match": "match", "full": "fullmatch", "inside": "search"
}  # fmt: skip


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


class Patterns:
    """The compiled patterns of a run; threads may share it."""

    def __init__(self, how: How, limit_seconds: float) -> None:
        self._how = how
        self._limit = limit_seconds
        self._regex = regex_module()
        self._compiled: dict[str, Any] = {}
        self._given_up: set[str] = set()
        self._lock = threading.Lock()

    def find(self, pattern: str, text: str, counts: Counter[str]) -> int | None:
        """Where the pattern first matches the text; None where it does not, does not compile, or
        has run over its time."""
        if pattern not in self._compiled:
            self._compiled[pattern] = self._compile(pattern)
        compiled = self._compiled[pattern]
        if compiled is None:
            _name_bad(pattern, counts)
            return None
        if pattern in self._given_up:
            return None
        try:
            found = getattr(compiled, _METHODS[self._how])(text, timeout=self._limit)
        except TimeoutError:
            self._give_up(pattern, counts)
            return None
        return None if found is None else int(found.start())

    def text(self, text: str) -> str:
        """The text as these patterns see it; `full` and `inside` take it normalized already."""
        return unicodedata.normalize("NFD", text) if self._how == "search" else text

    def _compile(self, pattern: str) -> Any:
        flags = self._regex.IGNORECASE | self._regex.UNICODE
        if self._how in ("search", "match"):
            flags |= self._regex.MULTILINE
        try:
            if self._how == "search":
                pattern = unicodedata.normalize("NFD", pattern)
            else:
                # Those references use `re`, which has no time limit; a pattern it refuses is none.
                re.compile(pattern)
                pattern = _as_re(pattern)
            return self._regex.compile(pattern, flags)
        except (self._regex.error, re.error, RecursionError, OverflowError, ValueError):
            return None

    def _give_up(self, pattern: str, counts: Counter[str]) -> None:
        with self._lock:
            if pattern in self._given_up:
                return
            self._given_up.add(pattern)
        counts["slow_patterns"] += 1
        counts[
            f"{NOTE}the pattern {_shown(pattern)} ran over its {self._limit:g} s and was given up; "
            "what it might have matched counts as no match."
        ] += 1


_BAD = f"{EXAMPLE}answers that are no regular expressions match nothing\n"


def _name_bad(pattern: str, counts: Counter[str]) -> None:
    counts["bad_patterns"] += 1
    # The first of all rows are among the first of their range.
    if sum(name.startswith(_BAD) for name in counts) < SHOWN_EXAMPLES:
        counts[f"{_BAD}{_shown(pattern)}"] += 1


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
_INSIDE = {"w": _WORD, "s": _SPACE}


def _as_re(pattern: str) -> str:
    """A pattern of `re` as one of `regex` that means the same (but for W and S inside a set)."""
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


@dataclass(frozen=True)
class _Rules:
    how: How
    column: str
    normalizer: str
    no_gold: str


@dataclass(frozen=True)
class _Opened:
    """The rules of one pass, and its patterns, which go from range to range as they compile."""

    rules: _Rules
    patterns: Patterns


def _open(rules: _Rules, resources: Resources) -> _Opened:
    return _Opened(rules, Patterns(rules.how, resources.regex_seconds))


def regex_text_work(output: str, column: TextColumn, how: How, profile: Profile) -> Work:
    """The work for one text a row: 1 where a pattern matches it."""
    zero = column == "summary" or profile.no_gold == "zero"
    rules = _Rules(how, column, profile.normalizer, "zero" if zero else "null")
    return Work(_text_rows, (column, "answers"), rules, output, _open)


def regex_evidence_work(output: str) -> Work:
    """The work for the documents of a row, by DPR's rule; outputs as for `evidence_work`."""
    rules = _Rules("search", "documents", "", "zero")
    return Work(_evidence_rows, ("documents", "answers"), rules, output, _open)


def _golds(answers: list[str | None] | None, counts: Counter[str]) -> list[tuple[int, str]] | None:
    if answers is None:
        counts["null_answers"] += 1
        return None
    golds = [(at, gold) for at, gold in enumerate(answers) if gold is not None]
    counts["null_answer_items"] += len(answers) - len(golds)
    counts["empty_answers"] += not golds
    counts["empty_golds"] += sum(not gold for _, gold in golds)
    return golds


def _text_rows(
    opened: _Opened, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> dict[str, int]:
    counts: Counter[str] = Counter()
    rules = opened.rules
    (out,) = outputs.values()
    texts = [columns[rules.column].value(row) for row in range(lo, hi)]
    if rules.how in ("full", "inside"):
        texts = list(_normalized(texts, rules.normalizer))
    nulls = {"prediction": "null_predictions", "summary": "null_summaries"}[rules.column]
    for row, text in zip(range(lo, hi), texts, strict=True):
        counts[nulls] += text is None
        golds = _golds(columns["answers"].value(row), counts)
        if golds is None or (not golds and rules.no_gold == "null"):
            out[row] = np.nan
        elif text is None:
            out[row] = 0
        else:
            seen = opened.patterns.text(text)
            found = (opened.patterns.find(gold, seen, counts) for _, gold in golds)
            out[row] = any(at is not None for at in found)
    return dict(counts)


def _normalized(texts: Sequence[str | None], normalizer: str) -> Iterator[str | None]:
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column
    from odqa_fast._kernels.normalize import normalize

    array = pa.array(texts, pa.large_string())
    offsets, data = normalize(Column("texts", array), normalizer)
    edges = np.frombuffer(offsets, np.int64)
    for at, text in enumerate(texts):
        yield None if text is None else data[edges[at] : edges[at + 1]].decode()


def _evidence_rows(
    opened: _Opened, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> dict[str, int]:
    """Scores the rows [lo, hi) of `outputs`, as the kernel does for other ways to match."""
    counts: Counter[str] = Counter()
    places = {"document", "answer", "position"} & set(outputs)
    measures = [(name, *_measure(name)) for name in outputs if name not in places]
    depth = max((k for _, _, k in measures), default=np.inf)
    first_only = all(measure in ("hit", "mrr") for _, measure, _ in measures)
    for row in range(lo, hi):
        for place in places:
            outputs[place][row] = np.nan
        documents = columns["documents"].value(row)
        counts["null_documents"] += documents is None
        counts["no_documents"] += documents == []
        golds = _golds(columns["answers"].value(row), counts)
        if golds is None:
            for name, _, _ in measures:
                outputs[name][row] = np.nan
            continue
        ranks: list[int] = []
        for rank, text in enumerate(documents or (), 1):
            if rank > depth or (first_only and ranks):
                break
            counts["null_document_texts"] += text is None
            hit = None if text is None else _first(opened.patterns, golds, text, counts)
            if hit is None:
                continue
            if not ranks and places:
                outputs["document"][row] = rank - 1
                outputs["answer"][row], outputs["position"][row] = hit
            ranks.append(rank)
        for name, measure, k in measures:
            outputs[name][row] = _value(measure, k, ranks, len(documents or ()))
    return dict(counts)


def _first(
    patterns: Patterns, golds: list[tuple[int, str]], text: str, counts: Counter[str]
) -> tuple[int, int] | None:
    seen = patterns.text(text)
    for index, gold in golds:
        at = patterns.find(gold, seen, counts)
        if at is not None:
            return index, at
    return None


def _measure(name: str) -> tuple[str, float]:
    measure, _, k = name.partition("@")
    return measure, float(k or "inf")


def _value(measure: str, k: float, ranks: list[int], retrieved: int) -> float:
    """As `Ranking::value` in src/core/ranking.hpp."""
    if measure == "noise":
        return 1 - _value("share", k, ranks, retrieved)
    found = sum(rank <= k for rank in ranks)
    if measure == "share":
        return found / min(k, retrieved) if retrieved else float("nan")
    if found == 0:
        return 0.0
    return {"hit": 1.0, "mrr": 1 / ranks[0], "precision": found / k}[measure]

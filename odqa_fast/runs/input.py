"""What is to be known of how a run's inputs were read: counts, notes, tags of signatures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import quote

from odqa_fast.io.dump import Dump
from odqa_fast.io.memory import Data
from odqa_fast.io.names import name_notes

Source = Dump | Data

_SENTENCES = {
    "rows_not_chosen": "rows were not chosen by --where and are left out.",
    "rejected": "rows were rejected and are left out.",
    "replaced_encodings": "rows had bytes that are not UTF-8, replaced by U+FFFD.",
    "pointed_numbers": "rows hold whole numbers in a column of decimal ones, which are read with "
    "their point, as 1969.0: make it a column of text or of integers.",
    "lists_in_text": "rows hold a list as text, which was read as the list.",
    "numbers_in_brackets": "rows hold numbers in brackets as text, which stayed one text: a list "
    'is written with quotes, ["1", "2"].',
}


@dataclass(frozen=True)
class Read:
    """What is to be known of how inputs were read.

    Attributes:
        counts: the numbers of their `ReadCounts`, added up, but for bytes.
        notes: what a reader of the numbers might understand otherwise, one sentence each.
        tags: for signatures, what could have made it another number, where it did.
    """

    counts: dict[str, int]
    notes: list[str]
    tags: dict[str, object]

    @classmethod
    def of(cls, *sources: Source) -> Read:
        """Of one input, or of several that make up a run; once they have been read."""
        counts = _counts(sources)
        return cls(counts, list(_notes(counts, sources)), _tags(counts, sources))

    @property
    def oddities(self) -> dict[str, int]:
        """The counts of rows that are not simply read, where there are such."""
        return {name: n for name, n in self.counts.items() if n and name != "rows_read"}


def _counts(sources: Sequence[Source]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in sources:
        numbers = {name: n for name, n in vars(each.counts).items() if isinstance(n, int)}
        total.update({name: n for name, n in numbers.items() if name != "bytes_read"})
    return dict(total)


def _notes(counts: Mapping[str, int], sources: Sequence[Source]) -> Iterator[str]:
    for name, sentence in _SENTENCES.items():
        if n := counts.get(name, 0):
            yield f"{n} {sentence}"
    if layouts := sorted({name for each in sources for name in each.counts.layouts}):
        yield f"rows were read by the layout {' and '.join(map(repr, layouts))}."
    for each in sources:
        yield from each.runs.notes()
    for each in sources:
        file = shown(each) if isinstance(each, Dump) and len(sources) > 1 else ""
        notes = (name_notes(names, each.options, file) for names in each.layouts)
        yield from dict.fromkeys(chain.from_iterable(notes))


def _tags(counts: Mapping[str, int], sources: Sequence[Source]) -> dict[str, object]:
    tags: dict[str, object] = {"rejected": n} if (n := counts.get("rejected")) else {}
    where = {name: value for each in sources for name, value in each.options.where.items()}
    if where:
        pairs = (f"{quote(name)}={quote(value)}" for name, value in sorted(where.items()))
        tags["where"] = ",".join(pairs)
    return tags


def shown(dump: Dump) -> str:
    """What to call a dump: its first file, and how many more there are."""
    more = f" and {len(dump.paths) - 1} more" if len(dump.paths) > 1 else ""
    return f"{dump.paths[0]}{more}"

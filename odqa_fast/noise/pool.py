"""What can be injected: sentences, documents or answers, of the other rows or of a file.

A pool is the same whatever the order of the rows: equal texts stand in it once, under the least of
their sources, in the order of their digests. It may be larger than memory: see `sort_pieces`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, overload

from odqa_fast.io.kept import Kept
from odqa_fast.texts.draws import digest
from odqa_fast.texts.sentences import split_sentences
from odqa_fast.texts.text import Row, Text
from odqa_fast.texts.words import select_content, split_words

#: A shorter sentence is a heading, an initial or a remnant.
_SHORTEST_SENTENCE = 20
#: How a sentence ends that is not cut off, and what may still close behind it.
_ENDS, _CLOSES = ".!?…。！？", "\"')]}”’»」』"

#: The source of what comes from a file.
FILE = "pool"

#: Pieces are sorted part by part; a part holds those whose digests begin with one byte.
_N_PARTS = 256
#: Pieces wait for their parts in memory, up to so many bytes.
_MOST_BYTES = 32 << 20
#: What a piece takes beside its text.
_PIECE_BYTES = 300
#: Pieces that are written and read together.
_GROUP = 16


@dataclass(frozen=True, order=True, slots=True)
class Source:
    """Where something in a pool comes from: a row and a document of it, or a file and a line."""

    name: str
    index: int


class Found(NamedTuple):
    """Something to inject.

    Attributes:
        text: what is injected.
        source: name and index of its `Source`.
        row: a document, where it is one.
        kind: pieces of one kind are drawn from together.
    """

    text: str
    source: tuple[str, int]
    row: Row = {}  # noqa: RUF012  (read alone)
    kind: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pooled:
    """A piece of a pool: its text, where it comes from, and the document that it is, if any."""

    text: str
    source: Source
    row: Row = field(default_factory=dict)


class Pool(Sequence[Pooled]):
    """Pieces to inject, in the order of their digests; kept on disk.

    Args:
        found: the pieces as they are met; equal ones become one.
        folder: where there is room for them; see `odqa_fast.io.kept.Kept`.
    """

    def __init__(self, found: Iterable[Found], folder: Path | None = None) -> None:
        self._pieces = Kept(sort_pieces(found, folder), folder, group=_GROUP)

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, at: int) -> Pooled: ...
    @overload
    def __getitem__(self, at: slice) -> list[Pooled]: ...
    def __getitem__(self, at: int | slice) -> Pooled | list[Pooled]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        text, source, row, _ = self._pieces[at]
        return Pooled(text, Source(*source), row)

    def rare(self, asked: AbstractSet[str], share: float) -> frozenset[str]:
        """Those of the words that some of the pieces have, but at most a share of them (or one).

        Args:
            asked: content words.
            share: of the pieces; at 0 no word is rare.
        """
        if not share:
            return frozenset()
        most = max(1, int(share * len(self)))
        counts: Counter[str] = Counter()
        texts = (piece.text for piece in self._pieces)
        while some := list(islice(texts, 1024)):
            for tokens in split_words(some):
                counts.update(asked & select_content(tokens))
        return frozenset(word for word, n in counts.items() if n <= most)


def sort_pieces(found: Iterable[Found], folder: Path | None = None) -> Iterator[Found]:
    """Yields pieces in the order of their digests; of a kind, equal texts once, under their least
    source.

    They go to disk in parts by the first byte of their digests, and part by part through memory.
    """
    kept: Kept[list[Found]] = Kept(folder=folder)
    places = [array("q") for _ in range(_N_PARTS)]
    held: list[list[Found]] = [[] for _ in range(_N_PARTS)]
    size = 0
    for piece in found:
        held[digest(piece.text)[0]].append(piece)
        size += len(piece.text) + _PIECE_BYTES
        if size >= _MOST_BYTES:
            for part, pieces in enumerate(held):
                if pieces:
                    places[part].append(len(kept))
                    kept.append(pieces)
                    held[part] = []
            size = 0
    for part, pieces in enumerate(held):
        least: dict[tuple[tuple[str, ...], str], Found] = {}
        for piece in chain.from_iterable([*map(kept.__getitem__, places[part]), pieces]):
            key = piece.kind, piece.text
            if key not in least or piece.source < least[key].source:
                least[key] = piece
        held[part] = []
        yield from sorted(least.values(), key=lambda piece: digest(piece.text))


def pool_sentences(texts: Iterable[Text], folder: Path | None = None) -> Pool:
    """The whole sentences of all documents: passages are cut anywhere, and what is left of a
    sentence at their ends would give the noise away."""
    found = (
        Found(sentence, (text.id, at))
        for text in texts
        for at, document in enumerate(text.texts)
        for sentence in split_sentences(document)
        if _is_whole(sentence)
    )
    return Pool(found, folder)


def _is_whole(sentence: str) -> bool:
    return (
        len(sentence) >= _SHORTEST_SENTENCE
        and not sentence[0].islower()
        and sentence.rstrip(_CLOSES).endswith(tuple(_ENDS))
    )


def pool_documents(texts: Iterable[Text], folder: Path | None = None) -> Pool:
    """All documents that are not blank."""
    found = (
        Found(document["text"], (text.id, at), document)
        for text in texts
        for at, document in enumerate(text.documents)
        if document["text"].strip()
    )
    return Pool(found, folder)


def pool_lines(lines: Sequence[str], folder: Path | None = None) -> Pool:
    """The lines of a file that are not blank, each a piece."""
    found = (
        Found(line.strip(), (FILE, at), {"text": line.strip()})
        for at, line in enumerate(lines, 1)
        if line.strip()
    )
    return Pool(found, folder)

"""What was put into a text, piece by piece, and how to take it out again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from odqa_fast.errors import DataError
from odqa_fast.io.kept import Kept, KeptTable
from odqa_fast.noise.options import Kind
from odqa_fast.schema import DOCUMENT, SAMPLES
from odqa_fast.texts.sentences import split_sentences
from odqa_fast.texts.text import Row, Text


@dataclass(frozen=True, slots=True)
class Piece:
    """One injected piece.

    Attributes:
        kind: what sort of noise it is.
        document: in which of the noisy documents it stands, from 0.
        start: where it begins there, in code points.
        end: where it ends. With the space that was put around it.
        source: the id of the row it was taken from, or `pool`.
        source_index: which of that row's documents, from 0; of a pool, the line.
        replaced: what stood in its place: a document, of which for a part only the `text` is
            given; None where nothing did.
    """

    kind: Kind
    document: int
    start: int
    end: int
    source: str
    source_index: int
    replaced: Row | None = None


@dataclass(frozen=True, slots=True)
class Noised:
    """A text with its noise.

    Attributes:
        text: the noisy text.
        pieces: what was put into it.
        evidence: sentences of its own that hold an answer and still stand in it.
        unplaced: pieces that were asked for and did not find a place.
    """

    text: Text
    pieces: tuple[Piece, ...]
    evidence: tuple[str, ...] = ()
    unplaced: int = 0

    @property
    def injected(self) -> list[str]:
        """The texts of the pieces; of a document each sentence, for a compressor may keep some."""
        texts = self.text.texts
        injected = []
        for piece in self.pieces:
            text = texts[piece.document][piece.start : piece.end].strip()
            injected += split_sentences(text) if piece.kind == "documents" else [text]
        return injected

    @property
    def clean(self) -> Text:
        """The text without its noise, exactly as it was."""
        return self.text.with_documents(restore(self.text.documents, self.pieces))


def restore(documents: Sequence[Row], pieces: Sequence[Piece]) -> list[Row]:
    """The documents without the pieces, exactly as they were."""
    clean: list[Row | None] = list(documents)
    # From the back, so that what was put in further ahead stays where the manifest says.
    for piece in sorted(pieces, key=lambda piece: piece.start, reverse=True):
        document = clean[piece.document]
        if piece.kind == "documents" or document is None:
            clean[piece.document] = piece.replaced
            continue
        text = document["text"]
        before = "" if piece.replaced is None else piece.replaced["text"]
        clean[piece.document] = {
            **document,
            "text": text[: piece.start] + before + text[piece.end :],
        }
    return [document for document in clean if document is not None]


_PIECE = pa.struct(
    [
        pa.field("kind", pa.string()),
        pa.field("document", pa.int32()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("source", pa.string()),
        pa.field("source_index", pa.int64()),
        pa.field("replaced", DOCUMENT),
    ]
)
#: A manifest has a row for each noisy row, with its id.
MANIFEST = pa.schema(
    [
        SAMPLES.field("id"),
        SAMPLES.field("injected"),
        SAMPLES.field("evidence_sentences"),
        pa.field("pieces", pa.list_(_PIECE)),
    ]
)


def make_manifest_rows(noised: Noised) -> list[Row]:
    """The rows of a text in a manifest."""
    common = {
        "injected": noised.injected,
        "evidence_sentences": list(noised.evidence),
        "pieces": [asdict(piece) for piece in noised.pieces],
    }
    return [{"id": row["id"], **common} for row in noised.text.rows]


def join_manifest(
    texts: Sequence[Text], rows: Iterable[Row], where: str, folder: Path | None = None
) -> Sequence[Noised]:
    """Noisy texts with what their manifest says of them; kept on disk.

    Args:
        texts: as they were read.
        rows: the manifest's, in any order, or in that of the texts' rows.
        where: the manifest, for errors.
        folder: where there is room; see `odqa_fast.io.kept.Kept`.

    Raises:
        DataError: a text has no row in the manifest, or the manifest is of other texts.
    """
    known = KeptTable(((row.get("id"), row) for row in rows), folder)
    ids = (row["id"] for text in texts for row in text.rows)
    by_place = all(a == b for a, b in zip_longest(known, ids, fillvalue=known))
    if not by_place and next(known.repeats(), None):
        raise DataError(
            "ids stand twice, and the order is not that of the rows.",
            where=where,
            hint="Name the manifest that was written with these rows.",
        )
    found = _by_place(texts, known) if by_place else _by_id(texts, known, where)
    noised = (_noised(text, row, where) for text, row in zip(texts, found, strict=True))
    return Kept(noised, folder)


def _by_place(texts: Iterable[Text], known: KeptTable[Any, Row]) -> Iterator[Row]:
    """Of each text the first of its rows."""
    rows = known.rows()
    for text in texts:
        (_, row), *_ = islice(rows, len(text.rows))
        yield row


def _by_id(texts: Iterable[Text], known: KeptTable[Any, Row], where: str) -> Iterator[Row]:
    for text in texts:
        row = known.get(text.rows[0]["id"])
        if row is None:
            raise DataError(f"has no row {text.rows[0]['id']!r}.", where=where)
        yield row


def _noised(text: Text, row: Row, where: str) -> Noised:
    try:
        pieces = tuple(Piece(**piece) for piece in row["pieces"])
        evidence = tuple(row["evidence_sentences"])
        fits = all(
            0 <= piece.start <= piece.end <= len(text.texts[piece.document]) for piece in pieces
        )
    except (KeyError, TypeError, IndexError):
        fits = False
    if not fits:
        raise DataError(
            f"row {row.get('id')!r} does not say what was put into that text.",
            where=where,
            hint="Name the manifest that was written with these rows.",
        )
    return Noised(text, pieces, evidence)

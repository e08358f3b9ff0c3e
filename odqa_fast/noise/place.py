"""Putting chosen sentences and documents into a text."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from odqa_fast.noise.factual import compile_answers
from odqa_fast.noise.manifest import Noised, Piece
from odqa_fast.noise.pool import Pooled
from odqa_fast.texts.draws import Draws
from odqa_fast.texts.sentences import find_sentences
from odqa_fast.texts.text import Row, Text


def insert_sentences(text: Text, chosen: Sequence[Pooled], draws: Draws) -> Noised:
    """The text with each piece at a sentence border that was drawn for it."""
    borders = _borders(text)
    inserted: list[list[tuple[int, Pooled]]] = [[] for _ in text.documents]
    for piece in chosen:
        at, position = borders[draws.below(len(borders))]
        inserted[at].append((position, piece))
    pieces: list[Piece] = []
    documents: list[Row] = []
    for at, document in enumerate(text.documents):
        whole = document["text"]
        built: list[str] = []
        length = done = 0
        # Stable: of two pieces at one border the one drawn first stands first.
        for position, piece in sorted(inserted[at], key=lambda item: item[0]):
            before = whole[done:position]
            last = before or (built[-1] if built else "")
            opens = last[-1:] != "" and not last[-1].isspace()
            goes_on = whole[position : position + 1]
            closes = goes_on != "" and not goes_on.isspace()
            glued = " " * opens + piece.text + " " * closes
            start = length + len(before)
            source = piece.source
            pieces.append(
                Piece("sentences", at, start, start + len(glued), source.name, source.index)
            )
            built += [before, glued]
            length, done = start + len(glued), position
        documents.append({**document, "text": "".join([*built, whole[done:]])})
    return Noised(text.with_documents(documents), tuple(pieces))


def _borders(text: Text) -> list[tuple[int, int]]:
    """Where sentences begin and end, as (document, code point); not inside an answer."""
    pattern = compile_answers(text.answers)
    found = []
    for at, document in enumerate(text.texts):
        edges = {0, len(document)} | {end for _, end in find_sentences(document)}
        if pattern is not None:
            for match in pattern.finditer(document):
                edges.difference_update(range(match.start() + 1, match.end()))
        found += [(at, edge) for edge in sorted(edges)]
    return found


def insert_documents(
    text: Text, chosen: Sequence[Pooled], draws: Draws, top_k: int | None
) -> Noised:
    """The text with each document added at a rank that was drawn for it, of the first `top_k`."""
    documents: list[tuple[Row, Pooled | None]] = [(document, None) for document in text.documents]
    for piece in chosen:
        places = min(len(documents), len(documents) if top_k is None else top_k - 1) + 1
        documents.insert(draws.below(places), (_unranked(piece.row), piece))
    pieces = [
        _whole(at, document, piece)
        for at, (document, piece) in enumerate(documents)
        if piece is not None
    ]
    return Noised(text.with_documents([document for document, _ in documents]), tuple(pieces))


def swap_documents(text: Text, chosen: Sequence[Pooled], places: Sequence[int]) -> Noised:
    """The text with a document swapped in at each of the places."""
    documents = list(text.documents)
    pieces = []
    for at, piece in sorted(zip(places, chosen, strict=False), key=itemgetter(0)):
        swapped, documents[at] = documents[at], _unranked(piece.row)
        pieces.append(_whole(at, documents[at], piece, swapped))
    return Noised(text.with_documents(documents), tuple(pieces))


def _unranked(document: Row) -> Row:
    """A document without the score it had for another question: the list is the ranking."""
    return {**document, "score": None} if "score" in document else document


def _whole(at: int, document: Row, piece: Pooled, replaced: Row | None = None) -> Piece:
    source = piece.source
    end = len(document["text"])
    return Piece("documents", at, 0, end, source.name, source.index, replaced)

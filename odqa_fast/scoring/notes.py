"""What a reader of the numbers should know, one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from odqa_fast.io.names import candidates

_SENTENCES = {
    "joined_by_position": "rows were joined by their order, for neither side has ids.",
    "rejected": "rows were rejected and are in no score.",
    "replaced_encodings": "rows had bytes that are not UTF-8, replaced by U+FFFD.",
    "pointed_numbers": "rows hold whole numbers in a column of decimal ones, which are scored with "
    "their point, as 1969.0: make it a column of text or of integers.",
    "duplicate_ids": "rows repeat an id of an earlier row.",
    "null_document_texts": "documents have no text and hold no answer.",
    "documents_without_id": "documents have no id and are never relevant.",
    "unequal_relevance": "rows have another number of relevances than of relevant ids.",
    "longer_summaries": "summaries are longer than their documents.",
    "blank_summaries": "summaries are blank.",
    "pairs_truncated": "pairs of texts hold one that is longer than the encoder takes; it was cut.",
    "rows_unseen_by_rouge": "rows hold a text in which rouge finds no word, for it sees "
    "only a-z and 0-9; with the option unicode it reads any script.",
}


def notes_on(counts: Mapping[str, int], joined: Mapping[str, Any]) -> Iterator[str]:
    """Notes on the counts of a run, and on the ids without partner in a join."""
    if counts["rows"] == 0:
        yield "no row was scored."
    for side, at in (("predictions", 0), ("answers", 1)):
        if n := counts.get(f"unmatched_{side}", 0):
            first = ", ".join(map(repr, joined[f"first_unmatched_{side}"]))
            named = f"the first: {first}" if first else "they have none"
            zero = " and count 0" if at == 1 and joined["missing"] == "zero" else ""
            sides = joined["sides"]
            yield f"{n} {sides[at]} have no {sides[1 - at]} of their id{zero} ({named})."
    for name, sentence in _SENTENCES.items():
        if n := counts.get(name, 0):
            yield f"{n} {sentence}"
    for name, n in counts.items():
        if name.startswith("rows_without_"):
            yield f"{n} rows come from input without {name.removeprefix('rows_without_')!r}: null."


def ignored_names(
    columns: Iterable[str], found: Iterable[str], mapping: Mapping[str, str]
) -> Iterator[str]:
    """Notes on fields that could have been a column that another field is."""
    found = set(found)
    for column in sorted(columns):
        chosen, *others = [name for name in candidates(column, mapping) if name in found] or [""]
        if others:
            named = " and ".join(map(repr, others))
            yield f"{named} ignored: {chosen!r} is the column {column!r} (--map {column}=NAME)."

"""What a reader of the numbers should know, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from odqa_fast.schema import SAMPLES

_SENTENCES = {
    "joined_by_question": "rows were joined by the text of their question, not by ids.",
    "joined_by_position": "rows were joined by their order, not by ids.",
    "duplicate_ids": "rows repeat an id of an earlier row{first}.",
    "null_document_texts": "documents have no text and hold no answer.",
    "documents_without_id": "documents have no id and are never relevant.",
    "unequal_relevance": "rows have another number of relevances than of relevant ids.",
    "longer_summaries": "summaries are longer than their documents.",
    "blank_summaries": "summaries are blank.",
    "texts_truncated": "texts are longer than the encoder takes and were cut.",
    "texts_without_tokens": "texts hold no token but special ones, and bertscore counts them 0.",
    "rows_without_weight": "rows hold a text of which every token weighs 0 among the texts of "
    "--bertscore-idf; its precision or recall is null.",
    "rows_unseen_by_rouge": "rows hold a text in which rouge finds no word, for it sees "
    "only a-z and 0-9; with the option unicode it reads any script.",
}


def notes_on(
    counts: Mapping[str, int],
    joined: Mapping[str, Any] | None = None,
    files: Sequence[str] = (),
    repeated: Sequence[str] = (),
) -> Iterator[str]:
    """Notes on the counts of a run, and on a join.

    Args:
        counts: of the run.
        joined: `AnswerTable.counts`, where there is one.
        files: what to call the two files that are joined.
        repeated: the first ids that stand twice, where nothing is joined.
    """
    joined = joined or {}
    if counts["rows"] == 0:
        yield "no row was scored."
    for side, at in (("predictions", 0), ("answers", 1)):
        if n := counts.get(f"unmatched_{side}", 0):
            first = ", ".join(map(repr, joined[f"first_unmatched_{side}"]))
            named = f"the first: {first}" if first else "they have none"
            zero = " and count 0" if at == 1 and joined["missing"] == "zero" else ""
            sides = joined["sides"]
            key = joined["joined_by"] or "id"
            yield f"{n} {sides[at]} have no {sides[1 - at]} of their {key}{zero} ({named})."
    for column, n in joined.get("gave_way", {}).items():
        if n:
            yield (
                f"the {joined['sides'][0]}' own {column!r} of {files[0]} gave way to that of "
                f"{files[1]} ({n} rows differ)."
            )
    names = ", ".join(map(repr, joined.get("first_duplicate_ids", repeated)))
    first = f" (the first: {names})" if names else ""
    for name, sentence in _SENTENCES.items():
        if n := counts.get(name, 0):
            shown = first if name == "duplicate_ids" else ""
            yield f"{n} {sentence.format(first=shown)}"
    for column in SAMPLES.names:
        if n := counts.get(f"rows_without_{column}", 0):
            yield f"{n} rows come from input without {column!r}: null."

"""Texts with their questions, read from a dump of any format and written again.

A text is the documents of a row. Its questions stand in one row (`questions`, with `answers` that
have an entry for each), or one to a row, and then the rows of one text share a `text_id`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io import Data, Dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.names import naming_hint
from odqa_fast.io.reading import DumpOptions
from odqa_fast.schema import SAMPLES

#: What is left out has been made from other documents, or stands in a manifest.
READ = frozenset(SAMPLES.names) - {
    *("summary", "compressor_error", "compressor_finish"),
    *("injected", "evidence_sentences"),
}

#: Stands between the documents of a text.
BETWEEN = "\n\n"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a text.

    Attributes:
        id: the id of its row; of a row with several questions, that id, a slash and the number.
        text: the question; empty where there is none.
        answers: gold answers with aliases; None where they are not known.
        prediction: what the dump itself has as the answer given.
    """

    id: str
    text: str
    answers: list[str | None] | None
    prediction: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A text: what is compressed as one, and the unit of every mean and interval.

    Attributes:
        id: the `text_id`, or the id of the row.
        documents: canonical documents, each with at least `text`.
        questions: what is asked about it.
        rows: the rows it was read from, for writing it again.
    """

    id: str
    documents: tuple[Row, ...]
    questions: tuple[Question, ...]
    rows: tuple[Row, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The documents' texts."""
        return tuple(document["text"] for document in self.documents)

    @property
    def whole(self) -> str:
        """The documents as one text, a blank line between them."""
        return BETWEEN.join(self.texts)

    @property
    def answers(self) -> tuple[str, ...]:
        """Every answer to every question, once."""
        each = (answer for question in self.questions for answer in question.answers or ())
        return tuple(dict.fromkeys(answer for answer in each if answer is not None))

    def with_documents(self, documents: Sequence[Row]) -> Text:
        """The same questions about other documents."""
        return replace(self, documents=tuple(documents))


def read_texts(
    source: Dump | Data, needs: Sequence[Literal["documents", "answers"]] = ("documents", "answers")
) -> list[Text]:
    """The texts of a dump, in the order in which they first appear; held in memory.

    Args:
        source: with the columns of `READ`.
        needs: what some text has to have.

    Raises:
        DataError: a bad value; rows that share a `text_id` and differ in their documents.
        SchemaError: there are no documents, or no answers.
    """
    texts = texts_of(with_texts(source, [source]))
    _check_columns(texts, source, needs)
    return texts


def texts_in(data: object, mapping: Mapping[str, str] | None = None) -> list[Text]:
    """The texts of data in memory; see `odqa_fast.score` for what that may be."""
    return read_texts(Data(data, DumpOptions(mapping or {}).reading(READ)))


def texts_of(batches: Iterable[pa.RecordBatch]) -> list[Text]:
    """The texts of canonical batches."""
    rows = (row for batch in batches for row in batch.to_pylist())
    texts: dict[tuple[str, object], Text] = {}
    for number, row in enumerate(rows):
        if row.get("id") is None:
            row["id"] = str(number)
        shared = row.get("text_id")
        # An id that stands twice is two texts, a text_id that stands twice is one.
        key = ("shared", shared) if shared is not None else ("row", number)
        before = texts.get(key)
        texts[key] = _text(row) if before is None else _joined(before, row)
    return list(texts.values())


def _text(row: Row) -> Text:
    name = row.get("text_id")
    return Text(
        id=row["id"] if name is None else name,
        documents=tuple(_documents(row)),
        questions=tuple(_questions(row)),
        rows=(row,),
    )


def _joined(text: Text, row: Row) -> Text:
    documents = tuple(_documents(row))
    if documents and text.documents and documents != text.documents:
        raise DataError(
            f"rows {text.rows[0]['id']!r} and {row['id']!r} share the text_id {text.id!r}, but not "
            "their documents.",
            hint="Give each text an id of its own.",
        )
    return replace(
        text,
        documents=text.documents or documents,
        questions=(*text.questions, *_questions(row)),
        rows=(*text.rows, row),
    )


def _documents(row: Row) -> Iterable[Row]:
    for document in row.get("documents") or ():
        if document is not None:
            yield document if document.get("text") is not None else {**document, "text": ""}


def _questions(row: Row) -> Iterable[Question]:
    asked, answers = row.get("questions"), row.get("answers_by_question")
    if asked is None:
        flat = row.get("answers")
        if flat is None and answers is not None:
            # A row with one question among rows with several.
            flat = [answer for entry in answers for answer in entry or ()]
        yield Question(row["id"], row.get("question") or "", flat, row.get("prediction"))
        return
    if answers is not None and len(answers) != len(asked):
        raise DataError(
            f"row {row['id']!r} has {len(asked)} questions and answers to {len(answers)}.",
            hint="'answers' beside 'questions' has one entry for each of them.",
        )
    for at, question in enumerate(asked):
        yield Question(f"{row['id']}/{at}", question or "", answers[at] if answers else None)


def _check_columns(texts: Sequence[Text], source: Dump | Data, needs: Sequence[str]) -> None:
    if not texts:
        raise DataError("there are no rows.")
    have = {
        "documents": any(text.documents for text in texts),
        "answers": any(text.answers for text in texts),
    }
    for column in needs:
        if not have[column]:
            raise SchemaError(
                f"no row has {column}.",
                hint=naming_hint(column, source.found, source.options.mapping),
            )


def rows_of(text: Text) -> list[Row]:
    """The rows of a text with its documents as they are now."""
    rows = []
    for row in text.rows:
        written = {**row, "documents": list(text.documents)}
        if row.get("answers_by_question") is not None:
            # As it was read: beside `questions`, `answers` has an entry for each.
            written["answers"] = written.pop("answers_by_question")
        rows.append({name: value for name, value in written.items() if value is not None})
    return rows

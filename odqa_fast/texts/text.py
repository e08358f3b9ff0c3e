"""Texts with their questions, read from a dump of any format and written again.

A text is the documents of a row. Its questions stand in one row (`questions`, with `answers` that
have an entry for each), or one to a row, and then the rows of one text share a `text_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import numpy as np
import pyarrow as pa

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io import Data, Dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.kept import Kept
from odqa_fast.io.names import candidates, missing_column, naming_hint
from odqa_fast.io.options import PLACE, SOURCE
from odqa_fast.runs.reading import RowOptions
from odqa_fast.schema import SAMPLES
from odqa_fast.texts.draws import DIGEST_BYTES, digest

#: What is left out has been made from other documents, or stands in a manifest.
READ = frozenset(SAMPLES.names) - {
    *("summary", "compressor_error", "compressor_finish"),
    *("injected", "evidence_sentences"),
}

#: Stands between the documents of a text.
BETWEEN = "\n\n"

#: Rows of a batch that are made into objects together.
_ROWS_AT_ONCE = 256
#: A window is at its end after so many characters, however few its texts are.
_WINDOW_CHARS = 4 << 20

#: What needs a column, for errors.
_NEEDED_BY = {"documents": "a text", "answers": "a question"}

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a text.

    Attributes:
        id: the id of its row; of a row with several questions, that id, a slash and the number.
        text: the question; empty where there is none.
        answers: gold answers with aliases; None where they are not known.
        prediction: what the dump itself has as the answer given.
        source: number of the input that its row comes from; None where that is not known.
        place: of its row in there, as `ReadOptions.places` has it.
    """

    id: str
    text: str
    answers: list[str | None] | None
    prediction: str | None = None
    source: int | None = None
    place: int | None = None


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
    def n_chars(self) -> int:
        """How long the documents are together, in code points."""
        return sum(map(len, self.texts))

    @property
    def answers(self) -> tuple[str, ...]:
        """Every answer to every question, once."""
        each = (answer for question in self.questions for answer in question.answers or ())
        return tuple(dict.fromkeys(answer for answer in each if answer is not None))

    def with_documents(self, documents: Sequence[Row]) -> Text:
        """The same questions about other documents."""
        return replace(self, documents=tuple(documents))


def read_texts(
    source: Dump | Data,
    needs: Sequence[Literal["documents", "answers"]] = ("documents", "answers"),
    folder: Path | None = None,
) -> Texts:
    """The texts of a dump, in the order in which they first appear; kept on disk.

    Args:
        source: with the columns of `READ`.
        needs: what some text has to have.
        folder: where there is room for the rows; see `odqa_fast.io.kept.Kept`.

    Raises:
        DataError: a bad value; rows that share a `text_id` and differ in their documents.
        SchemaError: there are no documents, or no answers.
        OutputError: there is no room.
    """
    texts = Texts(with_texts(source, [source]), folder)
    _check_columns(texts, source, needs)
    return texts


def make_texts(data: object, mapping: Mapping[str, str] | None = None) -> list[Text]:
    """The texts of data in memory; see `odqa_fast.score` for what that may be."""
    return list(read_texts(Data(data, RowOptions(mapping=mapping or {}).reading(READ))))


class Texts(Sequence[Text]):
    """The texts of canonical batches, in the order in which they first appear.

    Their rows are kept on disk as they came, and of each some 30 bytes in memory: the rows of a
    text may stand anywhere.

    Args:
        batches: canonical batches.
        folder: where there is room for the rows; see `odqa_fast.io.kept.Kept`.

    Raises:
        DataError: a row is no text, or rows of one text differ in their documents.
        OutputError: there is no room.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], folder: Path | None = None) -> None:
        self._rows: Kept[Row] = Kept(folder=folder)
        #: Which of `documents` and `answers` some text has.
        self.has: set[str] = set()
        keys = bytearray()
        for row in (row for batch in batches for row in iterate_rows(batch)):
            number = len(self._rows)
            if row.get("id") is None:
                row["id"] = str(number)
            shared = row.get("text_id")
            # An id that stands twice is two texts, a text_id that stands twice is one.
            keys += digest("row", str(number)) if shared is None else digest("shared", shared)
            text = _text(row)
            self.has.update(name for name in ("documents", "answers") if getattr(text, name))
            self._rows.append(row)
        each = pa.Array.from_buffers(
            pa.binary(DIGEST_BYTES), len(self._rows), [None, pa.py_buffer(keys)]
        )
        texts = each.dictionary_encode().indices.to_numpy()
        n_rows = np.bincount(texts)
        # Those of text i are the rows order[starts[i] : starts[i + 1]].
        self._starts = np.append(0, np.cumsum(n_rows))
        self._order = np.argsort(texts, kind="stable")
        for at in np.flatnonzero(n_rows > 1):
            # To see that they agree, before any work is done.
            self[int(at)]

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> Text: ...
    @overload
    def __getitem__(self, at: slice) -> list[Text]: ...
    def __getitem__(self, at: int | slice) -> Text | list[Text]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        start, end = self._starts[at % len(self) :][:2]
        first, *others = self._order[start:end]
        text = _text(self._rows[int(first)])
        for row in others:
            text = _joined(text, self._rows[int(row)])
        return text


def cut_windows(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Cuts a sequence into lists that are small in memory.

    Args:
        items: texts, or what holds one.
        size: of an item, in characters.
        most: items in a list; fewer where they are long.
    """
    window: list[T] = []
    chars = 0
    for item in items:
        window.append(item)
        chars += size(item)
        if len(window) >= most or chars >= _WINDOW_CHARS:
            yield window
            window, chars = [], 0
    if window:
        yield window


def iterate_rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows of a batch, few at a time."""
    for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
        yield from batch.slice(start, _ROWS_AT_ONCE).to_pylist()


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
    stands = row.get(SOURCE), row.get(PLACE)
    if asked is None:
        flat = row.get("answers")
        if flat is None and answers is not None:
            # A row with one question among rows with several.
            flat = [answer for entry in answers for answer in entry or ()]
        yield Question(row["id"], row.get("question") or "", flat, row.get("prediction"), *stands)
        return
    if answers is not None and len(answers) != len(asked):
        raise DataError(
            f"row {row['id']!r} has {len(asked)} questions and answers to {len(answers)}.",
            hint="'answers' beside 'questions' has one entry for each of them.",
        )
    for at, question in enumerate(asked):
        gold = answers[at] if answers else None
        yield Question(f"{row['id']}/{at}", question or "", gold, None, *stands)


def _check_columns(texts: Texts, source: Dump | Data, needs: Sequence[str]) -> None:
    if not texts:
        raise DataError("there are no rows.")
    for column in needs:
        if column in texts.has:
            continue
        if not {*candidates(column, source.options)} & {*source.found}:
            raise missing_column(column, _NEEDED_BY[column], [source])
        raise SchemaError(
            f"no row has {column}.",
            hint=naming_hint(column, source.found, source.options.mapping),
        )


def rebuild_rows(text: Text) -> list[Row]:
    """The rows of a text with its documents as they are now."""
    rows = []
    for row in text.rows:
        written = {**row, "documents": list(text.documents)}
        if row.get("answers_by_question") is not None:
            # As it was read: beside `questions`, `answers` has an entry for each.
            written["answers"] = written.pop("answers_by_question")
        rows.append(
            {
                name: value
                for name, value in written.items()
                if value is not None and name not in (SOURCE, PLACE)
            }
        )
    return rows

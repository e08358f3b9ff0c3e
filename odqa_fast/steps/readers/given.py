"""Answers that somebody else gave: those of the dump itself, or of a file, by id and level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from odqa_fast.engines.base import Prepared, Query, Reader, Reply
from odqa_fast.errors import DataError, OdqaError, SchemaError
from odqa_fast.io import ReadOptions, open_dump
from odqa_fast.io.kept import KeptTable
from odqa_fast.shares import as_fraction
from odqa_fast.steps.readers import ReaderOptions
from odqa_fast.texts.text import iterate_rows

#: Answers by question, or by question and level; a level of None is any.
Known = Mapping[Any, str | None]
_NULL = "the answer that is given is null"

#: What stands behind the colon; the dump's own predictions where nothing does.
ARGUMENT = "FILE"


class _Given:
    needs_question = False

    def __init__(self, name: str, known: Known, keys: Callable[[Query], tuple[Any, ...]]) -> None:
        self.id = name
        self.signature = "given/1"
        self.facts: Mapping[str, object] = {"reader": name}
        self._known, self._keys = known, keys

    def prepare(self, query: Query) -> Prepared:
        return Prepared(self._keys(query))

    def run(self, requests: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Reply]]:
        for at, keys in enumerate(requests):
            yield at, self._answer(keys)

    def _answer(self, keys: tuple[Any, ...]) -> Reply:
        for key in keys:
            try:
                text = self._known[key]
            except KeyError:
                continue
            error = _NULL if text is None else ""
            return Reply(text or "", "error" if error else "stop", error=error, attempts=0)
        return Reply("", "error", error="no answer is given", attempts=0)

    def close(self) -> None:
        """Nothing is open."""


def open_reader(argument: str, options: ReaderOptions) -> Reader:
    """`given`: the dump's own predictions, the same at every level. `given:FILE`: those of a file
    with `id`, `prediction` and, where they differ, `level`.

    Raises:
        SchemaError: there are no predictions, or no ids.
        DataError: it cannot be read, or has two answers to a question at a level.
    """
    if not argument:
        if not any(text is not None for text in options.predictions.values()):
            raise SchemaError(
                "the reader 'given' needs a column 'prediction', and there is none.",
                hint="Name a file of answers, given:FILE, or a model, onnx:FOLDER.",
            )
        return _Given("given", options.predictions, lambda query: (query.id,))
    known = KeptTable(_answers(argument))
    for (name, at), _, _ in known.repeats():
        shown = "" if at is None else f" at level {at:g}"
        raise DataError(
            f"id {name!r} stands twice{shown}.",
            where=argument,
            hint="Give each id one answer, or one a level.",
        )
    name = f"given:{argument}"
    return _Given(name, known, lambda query: ((query.id, query.level), (query.id, None)))


def _answers(file: str) -> Iterator[tuple[tuple[str, float | None], str | None]]:
    """What a file answers, by question and level."""
    columns: set[str] = set()
    for batch in open_dump(file, ReadOptions(frozenset({"id", "prediction", "level"}))):
        columns.update(batch.schema.names)
        for row in iterate_rows(batch):
            # What has no id is never asked for.
            if (name := row.get("id")) is not None:
                level = row.get("level")
                at = None if level is None else _fraction(level, name, file)
                yield (name, at), row.get("prediction")
    for column in ("id", "prediction"):
        if column not in columns:
            raise SchemaError(
                f"the reader 'given' needs a column {column!r}, and there is none.",
                where=file,
                hint="The columns are id, prediction and, where answers differ by it, level.",
            )


def _fraction(level: float, name: str, file: str) -> float:
    try:
        fraction, _ = as_fraction(str(level), "level")
    except OdqaError as error:
        raise DataError(error.what, where=f"{file}, id {name!r}", hint=error.hint) from None
    return fraction

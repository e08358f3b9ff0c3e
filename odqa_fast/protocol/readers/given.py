"""Answers that somebody else gave: those of the dump itself, or of a file, by id and level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from odqa_fast.errors import DataError, OdqaError, SchemaError
from odqa_fast.io import ReadOptions, open_dump
from odqa_fast.protocol.levels import as_fraction
from odqa_fast.protocol.readers import Answered, Asked, Reader, ReaderOptions

#: Answers by question and level; a level of None is any.
Known = Mapping[tuple[str, float | None], str | None]
_NULL = "the answer that is given is null"


class _Given:
    def __init__(self, name: str, known: Known) -> None:
        self.id = name
        self.signature = "given/1"
        self._known = known

    def read(self, asked: Sequence[Asked]) -> Iterator[tuple[int, Answered]]:
        for at, each in enumerate(asked):
            for key in ((each.id, each.level), (each.id, None)):
                if key in self._known:
                    text = self._known[key]
                    yield at, Answered(text, error=_NULL if text is None else "")
                    break
            else:
                yield at, Answered(None, error="no answer is given")


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
        return _Given("given", {(name, None): text for name, text in options.predictions.items()})
    dump = open_dump(argument, ReadOptions(frozenset({"id", "prediction", "level"})))
    rows = [row for batch in dump for row in batch.to_pylist()]
    for column in ("id", "prediction"):
        if not any(column in row for row in rows):
            raise SchemaError(f"there is no column {column!r}.", where=argument)
    return _Given(f"given:{argument}", _known(rows, argument))


def _known(rows: Iterable[Mapping[str, Any]], file: str) -> Known:
    known: dict[tuple[str, float | None], str | None] = {}
    for row in rows:
        # What has no id is never asked for.
        if (name := row.get("id")) is None:
            continue
        level = row.get("level")
        at = None if level is None else _fraction(level, name, file)
        if (name, at) in known:
            shown = "" if at is None else f" at level {at:g}"
            raise DataError(
                f"id {name!r} stands twice{shown}.",
                where=file,
                hint="Give each id one answer, or one a level.",
            )
        known[name, at] = row.get("prediction")
    return known


def _fraction(level: float, name: str, file: str) -> float:
    try:
        fraction, _ = as_fraction(str(level), "level")
    except OdqaError as error:
        raise DataError(error.what, where=f"{file}, id {name!r}", hint=error.hint) from None
    return fraction

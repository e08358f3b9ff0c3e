"""Which field of an input holds which canonical column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from odqa_fast.errors import SchemaError
from odqa_fast.io.options import ReadOptions
from odqa_fast.schema import ANSWER_FIELDS, DOCUMENT_NAMES, OTHER_NAMES, SAMPLES

#: An object with an entry for each question has thousands of "columns".
_SHOWN = 30


def candidates(column: str, mapping: Mapping[str, str]) -> tuple[str, ...]:
    """Names a canonical column may have in a file, the one that wins first."""
    if column in mapping:
        return (mapping[column],)
    return (column, *OTHER_NAMES.get(column, ()))


def resolve(found: Iterable[str], options: ReadOptions, where: str) -> dict[str, str]:
    """Map the asked canonical columns that `found` holds to their names there.

    Args:
        found: the field names of the input.
        options: the columns asked for and the user's own mapping.
        where: the input, for the error.

    Returns:
        canonical name -> name in the input, in the order of `SAMPLES`; absent columns are absent.

    Raises:
        SchemaError: two names stand for one column, or a mapped name is not there.
    """
    times = Counter(found)
    names = set(times)
    resolved: dict[str, str] = {}
    columns = {column: column for column in SAMPLES.names if column in options.columns}
    if "answers_by_question" in columns and names & {*candidates("questions", options.mapping)}:
        # Beside several questions, the field that is `answers` elsewhere has an entry for each.
        columns.pop("answers", None)
        columns["answers_by_question"] = "answers"
    for column, known_as in columns.items():
        here = [name for name in candidates(known_as, options.mapping) if name in names]
        if not here and known_as in options.mapping and not options.joined:
            raise SchemaError(
                f"no column {options.mapping[known_as]!r}, which --map names for {known_as!r}.",
                where=where,
                hint=f"Columns found: {listed(names)}.",
            )
        if len(here) > 1 and here[0] != known_as:
            raise SchemaError(
                f"{' and '.join(map(repr, here))} could each be {known_as!r}.",
                where=where,
                hint=f"Choose one, e.g. --map {known_as}={here[0]}.",
            )
        if here:
            if times[here[0]] > 1:
                raise SchemaError(
                    f"several columns are named {here[0]!r}.",
                    where=where,
                    hint="Rename all but one of them.",
                )
            resolved[column] = here[0]
    return resolved


def listed(names: Iterable[str]) -> str:
    """Name the columns that were found, as many as a line can hold."""
    every = sorted(names)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more or "none"


def answer_names(found: Iterable[str]) -> tuple[str, ...]:
    """Name the fields of an object that make up a list of answers; none where it is no such one."""
    names = set(found)
    groups = (tuple(n for n in group if n in names) for group in ANSWER_FIELDS)
    return next(filter(None, groups), ())


def document_names(field: str) -> tuple[str, ...]:
    """Names of one of a document's fields; the first that is not null wins."""
    return (field, *DOCUMENT_NAMES[field])

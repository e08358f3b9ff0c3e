"""Which field of an input holds which canonical column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from odqa_fast.errors import SchemaError
from odqa_fast.io.options import FIELD, WATCHED, ReadOptions
from odqa_fast.schema import (
    ANSWER_FIELDS,
    DOCUMENT_NAMES,
    OTHER_NAMES,
    PARTS,
    READABLE,
    SAMPLES,
    WEAK_NAMES,
)

#: An object with an entry for each question has thousands of "columns".
_SHOWN = 30


def candidates(column: str, options: ReadOptions) -> tuple[str, ...]:
    """Names a column may have in an input, the one that wins first.

    A field that the user's mapping gives to one column is no candidate for another.
    """
    if column in options.elsewhere:
        return ()
    mapping = {c: name for c, name in options.mapping.items() if c not in options.elsewhere}
    if column in mapping:
        return (mapping[column],)
    known = (column, *OTHER_NAMES.get(column, ()), *WEAK_NAMES.get(column, ()))
    given = set(mapping.values())
    return tuple(name for name in known if name not in given)


def resolve(found: Iterable[str], options: ReadOptions, where: str) -> dict[str, str]:
    """Map the asked canonical columns that `found` holds to their names there.

    Args:
        found: the field names of the input.
        options: the columns asked for and the user's own mapping.
        where: the input, for the error.

    Returns:
        canonical name -> name in the input, in the order of `SAMPLES`, and then the parts
        (`schema.PARTS`) of these columns; absent columns are absent.
        The fields that are read as they are come last.

    Raises:
        SchemaError: two other names stand for one column, or a mapped name is not there.
    """
    times = Counter(found)
    names = set(times)
    columns = {column: column for column in SAMPLES.names if column in options.columns}
    if "answers_by_question" in columns and names & {*candidates("questions", options)}:
        # Beside several questions, the field that is `answers` elsewhere has an entry for each.
        columns.pop("answers", None)
        columns["answers_by_question"] = "answers"
    resolved: dict[str, str] = {}
    for column, known_as in columns.items():
        if name := _find(known_as, names, options, where):
            resolved[column] = name
    for column, part in PARTS.items():
        if column in resolved and (name := _find(part, names, options, where)):
            resolved[part] = name
    wanted = options.fields | options.where.keys()
    resolved |= {FIELD + name: name for name in sorted(wanted & names)}
    resolved |= {WATCHED + name: name for name in sorted(options.watched & names)}
    for name in resolved.values():
        if times[name] > 1:
            raise SchemaError(
                f"several columns are named {name!r}.",
                where=where,
                hint="Rename all but one of them.",
            )
    return resolved


def _find(column: str, names: set[str], options: ReadOptions, where: str) -> str | None:
    here = [name for name in candidates(column, options) if name in names]
    if not here and column in options.mapping and not options.joined:
        raise SchemaError(
            f"no column {options.mapping[column]!r}, which --map names for {column!r}.",
            where=where,
            hint=f"Columns found: {list_names(names)}.",
        )
    rivals = [name for name in here if name not in WEAK_NAMES.get(column, ())]
    if len(rivals) > 1 and rivals[0] != column:
        raise SchemaError(
            f"{' and '.join(map(repr, rivals))} could each be {column!r}.",
            where=where,
            hint=f"Choose one, e.g. --map {column}={rivals[0]}.",
        )
    return next(iter(here), None)


def list_names(names: Iterable[str]) -> str:
    """Name the columns that were found, as many as a line can hold."""
    every = sorted(name if name.isprintable() else repr(name) for name in names)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more or "none"


def naming_hint(
    column: str, found: Collection[str], mapping: Mapping[str, str], elsewhere: str = ""
) -> str:
    """Say what would work where a column is missing.

    Fields that are another column already are named as that, and never offered.

    Args:
        column: the one that is missing; or the name of a field of the input's own.
        found: the field names of the input.
        mapping: the user's own mapping.
        elsewhere: another way to bring the column, e.g. "join --answers FILE".
    """
    roles = _roles(found, mapping)
    shown = [name if roles.get(name, name) == name else f"{name} ({roles[name]})" for name in found]
    way = f"name the right one with --map {column}=NAME (in Python mapping={{{column!r}: NAME}})"
    if column not in READABLE:
        # A field of the input's own: no other name stands for it.
        way = "name one of these as it is written here"
    elif all(name in roles for name in found):
        way = f"each of them is another column; where one is not, {way}"
    advice = ", or ".join(filter(None, (way, elsewhere)))
    return f"Columns found: {list_names(shown)}. {advice[0].upper()}{advice[1:]}."


class Named(Protocol):
    """What rows were read from: a `Dump`, or `Data`."""

    @property
    def found(self) -> Sequence[str]:
        """The names of its fields."""

    @property
    def options(self) -> ReadOptions:
        """How it was read."""


def missing_column(
    column: str | Sequence[str],
    needed_by: str,
    sources: Sequence[Named],
    *,
    where: str | None = None,
    elsewhere: str = "",
) -> SchemaError:
    """Make the error of a column that is missing.

    Args:
        column: the column, or several of which one would do, the one to name first.
        needed_by: who needs it, in the user's words: "'em'", "--keep level".
        sources: what was read.
        where: the input, where that is known.
        elsewhere: see `naming_hint`.
    """
    columns = [column] if isinstance(column, str) else column
    found = sorted({name for source in sources for name in source.found})
    mapping = {c: name for source in sources for c, name in source.options.mapping.items()}
    return SchemaError(
        f"{needed_by} needs a column {' or '.join(map(repr, columns))}, and there is none.",
        where=where,
        hint=naming_hint(columns[0], found, mapping, elsewhere),
    )


def name_notes(found: Iterable[str], options: ReadOptions, file: str = "") -> Iterator[str]:
    """Say what was made of names that a reader of the numbers might understand otherwise.

    Args:
        found: the field names of an input.
        options: how it was read.
        file: what to call it, where there are several.
    """
    names, of = set(found), f" in {file}" if file else ""
    for column in sorted(options.columns):
        chosen, *others = [n for n in candidates(column, options) if n in names] or [""]
        if others:
            named = " and ".join(map(repr, others))
            yield f"{named} ignored{of}: {chosen!r} is the column {column!r} (--map {column}=NAME)."
        if chosen and column in PARTS:
            more = [n for n in candidates(PARTS[column], options) if n in names]
            if more:
                yield f"{more[0]!r} holds further {column}{of}, beside {chosen!r}."
    if "answers" not in options.columns:
        return
    roles = _roles(names, options.mapping)
    unread = [name for name in names if name not in roles and _looks_like_golds(name)]
    if unread:
        yield (
            f"{', '.join(map(repr, sorted(unread)[:_SHOWN]))} not read{of}, though the name says "
            "gold answers (--map answers=NAME, or answer_aliases=NAME for aliases)."
        )


def _roles(found: Iterable[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """What fields are by their names: field -> column."""
    everything = ReadOptions(frozenset(SAMPLES.names), mapping)
    names = set(found)
    return {
        name: column
        for column in READABLE
        for name in candidates(column, everything)
        if name in names
    }


#: How the last word of a field's name says that it holds gold answers, and what other words say
#: that a system made it or that it is about the subject of the question.
_GOLD_WORDS = {
    *("answer", "answers", "alias", "aliases", "gold", "golds", "golden", "label", "labels"),
    *("target", "targets", "reference", "references", "truth", "truths", "ideal"),
}
_OTHER_WORDS = {
    *("pred", "predict", "predicted", "prediction", "generated", "model", "llm", "system"),
    *("output", "response", "raw", "parsed", "extracted", "final", "candidate", "wrong", "s"),
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def _looks_like_golds(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and words[-1] in _GOLD_WORDS and _OTHER_WORDS.isdisjoint(words)


def answer_names(found: Iterable[str]) -> tuple[str, ...]:
    """Name the fields of an object that make up a list of answers; none where it is no such one."""
    names = set(found)
    groups = (tuple(n for n in group if n in names) for group in ANSWER_FIELDS)
    return next(filter(None, groups), ())


def document_names(field: str) -> tuple[str, ...]:
    """Names of one of a document's fields; the first that is not null wins."""
    return (field, *DOCUMENT_NAMES[field])

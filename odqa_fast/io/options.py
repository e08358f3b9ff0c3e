"""How to read, what was read, and what becomes of a bad row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.prefetch import Submit, work_at_once
from odqa_fast.io.row_layout import RowLayout
from odqa_fast.schema import READABLE, SAMPLES

#: What stands before the name of an input's own field that is read as it is, as text.
FIELD = "field:"
#: Likewise, of a field that is looked at while reading and not handed on.
WATCHED = "watched:"

#: The columns of a row's place: the number of its input, and its line or row there.
SOURCE, PLACE = "@source", "@place"

#: A refused row's raw text is kept up to this many bytes, or characters.
KEPT_CHARS = 64 * 1024

#: Offsets of a text column are 32-bit, so nothing longer can stand in one block.
LONGEST_LINE = (1 << 31) - (1 << 26)


@dataclass(frozen=True)
class ReadOptions:
    """What to read and how strictly.

    Args:
        columns: canonical names (`schema.SAMPLES`) to yield; nothing else is read.
        mapping: canonical name -> its name in the file, beats every other rule.
        on_error: `fail` stops at the first bad row, `skip` hands it to `reject` and counts it.
        encoding_errors: `fail` makes bytes that are not UTF-8 a bad row, `replace` puts U+FFFD.
        joined: this is one side of a join, so that a mapped name may be on the other side.
        elsewhere: columns that only the other side brings: no name stands for them here, and what
            `mapping` says of them is about the other side.
        fields: names of the input's own fields to yield as text, in columns of these names after
            `FIELD`; objects and lists as JSON, null where a row lacks the field.
        watched: likewise, after `WATCHED`; null where a field holds no text or number.
        where: name of such a field -> its value in the rows to yield; other rows are only counted.
        where_may_lack: keep the rows of an input that has no such field.
        one_run: the rows have to be those of one run; see `io.runs`.
        places: yield two more columns: `SOURCE` (int32), which of the inputs a row came from, and
            `PLACE` (int64), its line there from 1 in formats of lines, or its row from 0 in others,
            as error messages name it.
        first_source: the number of the first input.
        identify: hash the inputs while they are read, for `Dump.identities`.
        max_line_bytes: a longer line (JSON value, CSV field) is an error; caps memory.

    Raises:
        SchemaError: a name in `columns` or `mapping` is not canonical, or one field is mapped to
            two columns.
    """

    columns: frozenset[str]
    mapping: Mapping[str, str] = field(default_factory=dict)
    on_error: Literal["fail", "skip"] = "fail"
    encoding_errors: Literal["fail", "replace"] = "fail"
    max_line_bytes: int = 1 << 29
    joined: bool = False
    elsewhere: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    watched: frozenset[str] = frozenset()
    where: Mapping[str, str] = field(default_factory=dict)
    where_may_lack: bool = False
    one_run: bool = False
    places: bool = False
    first_source: int = 0
    identify: bool = False

    def __post_init__(self) -> None:
        for names, known in ((self.columns, SAMPLES.names), (self.mapping, READABLE)):
            for name in sorted(set(names) - set(known)):
                raise SchemaError(
                    f"there is no column {name!r} among those that are read.",
                    hint=f"Columns: {', '.join(known)}.",
                )
        by_field: dict[str, str] = {}
        for column, name in self.mapping.items():
            if (other := by_field.setdefault(name, column)) != column:
                raise SchemaError(
                    f"the field {name!r} is mapped to two columns, {other!r} and {column!r}.",
                    hint="A field is one column: map each to a field of its own.",
                )

    @property
    def line_limit(self) -> int:
        """Longest line in bytes that is read."""
        return min(self.max_line_bytes, LONGEST_LINE)


def split_kept(keep: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Divide the names of columns to keep into canonical ones, and fields of the input's own.

    They are what `ReadOptions` takes as `columns` and as `fields`.
    """
    names = frozenset(keep)
    columns = names.intersection(SAMPLES.names)
    return columns, names - columns


@dataclass(frozen=True)
class Rejected:
    """One refused row: `line` from 1 in text formats, `row` from 0 in the others."""

    file: str
    line: int | None
    row: int | None
    reason: str
    text: str


@dataclass
class ReadCounts:
    """Grows while reading.

    `rows_read` includes the rejected; `replaced_encodings` counts rows in which bytes became
    U+FFFD, `pointed_numbers` those in which a whole number of a column of decimal ones became text
    with a point, 1969.0; `lists_in_text` those in which a text was read as the list that is written
    in it, `numbers_in_brackets` those in which an answer like "[1, 2]" stayed a text;
    `rows_not_chosen` those that `where` leaves out; `bytes_read` are bytes of the files as they lie
    on disk (compressed). `document_fields` are the names of fields of documents that had no text,
    `layouts` those of layouts by which rows of JSON were read.
    """

    rows_read: int = 0
    rejected: int = 0
    replaced_encodings: int = 0
    pointed_numbers: int = 0
    lists_in_text: int = 0
    numbers_in_brackets: int = 0
    rows_not_chosen: int = 0
    bytes_read: int = 0
    document_fields: set[str] = field(default_factory=set)
    layouts: set[str] = field(default_factory=set)


@dataclass
class Intake:
    """One input being read: how, its counts, and where bad rows go.

    `submit` starts work on a part of it, up to `depth` parts ahead of the one that is used.
    `json_lists` says that a list stands in it as JSON in a text, for there is no other way.
    `layouts` are those that its rows may be of, where it is JSON, and `source` is its number.
    """

    file: str
    options: ReadOptions
    counts: ReadCounts
    reject: Callable[[Rejected], None] | None = None
    submit: Submit = work_at_once
    depth: int = 0
    hint: str | None = "Mend it, or skip bad rows with --on-error skip."
    json_lists: bool = False
    layouts: Sequence[RowLayout] = ()
    source: int = 0

    def __post_init__(self) -> None:
        #: Rows read before this input began: its own rows count from 0.
        self.first_row = self.counts.rows_read

    def refuse(
        self,
        reason: str,
        *,
        line: int | None = None,
        row: int | None = None,
        text: str | bytes = "",
    ) -> None:
        """Raise for a bad row, or hand it on and count it, as `on_error` says.

        Raises:
            DataError: under `on_error="fail"`.
        """
        if self.options.on_error == "fail":
            place = f", line {line}" if line is not None else f", row {row}"
            raise DataError(
                f"{reason}.",
                where=f"{self.file}{place}" if (line, row) != (None, None) else self.file,
                hint=self.hint,
            )
        self.counts.rejected += 1
        if self.reject is not None:
            kept = text[:KEPT_CHARS]
            raw = kept.decode(errors="replace") if isinstance(kept, bytes) else kept
            self.reject(Rejected(self.file, line, row, reason, raw))

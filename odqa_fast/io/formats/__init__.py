"""Formats of dumps, one file each; found by scan, and told by a dump's first bytes.

A module of this package, or one that an installed package names as an entry point of the group
`odqa_fast.formats`, is one of two things.

A *file format* has

- `NAME`: what it is asked for by;
- `sniff(head: Head) -> Fit`: how well the beginning of a file fits it;
- `read(source: Source, intake: Intake, found: set[str])`: yields canonical batches, see `jsonl`;
- `SUFFIXES` (optional): suffix of a file's name -> what such a file is called;
- `NEVER_EMPTY` (optional): a file of it has bytes even if it has no rows;
- `MAY_WIDEN` (optional): later rows may have fields that the first ones lack.

A *layout* of the rows of JSON and JSON lines has

- `NAME`;
- `sniff(fields: frozenset[str]) -> bool`: whether rows that all have these fields are of it;
- `row(row: dict) -> dict`: makes a row with canonical names (`schema.SAMPLES`), of which any may be
  missing, and with what else `--where` may ask for. It runs in the workers. Numbers are texts as
  they are written. It raises `ValueError` where the row is none, and says why.

For example, of a tool that logs `{"asked": ..., "gold": [...], "said": ..., "run": ...}`:

    NAME = "tool"

    def sniff(fields):
        return {"asked", "gold", "said"} <= fields

    def row(row):
        named = {"question": row["asked"], "answers": row["gold"], "prediction": row["said"]}
        return {**named, "run": row.get("run")}

Of file formats the best fit is taken, and of equal ones the first by name, as of layouts the first
by name that takes the rows. So no order is written down anywhere. A layout is looked for where no
format was asked for; of one that is asked for by its name, the file is JSON or JSON lines.

What cannot be loaded, is no format or fails to sniff is left out, with a warning (see `plugins`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, cached_property
from typing import Any, TypeVar

import pyarrow as pa

from odqa_fast.errors import DataError, OdqaError, OdqaWarning, SchemaError
from odqa_fast.io.options import Intake
from odqa_fast.io.row_layout import RowLayout
from odqa_fast.io.source import PACKED, PACKED_SUFFIXES, Source
from odqa_fast.plugins import Plugins

_PLUGINS = Plugins("format", __name__, "odqa_fast.formats")
T = TypeVar("T")

#: What has been warned of: once a process is enough.
_warned: set[str] = set()

#: The formats whose rows may be of a layout.
JSON = ("json", "jsonl")

BOM = b"\xef\xbb\xbf"
SNIFFED_BYTES = 64 << 10


class Fit(IntEnum):
    """How well the beginning of a file fits a format."""

    NO = 0
    #: It is text, which would do where no other format claims it.
    FALLBACK = 1
    #: Its lines are written as those of the format.
    CONTENT = 2
    #: It begins with the format's own mark.
    SIGNATURE = 3


@dataclass(frozen=True)
class Head:
    """The beginning of a file.

    Attributes:
        data: decompressed, `SNIFFED_BYTES` of it or all.
        file: its name.
    """

    data: bytes
    file: str

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines that are not blank, without blanks around them."""
        lines = (line.strip() for line in self.data.removeprefix(BOM).split(b"\n"))
        return [line for line in lines if line]


@dataclass(frozen=True)
class FileFormat:
    """A file format; see above for what its module has."""

    name: str
    sniff: Callable[[Head], Fit]
    read: Callable[[Source, Intake, set[str]], Iterator[pa.RecordBatch]]
    suffixes: Mapping[str, str] = field(default_factory=dict)
    never_empty: bool = False
    may_widen: bool = False


@dataclass(frozen=True)
class Formats:
    """All formats there are.

    Attributes:
        files: file formats by name.
        layouts: layouts of JSON rows by name.
    """

    files: Mapping[str, FileFormat]
    layouts: Mapping[str, RowLayout]

    @property
    def names(self) -> tuple[str, ...]:
        """What a format may be asked for by."""
        return (*self.files, *self.layouts)


@cache
def find_formats() -> Formats:
    """Find all formats: the modules of this package, and what others name as entry points.

    Raises:
        OdqaError: two have one name.
    """
    found = sorted(_PLUGINS.collect(_describe).items())
    return Formats(
        {name: each for name, each in found if isinstance(each, FileFormat)},
        {name: each for name, each in found if isinstance(each, RowLayout)},
    )


def _describe(module: Any) -> list[tuple[str, FileFormat | RowLayout]]:
    """What a module has, with its name.

    Raises:
        OdqaError: something is missing, or of another kind.
    """
    name, sniff = getattr(module, "NAME", None), getattr(module, "sniff", None)
    read, row = getattr(module, "read", None), getattr(module, "row", None)
    if not isinstance(name, str) or not name.strip():
        raise OdqaError("it has no NAME")
    if not callable(sniff):
        raise OdqaError("it has no function sniff")
    if callable(row):
        return [(name, RowLayout(name, _guard(sniff, bool, name), row))]
    if not callable(read):
        raise OdqaError("it has neither a function read, of a file, nor row, of JSON rows")
    described = FileFormat(
        name,
        _guard(sniff, Fit, name),
        read,
        getattr(module, "SUFFIXES", {}),
        getattr(module, "NEVER_EMPTY", False),
        getattr(module, "MAY_WIDEN", False),
    )
    return [(name, described)]


def _guard(sniff: Callable[[Any], Any], kind: Callable[[Any], T], name: str) -> Callable[[Any], T]:
    """Let a `sniff` that fails, or returns something else than its kind, take nothing."""

    def guarded(beginning: Any) -> T:
        try:
            return kind(sniff(beginning) or False)
        except Exception as error:  # whatever a package of others may do
            note = f"the format {name!r} is left out: {type(error).__name__}: {error}."
            if note not in _warned:
                _warned.add(note)
                warnings.warn(note, OdqaWarning, stacklevel=2)
            return kind(False)

    return guarded


def check_format(name: str) -> None:
    """Look whether there is a format.

    Raises:
        SchemaError: there is none of this name.
    """
    known = find_formats().names
    if name not in known:
        raise SchemaError(f"there is no format {name!r}.", hint=f"Formats: {', '.join(known)}.")


def choose_format(
    asked: str | None, head: bytes, file: str
) -> tuple[FileFormat, tuple[RowLayout, ...]]:
    """Choose how to read a file.

    Args:
        asked: a format's name; None to go by the first bytes.
        head: see `sniff`.
        file: its name.

    Returns:
        The file format, and the layouts of which its rows may be, where they are JSON.
    """
    formats = find_formats()
    if asked is None:
        return formats.files[sniff(head, file)], tuple(formats.layouts.values())
    if asked in formats.files:
        return formats.files[asked], ()
    layout = replace(formats.layouts[asked], sniff=lambda fields: True)
    return formats.files[sniff(head, file, JSON)], (layout,)


def sniff(head: bytes, file: str, among: Iterable[str] | None = None) -> str:
    """Tell the file format from the first bytes.

    Args:
        head: decompressed, `SNIFFED_BYTES` of them or all.
        file: the file's name.
        among: names of formats; all by default.

    Raises:
        DataError: UTF-16 or UTF-32 text, an archive, or of no format.
    """
    files = find_formats().files
    beginning = Head(head, file)
    fits = {name: files[name].sniff(beginning) for name in (files if among is None else among)}
    # Of equal ones `max` takes the first.
    best = max(fits, key=fits.__getitem__)
    if fits[best] < Fit.SIGNATURE:
        _check_text(head, file)
    if fits[best] == Fit.NO:
        raise DataError(f"is none of these formats: {', '.join(fits)}.", where=file)
    return best


def _check_text(head: bytes, file: str) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head[:2]:
        raise DataError(
            "looks like UTF-16 or UTF-32 text.",
            where=file,
            hint="Convert it to UTF-8, e.g. iconv -f UTF-16 -t UTF-8.",
        )
    if head[257:262] == b"ustar":
        raise DataError("is a tar archive.", where=file, hint="Unpack it and name its files.")


def name_form(file: str) -> str | None:
    """What a file's name says it holds; None where it has no suffix, or one that says nothing."""
    return _forms().get(os.path.splitext(file)[1].lower())


def list_suffixes(form: str) -> list[str]:
    """The suffixes of files that hold something, as `name_form` calls it."""
    return [suffix for suffix, each in _forms().items() if each == form]


def is_never_empty(form: str | None) -> bool:
    """Whether a file that holds this has bytes even if it has no rows."""
    full = (each for each in find_formats().files.values() if each.never_empty)
    return form == PACKED or any(form in each.suffixes.values() for each in full)


@cache
def _forms() -> dict[str, str]:
    forms = dict.fromkeys(PACKED_SUFFIXES, PACKED)
    for each in find_formats().files.values():
        forms |= each.suffixes
    return forms

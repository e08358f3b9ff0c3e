"""The options of reading a dump, the same for every command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from odqa_fast.option import Option, Options, Paths

if TYPE_CHECKING:
    from odqa_fast.io.options import ReadOptions

DumpPaths = Annotated[
    Paths,
    Option("Files, folders or globs of any format; '-' is standard input.", positional=True),
]


@dataclass(frozen=True, kw_only=True)
class RowOptions(Options):
    """Which rows of a dump count, and what their columns are called."""

    mapping: Annotated[
        Mapping[str, str],
        Option(
            "COLUMN=NAME where the dump has another name; repeatable.",
            flag="map",
            pair=("COLUMN=NAME", "prediction=answer_text"),
        ),
    ] = field(default_factory=dict)
    on_error: Annotated[
        Literal["fail", "skip"],
        Option("A bad row: stop at the first, or leave it out, count it and go on."),
    ] = "fail"
    where: Annotated[
        Mapping[str, str],
        Option(
            "FIELD=VALUE: take only the rows that have it, count others; repeatable.",
            pair=("FIELD=VALUE", "system=bm25"),
            empty_values=True,
        ),
    ] = field(default_factory=dict)

    def reading(self, columns: Iterable[str]) -> ReadOptions:
        """How to read these columns of a dump that is one run."""
        from odqa_fast.io.options import ReadOptions

        return ReadOptions(
            frozenset(columns),
            self.mapping,
            self.on_error,
            where=self.where,
            one_run=True,
        )


@dataclass(frozen=True, kw_only=True)
class Reading(RowOptions):
    """How a dump on disk is read."""

    encoding_errors: Annotated[
        Literal["fail", "replace"],
        Option("Bytes that are not UTF-8: a bad row, or U+FFFD and counted."),
    ] = "fail"
    max_line_bytes: Annotated[
        int,
        Option("A longer line of text is bad; bounds the memory.", unit="bytes", low=1),
    ] = 1 << 29

    def reading(self, columns: Iterable[str]) -> ReadOptions:
        """How to read these columns of a dump that is one run."""
        return replace(
            super().reading(columns),
            encoding_errors=self.encoding_errors,
            max_line_bytes=self.max_line_bytes,
        )

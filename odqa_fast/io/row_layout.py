"""Layouts of JSON rows: what other tools call the canonical columns, where a name is not enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RowLayout:
    """How the rows of a tool's JSON become rows with canonical names.

    Attributes:
        name: what it is asked for by.
        sniff: tells the layout by the names of the fields that each of the first rows has.
        row: makes the row that is read in place of one of the file.
    """

    name: str
    sniff: Callable[[frozenset[str]], bool]
    row: Callable[[dict[str, Any]], dict[str, Any]]


def choose_layout(
    layouts: Sequence[RowLayout], rows: Collection[Mapping[str, Any]]
) -> RowLayout | None:
    """Return the first of the layouts that takes these rows, the first ones of a file."""
    if not layouts or not rows:
        return None
    fields = frozenset.intersection(*map(frozenset, rows))
    return next((layout for layout in layouts if layout.sniff(fields)), None)

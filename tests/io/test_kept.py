"""Sequences and tables on disk.

Run: pytest tests/io/test_kept.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odqa_fast.errors import OutputError
from odqa_fast.io.kept import Kept, KeptTable, find_room


@given(st.lists(st.text(), max_size=20), st.integers(1, 5), st.slices(20))
def test_it_is_the_list_it_was_made_of(items: list[str], group: int, part: slice) -> None:
    kept = Kept(items, group=group)
    assert list(kept) == items
    assert [kept[at] for at in range(-len(items), len(items))] == items * 2
    assert kept[part] == items[part]
    with pytest.raises(IndexError):
        kept[len(items)]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers()), max_size=20))
def test_a_table_finds_the_first_value_and_all_repeats(items: list[tuple[int, int]]) -> None:
    table = KeptTable(items)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    repeats = []
    for key, value in items:
        first.setdefault(key, value)
        if key in last:
            repeats.append((key, last[key], value))
        last[key] = value
    assert [table.get(key) for key in range(8)] == [first.get(key) for key in range(8)]
    assert sorted(table.repeats()) == sorted(repeats)
    assert list(table.rows()) == items


def test_keys_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odqa_fast.io.kept._hash", lambda key: 2**64 - 1)
    table = KeptTable([("a", 1), ("b", 2), ("a", 3)])
    assert (table["a"], table["b"], table.get("c")) == (1, 2, None)
    assert list(table.repeats()) == [("a", 1, 3)]


def test_nothing_is_left_and_no_room_is_said(tmp_path: Path) -> None:
    kept = Kept(["x"], tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert kept[0] == "x"
    with pytest.raises(OutputError, match="could not be written"):
        Kept(folder=tmp_path / "none")
    assert find_room(tmp_path / "new" / "deeper" / "out") == tmp_path

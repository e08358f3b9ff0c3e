"""Covers: the reference records that the project holds, and how they are chosen, kept and checked.

Compared against: README.md, the shared folder, records made by hand. Run: pytest tests/reference
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reference import selection, store
from reference.selection import Files, exact

PROBLEMS = [
    {"id": "1", "kind": "hand", "text": "the \ud800 x", "expected": {"f1": 2 / 3, "n": 1}},
    {"id": "2", "kind": "hand", "text": "", "golds": ["a\x00b", "\U0001f600"], "expected": 5e-324},
    {"id": "3", "kind": "fuzz", "golds": None, "expected": {"b": -0.0, "a": 1.0, "c": None}},
    {"id": "4", "kind": "fuzz", "golds": [], "expected": [True, 1, 1.0, "1", {"error": "nan"}]},
]


def test_records_read_back_to_the_last_bit(tmp_path: Path) -> None:
    """Lone surrogates, whole numbers, the smallest double, order of keys, null and no key."""
    store.write(tmp_path / "x.parquet", PROBLEMS)
    assert [exact(r) for r in store.read(tmp_path / "x.parquet")] == [exact(r) for r in PROBLEMS]


def test_readme_counts_the_records() -> None:
    readme = (store.FOLDER / "README.md").read_text(encoding="utf-8")
    counts = re.findall(r"^\| `(\w+)` \| (\d+) \| \d+ \| \d+ \|$", readme, re.MULTILINE)
    held = selection.stored()
    assert {file: int(count) for file, count in counts} == {f: len(held[f]) for f in held}
    assert f"{sum(map(len, held.values())):,}\nrecords" in readme


@pytest.mark.parametrize("path", sorted(store.FOLDER.glob("*.parquet")), ids=lambda p: p.stem)
def test_each_record_has_its_own_id_and_an_allowed_kind(path: Path) -> None:
    found = store.read(path)
    assert len({record["id"] for record in found}) == len(found)
    assert not any(selection.is_real(record) for record in found)
    assert all(record["expected"] is not None for record in found)


@pytest.mark.parametrize(
    ("kind", "real"),
    [
        ("real_word", True),
        ("real_dump_DPR", True),
        ("curated", True),
        ("curated_wrong", True),
        ("summary", True),
        ("dpr_topk", True),
        ("hand_realistic", False),
        ("multisent", False),
    ],
)
def test_kinds_made_of_real_data(kind: str, real: bool) -> None:
    assert selection.is_real({"kind": kind}) is real


def test_a_text_stands_in_the_data_as_a_whole_or_as_a_part() -> None:
    data = ["the city of Oslo lies there", "Bergen, Norway", "aaaaaaaaab"]
    stands = {"Bergen, Norway", "city of Oslo", "lies there", "aaaaaaab", "aaaaaaaaa"}
    not_there = {"city of oslo", "lies therefore", "Bergen, Norway.", "there Bergen", "aaaaaaaaaa"}
    assert selection.standing_in(data, stands | not_there) == stands


def test_inputs_and_results_of_more_than_seven_characters_are_looked_for() -> None:
    record = {
        "id": "a long name",
        "kind": "hand_empty",
        "golds": [["seven 7"], ["eight 88"]],
        "expected": {"squad_v1": {"error": "ValueError"}, "tokens": ["a longer one"], "n": 1.0},
    }
    assert selection.long_texts(record) == {"eight 88", "ValueError", "a longer one"}


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """A shared folder with three records: one to hold, one of a real kind, one that quotes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = [
        {"id": "own", "kind": "hand", "text": "Oslo lies here", "expected": {"f1": 2 / 3}},
        {"id": "real", "kind": "real_dump", "text": "x", "expected": {}},
        {"id": "quote", "kind": "fuzz", "text": "Oslo lies", "expected": {}},
    ]
    vectors = tmp_path / "reference" / "vectors"
    vectors.mkdir(parents=True)
    (vectors / "squad_v9.jsonl").write_text("\n".join(map(json.dumps, found)), encoding="utf-8")
    (tmp_path / "data").mkdir()
    rows = {"n": [1], "answers": [["Bergen", "in Oslo lies a fjord"]]}
    pq.write_table(pa.table(rows), tmp_path / "data" / "questions.parquet")
    monkeypatch.setattr(store, "SHARED", tmp_path)
    monkeypatch.setattr(selection, "SHARED", tmp_path)
    return selection.shared()


def test_what_is_held_is_chosen_by_kind_and_text(given: Files) -> None:
    held = selection.select(given, selection.quoted(given))
    assert held == {"squad_v9": given["squad_v9"][:1]}
    assert selection.differences(held, given) == []


def test_the_check_names_what_is_wrong(given: Files) -> None:
    own, real, quote = given["squad_v9"]
    changed = own | {"expected": {"f1": 0.6666666666666667}}
    wrong = selection.differences({"squad_v9": [changed, real, quote]}, given)
    assert wrong == [
        "own is not the record of the shared folder",
        "real is of the kind real_dump",
        "quote quotes the data: {'Oslo lies'}",
    ]
    assert selection.differences({"squad_v9": []}, given) == ["own is missing"]
    assert selection.differences({}, given) == ["squad_v9.parquet is missing"]


def test_tests_get_each_record_once(
    given: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(tmp_path / "squad_v9.parquet", given["squad_v9"][:1])
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    assert [r["id"] for r in store.records("squad_v9")] == ["own", "real", "quote"]
    monkeypatch.setattr(store, "SHARED", tmp_path / "missing")
    store.records.cache_clear()
    assert [r["id"] for r in store.records("squad_v9")] == ["own"]


@pytest.mark.usefixtures("shared")
def test_records_are_those_of_the_shared_folder_and_quote_no_data() -> None:
    assert selection.differences(selection.stored(), selection.shared()) == []

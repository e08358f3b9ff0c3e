"""Covers: every command that reads a dump says how its rows were read, reads one run, takes --where
and counts refused rows.

Compared against: the rows as they are written here. Run: pytest tests/cli/test_reading.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import ChatServer, Play, chat_server
from program import Done, odqa_fast, refused, summary_of, write_jsonl

REPLY = json.dumps(
    {"verdict": "correct", "winner": "tie", "questions": [{"question": "Who?", "answer": "Ada"}]}
)
NAMES = ["a", "b", "c"]
ROWS: list[dict[str, Any]] = [
    {
        "id": name,
        "question": f"Who wrote to {name}?",
        "answers": ["Ada"],
        "prediction": f"Ada {name}",
        "documents": [f"Ada wrote to {name} of sand. Glass of kind {name} is made from it."],
    }
    for name in NAMES
]

COMMANDS = ["score", "judge", "pairwise", "answer", "compress", "noise", "questions", "levels"]
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server(Play(REPLY)) as server:
        yield server


class Runs:
    """Runs any command over a dump, with its output in a folder."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder = folder
        model, cache = ("--model", server.engine()), ("--cache", folder / "cache.sqlite")
        judge = ("--provider", server.engine(), *cache)
        pool = folder / "pool.txt"
        pool.write_text("It rained on the old harbour all day.\nNobody locked the gate.\n")
        self.other = write_jsonl(folder / "b.jsonl", ROWS)
        noise = ("--pool", pool, "--rare", "0")
        self.options: dict[str, tuple[object, ...]] = {
            "score": ("-m", "em,hit@1"),
            "judge": (*judge, "--rubric", "correctness,faithfulness"),
            "pairwise": judge,
            "answer": (*model, *cache),
            "compress": (*model, *cache),
            "noise": noise,
            "questions": (*noise, *model, *cache, "--generate-questions", 1),
            "levels": ("--compressor", "none", "--levels", "1"),
        }

    def out(self, command: str) -> Path:
        single = command in ("answer", "compress", "noise", "questions")
        return self.folder / (f"{command}.parquet" if single else command)

    def run(self, command: str, dump: Path, *arguments: object) -> Done:
        named = {"pairwise": "judge", "questions": "noise"}.get(command, command)
        paths = ("--pairwise", dump, self.other) if command == "pairwise" else (dump,)
        return odqa_fast(
            *(named, *paths, *self.options[command], "--out", self.out(command)),
            *("--format", "json", *arguments),
        )

    def ids(self, command: str) -> list[str]:
        """Of the rows that were written; a question of several has its number behind a slash."""
        out = self.out(command)
        table = pq.read_table(out if out.is_file() else out / "scores.parquet")
        return [name.partition("/")[0] for name in table["id"].to_pylist()]

    def rejected(self, command: str) -> Path:
        out = self.out(command)
        beside = out.with_name(f"{out.name}.rejected.jsonl")
        return out / "rejected.jsonl" if out.is_dir() else beside


@pytest.fixture
def runs(tmp_path: Path, server: ChatServer) -> Runs:
    return Runs(tmp_path, server)


def signatures(summary: dict[str, Any]) -> list[str]:
    found = [metric["signature"] for metric in summary.get("metrics", {}).values()]
    found += [summary[name] for name in ("signature", "noise") if name in summary]
    assert found
    return found


@every_command
def test_how_rows_were_read_is_said(command: str, runs: Runs, tmp_path: Path) -> None:
    rows = [
        {
            **row,
            "answers": '["Ada"]' if row["id"] != "c" else "[1, 2]",
            "golden_answers": ["Eve"],
            "my_gold": "Eve",
            "dataset": "x",
        }
        for row in ROWS
    ]
    dump = write_jsonl(tmp_path / "dump.jsonl", [*rows, {**rows[0], "dataset": "y"}])
    # Pairs have each id once.
    if command == "pairwise":
        dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    done = runs.run(command, dump)
    summary = summary_of(done)
    n = 2 if command == "pairwise" else 3
    assert summary["counts"]["lists_in_text"] == n
    assert summary["counts"]["numbers_in_brackets"] == 1
    notes = [
        f"{n} rows hold a list as text",
        "1 rows hold numbers in brackets as text",
        "'golden_answers' ignored",
        "'my_gold' not read",
        *([] if command == "pairwise" else ["2 values ('x', 'y') stand in the field 'dataset'"]),
    ]
    for begin in notes:
        (note,) = [note for note in summary["notes"] if note.startswith(begin)]
        assert f"note: {note}\n" in done.stderr
    if command == "pairwise":
        assert f"'golden_answers' ignored in {dump}" in done.stderr


@every_command
def test_rows_are_those_of_one_run(command: str, runs: Runs, tmp_path: Path) -> None:
    rows = [{**row, "filter": name} for row in ROWS for name in ("strict", "loose")]
    dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    refused(runs.run(command, dump), 2, "'strict', 'loose'", "'filter'", "--where filter=strict")
    assert not runs.out(command).exists()
    if command == "judge":
        refused(runs.run(command, dump, "--limit", 2), 2, "'filter'")

    done = runs.run(command, dump, "--where", "filter=loose")
    summary = summary_of(done)
    assert runs.ids(command) == NAMES
    assert (summary["counts"]["rows"], summary["counts"]["rows_not_chosen"]) == (3, 3)
    assert "note: 3 rows were not chosen by --where and are left out.\n" in done.stderr
    for signature in signatures(summary):
        assert "where:filter=loose" in signature or "where=filter=loose" in signature

    refused(runs.run(command, dump, "--where", "filter=none"), 2, "no row has 'none'", "'loose'")


@every_command
def test_files_without_a_chosen_row_say_nothing_of_columns(
    command: str, runs: Runs, tmp_path: Path
) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    bare = [{"id": "z", "filter": "strict", "summary": "Ada"}]
    write_jsonl(folder / "1.jsonl", bare)
    write_jsonl(folder / "2.jsonl", [{**row, "filter": "loose"} for row in ROWS])
    summary = summary_of(runs.run(command, folder, "--where", "filter=loose"))
    assert runs.ids(command) == NAMES
    # Nor of what there is to answer from.
    if command == "answer":
        assert summary["counts"]["input_documents"] == 3


BAD = '{"id": {"a": 1}, "question": "Who is bad?", "answers": ["x"], "documents": ["y"]}\n'


@every_command
def test_refused_rows_are_counted_and_kept(command: str, runs: Runs, tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "dump.jsonl", ROWS)
    dump.write_text(dump.read_text() + BAD)
    done = runs.run(command, dump, "--on-error", "skip")
    summary = summary_of(done)
    assert runs.ids(command) == NAMES
    assert summary["counts"]["rejected"] == 1
    assert "1 rows were rejected and are left out." in summary["notes"]
    assert "note: 1 rows were rejected and are left out.\n" in done.stderr
    for signature in signatures(summary):
        assert "rejected:1" in signature or "rejected=1" in signature
    (rejected,) = map(json.loads, runs.rejected(command).read_text().splitlines())
    assert (rejected["line"], json.loads(rejected["text"])) == (4, json.loads(BAD))
    # One bad row stops what does not skip it, and takes nothing away.
    refused(runs.run(command, dump), 3, f"{dump}, line 4")
    assert runs.rejected(command).exists()


def test_a_limit_hides_no_documents_without_text(runs: Runs, tmp_path: Path) -> None:
    rows = [{**row, "documents": [{"body": "Ada"}]} for row in ROWS]
    dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    for limit in ((), ("--limit", 2), ("--limit", 3)):
        refused(runs.run("judge", dump, *limit), 2, "the documents have no text", "body")


def test_the_second_of_a_pair_may_lack_the_field(runs: Runs, tmp_path: Path) -> None:
    rows = [{**row, "filter": name} for row in ROWS for name in ("strict", "loose")]
    a = write_jsonl(tmp_path / "a.jsonl", rows)
    runs.other = write_jsonl(tmp_path / "b.jsonl", rows)
    refused(runs.run("pairwise", a), 2, "'filter'", "--where filter=strict")
    summary = summary_of(runs.run("pairwise", a, "--where", "filter=loose"))
    assert (summary["counts"]["rows"], summary["counts"]["rows_not_chosen"]) == (3, 6)

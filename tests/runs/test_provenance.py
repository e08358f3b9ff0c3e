"""Covers: where the rows of a run come from, what its inputs were, and a run from its own record.

Compared against: the lines that were written, by hand, read back by their places; the sizes of the
files, and their hashes when they are read alone.
Run: pytest tests/runs/test_provenance.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chat_server import Play, chat_server
from program import called, odqa_fast, summary_of, write_jsonl

import odqa_fast as oq
from odqa_fast.io import ReadOptions
from odqa_fast.io.identity import identify
from odqa_fast.io.lookup import read_rows_at
from odqa_fast.runs.provenance import hash_questions

#: Lines 1, 4, 7 and 8 are rows of system a, 6 is one of b; 2 and 5 are blank, 3 and 9 are no rows.
FIRST = """\
{"id": "a1", "question": "Who wrote it?", "prediction": "Ada", "system": "a"}

{no json
{"id": "a4", "question": "Où est-ce ?", "prediction": "Paris", "system": "a"}

{"id": "b6", "question": "Who else?", "prediction": "Eve", "system": "b"}
{"id": "a7", "prediction": "Ada", "system": "a"}
{"id": "a8", "question": "", "prediction": "Ada", "system": "a"}
{"id": "a9", "question": "When?", "prediction": "A
"""
SECOND = "id,question,prediction,system\nc2,Which one?,Bo,a\nc3,And then?,Cy,b\nc4,How?,Di,a\n"
#: Where the rows stand that are taken: which file, which line, and the question there.
TAKEN = {
    "a1": (0, 1, "Who wrote it?"),
    "a4": (0, 4, "Où est-ce ?"),
    "a7": (0, 7, None),
    "a8": (0, 8, None),
    "c2": (1, 2, "Which one?"),
    "c4": (1, 4, "How?"),
}
CHOSEN = ("--on-error", "skip", "--where", "system=a")
TEXT = {"documents": ["Ada wrote it. Bo did not. Nobody else did."], "answers": ["Ada"]}


@pytest.fixture
def dump(tmp_path: Path) -> list[Path]:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.csv"
    first.write_text(FIRST, encoding="utf-8")
    second.write_text(SECOND, encoding="utf-8")
    return [first, second]


def identified(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What a summary has to say of files."""
    found = [each.as_dict() for each in identify(paths)]
    assert [each["size"] for each in found] == [path.stat().st_size for path in paths]
    assert all(each["hash"] for each in found)
    return found


def hash_of(question: str | None) -> int | None:
    (found,) = hash_questions(pa.array([question], pa.string())).to_pylist()
    assert found is None or isinstance(found, int)
    return found


def fetched(inputs: Sequence[Mapping[str, Any]], row: Mapping[str, Any], name: str) -> Any:
    """What stands in a field of the row's source."""
    options = ReadOptions(frozenset({"id", "question"}))
    found = read_rows_at(inputs[row["source"]]["path"], [row["place"]], options)
    (value,) = found.column(name).to_pylist() if name in found.schema.names else [None]
    return value


def rows_of(run: Path) -> list[dict[str, Any]]:
    path = run / "scores.parquet" if run.is_dir() else run
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def check_places(run: Path, taken: Mapping[str, tuple[int, int, str | None]] = TAKEN) -> None:
    """Check where the rows of a run come from: as it is known, and by reading them there."""
    inputs = json.loads((run / "summary.json").read_text())["inputs"]
    rows = rows_of(run)
    assert {row["id"]: (row["source"], row["place"], row["question_hash"]) for row in rows} == {
        name: (source, place, hash_of(asked)) for name, (source, place, asked) in taken.items()
    }
    for row in rows:
        assert fetched(inputs, row, "id") == row["id"]
        assert hash_of(fetched(inputs, row, "question")) == row["question_hash"]


def test_the_hash_of_a_question() -> None:
    """One is another's with a chance of 1 in 2^64, and none has none."""
    questions = ["Who?", "who?", "Who? ", None, "", "Who?"]
    found = hash_questions(pa.array(questions, pa.large_string())).to_pylist()
    assert found == [hash_of(each) for each in questions]
    assert found[3:5] == [None, None]
    assert len(set(found)) == 4


def test_scores_by_their_places(dump: list[Path], tmp_path: Path) -> None:
    gold = write_jsonl(
        tmp_path / "gold.jsonl",
        [
            *({"id": name, "question": of[2], "answers": ["Ada"]} for name, of in TAKEN.items()),
            {"id": "z7", "question": "Not asked?", "answers": ["Ada"]},
        ],
    )
    run = tmp_path / "run"
    options = ("--metrics", "em", "--answers", gold, "--map", "id=id", *CHOSEN, "--out", run)
    summary = summary_of(called("score", *dump, *options))
    assert summary["inputs"] == identified([*dump, gold])
    assert (summary["counts"]["rejected"], summary["counts"]["rows_not_chosen"]) == (2, 2)
    # Nobody answered the last one: its row is that of the gold answers.
    check_places(run, {**TAKEN, "z7": (2, 7, "Not asked?")})


def test_a_changed_source_shows(dump: list[Path], tmp_path: Path) -> None:
    run = tmp_path / "run"
    oq.score_file(dump, "em", mapping={"answers": "system"}, on_error="skip", out=run)
    rows = {row["id"]: row for row in rows_of(run)}
    inputs = json.loads((run / "summary.json").read_text())["inputs"]
    dump[0].write_text(FIRST.replace("wrote", "writes"), encoding="utf-8")
    same = {
        name: hash_of(fetched(inputs, row, "question")) == row["question_hash"]
        for name, row in rows.items()
    }
    assert [name for name, is_same in same.items() if not is_same] == ["a1"]
    assert [each == now for each, now in zip(inputs, identified(dump), strict=True)] == [
        False,
        True,
    ]


def verdicts(body: dict[str, Any], before: int) -> Play:
    return Play(json.dumps({"explanation": "So.", "verdict": "correct"}))


def test_verdicts_by_their_places(dump: list[Path], tmp_path: Path) -> None:
    with chat_server(verdicts) as server:
        asked = (
            *("judge", *dump, *CHOSEN, "--map", "answers=system"),
            *("--provider", server.engine(), "--cache", tmp_path / "c"),
        )
        done = called(*asked, "--out", tmp_path / "run")
        assert summary_of(done)["inputs"] == identified(dump)
        check_places(tmp_path / "run")
        some = summary_of(called(*asked, "--limit", 2, "--out", tmp_path / "l"))
        # What is not read to its end is identified as well.
        assert some["inputs"] == identified(dump)
        check_places(tmp_path / "l", {name: TAKEN[name] for name in ("a1", "a4")})
        dry = summary_of(called(*asked, "--dry-run"))
    assert [each["path"] for each in dry["inputs"]] == list(map(str, dump))


def test_pairs_by_their_places(dump: list[Path], tmp_path: Path) -> None:
    """A's row, and B's beside it; the question may be that of either."""
    other = write_jsonl(
        tmp_path / "other.jsonl",
        [
            {"id": name, "question": TAKEN[name][2] or "Only here?", "prediction": "Zoe"}
            for name in reversed(TAKEN)
        ],
    )

    def first_wins(body: dict[str, Any], before: int) -> Play:
        return Play(json.dumps({"explanation": "So.", "verdict": "first"}))

    with chat_server(first_wins) as server:
        done = called(
            "judge", "--pairwise", dump[0], other, "--provider", server.engine(),
            "--cache", tmp_path / "c", *CHOSEN, "--out", tmp_path / "run",
        )  # fmt: skip
    assert summary_of(done)["inputs"] == identified([dump[0], other])
    names = ("id", "source", "place", "source_b", "place_b", "question_hash")
    assert [tuple(row[name] for name in names) for row in rows_of(tmp_path / "run")] == [
        ("a1", 0, 1, 1, 6, hash_of("Who wrote it?")),
        ("a4", 0, 4, 1, 5, hash_of("Où est-ce ?")),
        ("a7", 0, 7, 1, 4, hash_of("Only here?")),
        ("a8", 0, 8, 1, 3, hash_of("Only here?")),
    ]


def test_levels_by_their_places(tmp_path: Path) -> None:
    """Of a text that several rows share, and of a row with several questions."""
    rows = [
        {"id": "q0", "text_id": "t", "question": "Who?", "prediction": "Ada", **TEXT},
        {"id": "two", "questions": ["When?", "Where?"], **TEXT, "answers": [["Ada"], ["Bo"]]},
        {"id": "q2", "text_id": "t", "question": "Why?", "prediction": "Bo", **TEXT},
    ]
    first = write_jsonl(tmp_path / "1.jsonl", rows[:1])
    second = tmp_path / "2.jsonl"
    second.write_text("\n" + "".join(json.dumps(row) + "\n\n" for row in rows[1:]))
    answers = write_jsonl(
        tmp_path / "given.jsonl",
        [{"id": name, "prediction": "Ada"} for name in ("q0", "q2", "two/0", "two/1")],
    )
    run = tmp_path / "run"
    options = ("--compressor", "lead", "--reader", f"given:{answers}", "--levels", "0.5,1")
    summary = summary_of(called("levels", first, second, *options, "--out", run))
    assert summary["inputs"] == identified([first, second, answers])
    places = {
        "q0": (0, 1, hash_of("Who?")),
        "q2": (1, 4, hash_of("Why?")),
        "two/0": (1, 2, hash_of("When?")),
        "two/1": (1, 2, hash_of("Where?")),
    }
    found = rows_of(run)
    assert len(found) == 2 * len(places)
    for row in found:
        assert (row["source"], row["place"], row["question_hash"]) == places[row["id"]]
        if row["id"].startswith("q"):
            assert fetched(summary["inputs"], row, "id") == row["id"]
    unwritten = summary_of(called("levels", first, second, *options))
    assert [(each["path"], each["hash"]) for each in unwritten["inputs"]] == [
        (str(path), None) for path in (first, second, answers)
    ]


def commands(dump: object, out: Path) -> dict[str, tuple[object, ...]]:
    """A run of each command that asks no model."""
    lead = ("--compressor", "lead")
    return {
        "score": ("score", dump, "--metrics", "em", "--out", out),
        "compress": ("compress", dump, *lead, "--level", "50%", "--out", out),
        "noise": ("noise", dump, "--kind", "sentences", "--count", 1, "--out", out),
        "levels": ("levels", dump, *lead, "--levels", "0.5", "--out", out),
    }


def texts(path: Path) -> Path:
    rows = [
        {"id": f"r{n}", "question": f"Question {n}?", "prediction": "Ada", **TEXT}
        | {"documents": [f"Ada wrote book number {n}. Nobody else wrote number {n}."]}
        for n in range(4)
    ]
    return write_jsonl(path, rows)


@pytest.mark.parametrize("command", ["score", "compress", "noise", "levels"])
def test_standard_input(command: str, tmp_path: Path) -> None:
    dump = texts(tmp_path / "dump.jsonl")
    (there,) = identified([dump])
    done = odqa_fast(*commands("-", tmp_path / "out")[command], "--format", "json", stdin=dump)
    assert summary_of(done)["inputs"] == [{**there, "path": "standard input"}]


@pytest.mark.parametrize("command", ["score", "compress", "noise", "levels"])
def test_a_run_from_its_own_record(command: str, tmp_path: Path) -> None:
    dump, out = texts(tmp_path / "dump.jsonl"), tmp_path / "out"
    first = summary_of(called(*commands(dump, out)[command], "--format", "json"))
    assert first["inputs"] == identified([dump])
    if command == "noise":
        # Its file is one of rows, without a summary; what is printed is one.
        (tmp_path / "summary.json").write_text(json.dumps(first))
        record = tmp_path / "summary.json"
    else:
        record = out
    before = rows_at(out)
    again = summary_of(called("rerun", record, "--format", "json"))
    assert without_times(again) == without_times(first)
    assert rows_at(out) == before


def test_a_judgement_from_its_own_record(tmp_path: Path) -> None:
    dump, run = texts(tmp_path / "dump.jsonl"), tmp_path / "run"
    with chat_server(verdicts) as server:
        options = ("--provider", server.engine(), "--cache", tmp_path / "c", "--sample", 3)
        first = summary_of(called("judge", dump, *options, "--seed", 1, "--out", run))
        before = rows_at(run)
        # Nothing kept, so that what is asked is the same as well.
        (tmp_path / "c").unlink()
        again = summary_of(called("rerun", run))
    assert without_times(again) == without_times(first)
    assert rows_at(run) == before


def without_times(value: Any) -> Any:
    """A summary without what differs from run to run: seconds, and what is made of them."""
    if isinstance(value, dict):
        timed = ("seconds", "per_second", "tokens")
        return {
            name: without_times(each)
            for name, each in value.items()
            if not name.endswith(timed) and not name.startswith("latency")
        }
    return [without_times(each) for each in value] if isinstance(value, list) else value


def rows_at(out: Path) -> Any:
    """The rows of a run without the seconds they took; bytes of a file that is no Parquet."""
    if out.is_file() and out.read_bytes()[:4] != b"PAR1":
        return out.read_bytes()
    return without_times(rows_of(out))


def test_other_files_that_are_read(tmp_path: Path) -> None:
    """A pool and a manifest are inputs too, after those that rows come from."""
    dump, pool = texts(tmp_path / "dump.jsonl"), tmp_path / "pool.txt"
    pool.write_text("The moon is a long way from here.\nThe sea is deep and cold.\n")
    noisy = tmp_path / "noisy.jsonl"
    noise = ("--kind", "sentences", "--count", 1, "--pool", pool)
    done = called("noise", dump, *noise, "--out", noisy, "--format", "json")
    assert summary_of(done)["inputs"] == identified([dump, pool])
    manifest = tmp_path / "noisy.manifest.jsonl"
    options = ("--compressor", "lead", "--levels", "0.5", "--manifest", manifest)
    run = tmp_path / "run"
    assert summary_of(called("levels", noisy, *options, "--out", run))["inputs"] == identified(
        [noisy, manifest]
    )
    assert {(row["source"], row["place"]) for row in rows_of(run)} == {
        (0, line) for line in range(1, 5)
    }

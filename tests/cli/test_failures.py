"""Covers: models that fail, through the command line: what is written, said, counted, scored, and
asked again. Compared against: what a scripted endpoint on this machine was asked.

Run: pytest tests/cli/test_failures.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import ChatServer, Play, Script, chat_server
from program import Done, called, odqa_fast, refused, rows_of, summary_of, write_jsonl

NAMES = ["ada", "bo", "cy", "di"]
ROWS = [
    {"id": name, "question": f"Who is {name}?", "answers": [name], "documents": [f"I am {name}."]}
    for name in NAMES
]


def said(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def failing(*names: str) -> Script:
    """An endpoint that knows every answer, and refuses what is about some names."""

    def play(body: dict[str, Any], before: int) -> Play:
        (name,) = [each for each in NAMES if f"{each}?" in said(body) or f"{each}." in said(body)]
        return Play(f"no {name} today", 413) if name in names else Play(name)

    return play


def asked(server: ChatServer) -> list[str]:
    return sorted(n for body in server.bodies for n in NAMES if f"Who is {n}?" in said(body))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", ROWS)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """What noise is taken from."""
    path = tmp_path / "pool.txt"
    path.write_text("It rained on the old harbour all day.\nNobody had locked the wide gate.\n")
    return path


def through(server: ChatServer, command: str, *arguments: object) -> Done:
    return called(command, *arguments, "--model", server.engine())


@pytest.mark.parametrize(
    ("command", "column", "stage"),
    [("answer", "prediction", "reader"), ("compress", "summary", "compressor")],
)
def test_failed_rows_are_said_and_asked_again(
    command: str, column: str, stage: str, dump: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    with chat_server(failing("bo", "di")) as server:
        done = through(server, command, dump, "--out", out)
        summary = summary_of(done)
        assert asked(server) == NAMES
        rows = {row["id"]: row for row in pq.read_table(out).to_pylist()}
        assert [rows[name][column] for name in NAMES] == ["ada", None, "cy", None]
        assert rows["bo"][f"{stage}_error"] == "HTTP 413: no bo today"
        assert rows["ada"][f"{stage}_error"] is None
        counts = summary["counts"]
        assert (counts["failed"], counts["finish_error"], counts["error_HTTP_413"]) == (2, 2, 2)
        note = f"2 rows failed and have no {column} ("
        assert summary["notes"][0].startswith(note)
        assert f"note: {note}" in done.stderr
        for reason in ("HTTP 413: no bo today", "HTTP 413: no di today"):
            assert reason in summary["notes"][0]
        assert json.loads(pq.read_schema(out).metadata[b"odqa_fast"]) == summary

        # The same command again: what failed, and only that.
        server.script = failing("di")
        server.bodies.clear()
        counts = summary_of(through(server, command, dump, "--out", out))["counts"]
        assert asked(server) == ["bo", "di"]
        assert (counts["failed"], counts["kept_from_before"]) == (1, 2)
        server.script = failing()
        server.bodies.clear()
        counts = summary_of(through(server, command, dump, "--out", out, "--resume"))["counts"]
        assert asked(server) == ["di"]
        assert (counts.get("failed"), counts["kept_from_before"]) == (None, 3)
        assert pq.read_table(out)[column].to_pylist() == NAMES
        # Nothing failed: nothing is kept any more.
        assert sorted(path.name for path in tmp_path.iterdir()) == ["dump.jsonl", "out.parquet"]


def test_strict_and_nothing_at_all(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with chat_server(failing("bo")) as server:
        strict = through(server, "answer", dump, "--out", out, "--strict")
        assert strict.returncode == 1
        assert "1 rows failed, and --strict was given" in strict.stderr
        assert out.exists()
        assert json.loads(strict.stdout)["counts"]["failed"] == 1
    with chat_server(failing(*NAMES)) as server:
        none = through(server, "answer", dump, "--out", tmp_path / "none.parquet")
        assert none.returncode == 4
        assert "nothing came of any of the rows: 4 of 4 failed" in none.stderr
        assert pq.read_table(tmp_path / "none.parquet")["prediction"].null_count == 4
    with chat_server(failing()) as server:
        assert through(server, "answer", dump, "--out", out, "--strict").returncode == 0


def test_a_cache_outlives_the_run(dump: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.sqlite"
    with chat_server(failing("bo")) as server:
        for out, again in (("a.parquet", NAMES), ("b.parquet", ["bo"])):
            server.bodies.clear()
            place = tmp_path / out
            summary_of(through(server, "answer", dump, "--out", place, "--cache", cache))
            assert asked(server) == again
    first, second = (
        pq.read_table(tmp_path / out)["reader_amortized_seconds"].to_pylist()
        for out in ("a.parquet", "b.parquet")
    )
    # The seconds are those of the time when it was asked.
    assert first == second
    assert not list(tmp_path.glob("*.replies.sqlite"))


# What becomes of the failed rows in the next stage, and in scores


@pytest.fixture
def compressed(dump: Path, tmp_path: Path) -> Path:
    """What compress wrote where one row failed."""
    out = tmp_path / "compressed.parquet"
    with chat_server(failing("bo")) as server:
        summary_of(through(server, "compress", dump, "--out", out))
    return out


def as_jsonl(table: Path) -> Path:
    rows = pq.read_table(table).to_pylist()
    return write_jsonl(table.with_suffix(".jsonl"), rows)


@pytest.mark.parametrize("form", [lambda path: path, as_jsonl])
@pytest.mark.parametrize("context", ["auto", "summary"])
def test_a_failed_compression_is_not_answered(
    form: Callable[[Path], Path], context: str, compressed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    with chat_server(failing()) as server:
        done = through(server, "answer", form(compressed), "--out", out, "--context", context)
        summary = summary_of(done)
        assert asked(server) == ["ada", "cy", "di"]
    assert summary["counts"]["not_asked_after_failure"] == summary["counts"]["failed"] == 1
    why = "no summary: HTTP 413: no bo today"
    assert f"1 rows were not asked and have no prediction ({why})." in summary["notes"]
    row = pq.read_table(out).to_pylist()[1]
    assert (row["prediction"], row["reader_error"]) == (None, why)
    with chat_server(failing()) as server:
        # Asked for by name, the documents are read.
        documents = ("--context", "documents", "--out", tmp_path / "d.parquet")
        summary = summary_of(through(server, "answer", compressed, *documents))
        assert "failed" not in summary["counts"]
        assert asked(server) == NAMES


def test_where_no_row_was_compressed_none_is_answered(tmp_path: Path) -> None:
    lost = [{"question": row["question"], "compressor_error": "HTTP 500: oops"} for row in ROWS]
    dump = write_jsonl(tmp_path / "lost.jsonl", lost)
    with chat_server(failing()) as server:
        done = through(server, "answer", dump, "--out", tmp_path / "out.parquet")
        assert asked(server) == []
    assert done.returncode == 4
    assert "nothing came of any of the rows: 4 of 4 failed" in done.stderr
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert {row["reader_error"] for row in rows} == {"no summary: HTTP 500: oops"}


def test_standard_input_is_read_once(compressed: Path, tmp_path: Path) -> None:
    with chat_server(failing()) as server:
        command = ("answer", "-", "--model", server.engine(), "--out", tmp_path / "out.parquet")
        summary = summary_of(odqa_fast(*command, stdin=compressed))
        assert asked(server) == ["ada", "cy", "di"]
    assert summary["counts"]["not_asked_after_failure"] == 1


def test_a_row_without_a_summary_among_rows_with_one(tmp_path: Path) -> None:
    """In whatever order they stand, and however far apart."""
    several = [dict(ROWS[0], summary="I am ada."), *ROWS[1:]]
    for name, rows in (("first", several), ("last", several[::-1])):
        dump = write_jsonl(tmp_path / f"{name}.jsonl", rows)
        with chat_server(failing()) as server:
            out = tmp_path / f"{name}.parquet"
            counts = summary_of(through(server, "answer", dump, "--out", out))["counts"]
            assert asked(server) == ["ada"]
        assert counts["not_asked_after_failure"] == 3
    folder = tmp_path / "folder"
    folder.mkdir()
    write_jsonl(folder / "1.jsonl", ROWS[1:])
    write_jsonl(folder / "2.jsonl", several[:1])
    with chat_server(failing()) as server:
        summary_of(through(server, "answer", folder, "--out", tmp_path / "f.parquet"))
        assert asked(server) == ["ada"]


def test_blank_summaries_are_counted(tmp_path: Path) -> None:
    rows = [dict(row, summary=" " if row["id"] == "bo" else "Text.") for row in ROWS]
    dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    with chat_server(failing()) as server:
        done = summary_of(through(server, "answer", dump, "--out", tmp_path / "o.parquet"))
    assert done["counts"]["blank_summaries"] == 1
    assert any(note.startswith("1 rows have a blank summary") for note in done["notes"])
    with chat_server(Play(" ")) as server:
        # An endpoint that says nothing has failed.
        blank = through(server, "compress", dump, "--out", tmp_path / "c.parquet")
    assert blank.returncode == 4
    assert "4 rows failed and have no summary (empty reply: there is no text)." in blank.stderr
    scores = summary_of(called("score", dump, "-m", "cr", "--format", "json"))
    assert scores["counts"]["blank_summaries"] == 1
    assert "1 summaries are blank." in scores["notes"]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_scores_count_failed_predictions_apart(suffix: str, dump: Path, tmp_path: Path) -> None:
    """Of ada, cy and di with an answer each, and bo with a failure: 3/4, or 3/3."""
    out = tmp_path / "out.parquet"
    with chat_server(failing("bo")) as server:
        summary_of(through(server, "answer", dump, "--out", out))
    table = out
    if suffix == ".jsonl":
        table = as_jsonl(out)
    elif suffix == ".csv":
        import pyarrow.csv

        columns = pq.read_table(out).select(["id", "prediction", "reader_error"])
        table = tmp_path / "out.csv"
        pyarrow.csv.write_csv(columns, table)
    command = ("score", table, "-m", "em", "--answers", dump, "--format", "json")
    for failed, mean, n, words in (
        ([], 0.75, 4, "1 predictions count 0 because a model failed"),
        (["--failed", "zero"], 0.75, 4, "1 predictions count 0 because a model failed"),
        (["--failed", "null"], 1.0, 3, "1 predictions are in no mean because a model failed"),
    ):
        done = called(*command, *failed, "--out", tmp_path / "run")
        summary = summary_of(done)
        em = summary["metrics"]["em"]
        assert (em["mean"], em["n_scored"]) == (mean, n)
        assert summary["counts"]["failed_predictions"] == 1
        (note,) = [note for note in summary["notes"] if "model failed" in note]
        assert note.startswith(words)
        assert "HTTP 413: no bo today" in note
        assert note in done.stderr
        assert ("|failed:null|" in em["signature"]) == (n == 3)
        assert [row["em"] for row in rows_of(tmp_path / "run")][1] == (0.0 if n == 4 else None)


def test_a_judge_says_what_failed_before_it(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with chat_server(failing("bo")) as server:
        summary_of(through(server, "answer", dump, "--out", out))
    with chat_server(Play('{"verdict": "correct"}')) as server:
        summary = summary_of(
            called(
                *("judge", out, "--provider", server.engine(), "--format", "json"),
                *("--cache", tmp_path / "c.sqlite"),
            )
        )
        assert len(server.bodies) == 3
    assert summary["counts"]["failed_predictions"] == 1
    (note,) = [note for note in summary["notes"] if "model failed" in note]
    assert note.startswith("1 predictions are missing because a model failed")
    assert "HTTP 413: no bo today" in note


def test_what_is_null_without_an_error_is_no_failure(tmp_path: Path) -> None:
    rows = [{"answers": ["a"], "prediction": None}, {"answers": ["a"], "prediction": "a"}]
    dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    summary = summary_of(called("score", dump, "-m", "em", "--failed", "null", "-f", "json"))
    assert "failed_predictions" not in summary["counts"]
    assert summary["metrics"]["em"]["mean"] == 0.5
    assert "failed" not in summary["metrics"]["em"]["signature"]


def test_cr_says_over_how_many_rows_it_is(compressed: Path) -> None:
    summary = summary_of(called("score", compressed, "-m", "cr,par", "-f", "json"))
    # "ada" of "I am ada.", 3 of 9; "cy" and "di", 2 of 8.
    assert summary["metrics"]["cr"]["mean"] == pytest.approx((3 / 9 + 2 / 8 + 2 / 8) / 3)
    assert "cr is over 3 of 4 rows (1 without a summary)." in summary["notes"]
    assert summary["metrics"]["par"]["mean"] == 0.75
    left_out = summary_of(
        called("score", compressed, "-m", "cr,par", "-f", "json", "--failed", "null")
    )
    assert left_out["metrics"]["par"]["mean"] == 1.0
    assert left_out["counts"]["failed_summaries"] == 1


# levels and noise


def test_levels_say_what_failed_and_ask_only_that_again(dump: Path, tmp_path: Path) -> None:
    with chat_server(failing("bo", "di")) as server:
        command = (
            *("levels", dump, "--levels", "1", "--compressor", "none", "--metric", "em"),
            *("--reader", server.engine(), "--cache", tmp_path / "c.sqlite", "--format", "json"),
        )
        done = called(*command)
        summary = summary_of(done)
        assert summary["counts"]["failed_answers"] == 2
        (note,) = [note for note in summary["notes"] if "no answer" in note]
        assert note.startswith("2 questions have no answer and score 0 (")
        assert "HTTP 413: no bo today" in note
        assert note in done.stderr
        assert summary["metrics"]["level_score"]["mean"] == 0.5
        server.script = failing("di")
        server.bodies.clear()
        summary = summary_of(called(*command))
        assert asked(server) == ["bo", "di"]
        assert summary["counts"]["kept_from_before"] == 2
        assert summary["metrics"]["level_score"]["mean"] == 0.75
        compress = (
            *("levels", dump, "--levels", "1", "--compressor", server.engine()),
            *("--reader", server.engine(), "--cache", tmp_path / "c.sqlite", "--format", "json"),
        )
        summary = summary_of(called(*compress))
        assert summary["counts"]["failed_compressions"] == 1
        (note,) = [note for note in summary["notes"] if "compressions" in note]
        assert note == "1 compressions failed and score 0 (HTTP 413: no di today)."


def test_levels_of_which_something_or_nothing_came(dump: Path, tmp_path: Path) -> None:
    for names, code, words in (
        (["bo"], 1, "1 {} failed, and --strict was given"),
        (NAMES, 4, "nothing came of any of the {}: 4 of 4 failed"),
    ):
        with chat_server(lambda body, before, names=names: _blank(body, names)) as server:
            for roles, what in (
                (["--compressor", "none", "--reader", server.engine()], "answers"),
                (["--compressor", server.engine(), "--reader", server.engine()], "compressions"),
            ):
                done = called(
                    *("levels", dump, "--levels", "1", *roles, "--strict", "--retries", 0),
                    *("--out", tmp_path / what, "--cache", tmp_path / "c.sqlite"),
                )
                assert done.returncode == code
                assert words.format(what) in done.stderr
                assert len(rows_of(tmp_path / what)) == 4
                counts = json.loads(done.stdout)["counts"]
                assert counts[f"failed_{what}"] == len(names)
                assert counts["compressions"] == 4


def _blank(body: dict[str, Any], names: list[str]) -> Play:
    """What some get no reply to."""
    play = failing(*names)(body, 0)
    return Play("") if play.status != 200 else play


def test_generated_questions_are_kept(dump: Path, pool: Path, tmp_path: Path) -> None:
    def play(body: dict[str, Any], before: int) -> Play:
        (name,) = [each for each in NAMES if f"I am {each}." in said(body)]
        if name in fails:
            return Play(f"no {name} today", 413)
        return Play(json.dumps({"questions": [{"question": "Who am I?", "answer": name}]}))

    fails = {"cy"}
    with chat_server(play) as server:
        command = (
            *("noise", dump, "--pool", pool, "--out", tmp_path / "noisy.jsonl", "--format", "json"),
            *("--generate-questions", "1", "--cache", tmp_path / "c.sqlite"),
        )
        summary = summary_of(through(server, *map(str, command)))
        assert summary["questions"]["kept"] == 3
        assert "1 texts got no reply (HTTP 413: no cy today)." in summary["notes"]
        fails.clear()
        server.bodies.clear()
        summary = summary_of(through(server, *map(str, command)))
        assert len(server.bodies) == 1
        assert summary["questions"]["kept"] == 4
        assert summary["questions"]["kept_from_before"] == 3
        fails.update(NAMES)
        command = (*command[:-1], tmp_path / "another.sqlite")
        done = through(server, *map(str, command))
        refused(done, 4, "no text got a question", "HTTP 413: no ada today")


# Refused rows; of every command: test_reading.py


BAD = '{"id": {"a": 1}, "question": "Who is bad?", "answers": ["x"], "documents": ["y"]}\n'


def test_rejected_rows_of_an_older_run_do_not_stay(dump: Path, pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.jsonl"
    beside = tmp_path / "noisy.jsonl.rejected.jsonl"
    bad = tmp_path / "bad.jsonl"
    bad.write_text(dump.read_text() + BAD)
    command = ("noise", bad, "--pool", pool, "--on-error", "skip", "--out", out)
    assert called(*command).returncode == 0
    assert beside.exists()
    assert called("noise", dump, "--pool", pool, "--out", out).returncode == 0
    assert not beside.exists()

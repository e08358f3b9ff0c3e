"""Covers: odqa-fast judge, its outputs, exit codes and messages, and where a key may not stand.

Compared against: what a scripted endpoint was told to play. Run: pytest tests/cli/test_judge.py
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import tiny
from chat_server import Play, chat_server
from program import called, odqa_fast, refused, summary_of, write_jsonl

from odqa_fast.export import export
from odqa_fast.judge.rubrics import bundled_names

KEY = "sk-test-0123456789abcdef"

ROWS = [
    {"id": "r1", "question": "Who?", "answers": ["Ada"], "prediction": "Ada", "human": True},
    {"id": "r2", "question": "Who?", "answers": ["Ada"], "prediction": "Eve", "human": False},
    {"id": "r3", "question": "Who?", "answers": ["Ada"], "prediction": "odd", "human": False},
]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", ROWS)


def by_name(body: dict[str, Any], before: int) -> Play:
    """Ada is right, whatever is odd gets no verdict, all else is wrong."""
    prompt = body["messages"][-1]["content"].partition("The prediction to grade:")[2]
    if ">\nodd\n<" in prompt:
        return Play("I wonder.")
    label = "correct" if ">\nAda\n<" in prompt else "incorrect"
    return Play(json.dumps({"explanation": "So it is.", "verdict": label}))


def test_a_dump_is_judged_and_judged_again_without_asking(dump: Path, tmp_path: Path) -> None:
    cache, out = tmp_path / "replies.sqlite", tmp_path / "run"
    with chat_server(by_name) as server:
        arguments = ("judge", dump, "--provider", server.engine(), "--cache", cache)
        done = odqa_fast(*arguments, "--out", out, "--price", "1,2")
        summary = summary_of(done)
        assert len(server.bodies) == 3
    assert done.stderr == (
        "odqa-fast: note: judge: 1 rows have no verdict (no verdict 1), and its mean is that of "
        "the others.\n"
    )
    metric = summary["metrics"]["judge"]
    assert (metric["mean"], metric["n_scored"], metric["n_failed"]) == (0.5, 2, 1)
    assert (metric["if_failed_0"], metric["if_failed_1"]) == (1 / 3, 2 / 3)
    assert metric["signature"].startswith(f"judge/2|judge:{server.engine()};temperature:0|prompt:")
    assert summary["metrics"]["em"]["mean"] == pytest.approx(1 / 3)
    assert summary["judge"]["usage"]["cost"] == pytest.approx(3 * (10 + 2 * 5) / 1e6)
    assert json.loads((out / "summary.json").read_text()) == summary
    table = pq.read_table(out / "scores.parquet")
    assert table["judge.label"].to_pylist() == ["correct", "incorrect", None]
    assert table["judge.explanation"].to_pylist() == ["So it is.", "So it is.", "I wonder."]
    # The endpoint is gone by now.
    replayed = summary_of(odqa_fast(*arguments, "--replay"))
    assert replayed["metrics"] == summary["metrics"]
    assert replayed["judge"]["usage"]["cache_hit_share"] == 1
    table_text = odqa_fast(*arguments, "--replay", "--format", "table").stdout
    for shown in ("0.5000", "no verdict 1", "people", "kappa", "verbosity", "cache hits 3"):
        assert shown in table_text
    (row, *_) = csv.DictReader(
        io.StringIO(odqa_fast(*arguments, "--replay", "--format", "csv").stdout)
    )
    assert (row["metric"], row["mean"]) == ("judge", "0.5")


def test_strict_is_a_gate(dump: Path, tmp_path: Path) -> None:
    with chat_server(by_name) as server:
        arguments = ("--provider", server.engine(), "--cache", tmp_path / "c", "--strict")
        done = odqa_fast("judge", dump, *arguments)
        assert odqa_fast("judge", dump, *arguments, "--limit", 2).returncode == 0
    assert done.returncode == 1
    assert json.loads(done.stdout)["metrics"]["judge"]["n_failed"] == 1
    assert "1 verdicts failed" in done.stderr


def test_the_key_stands_in_no_file_and_no_output(dump: Path, tmp_path: Path) -> None:
    env = {"ODQA_FAST_API_KEY": KEY}

    def leaky(body: dict[str, Any], before: int) -> Play:
        return by_name(body, before) if before < 3 else Play(f"no credit for {KEY}", 402)

    with chat_server(leaky) as server:
        arguments = ("--provider", server.engine(), "--cache", tmp_path / "c")
        fine = odqa_fast("judge", dump, *arguments, "--out", tmp_path / "run", **env)
        assert fine.returncode == 0
        poor = odqa_fast("judge", dump, *arguments, "--rubric", "reference-free", **env)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    refused(poor, 4, "asks for payment", "no credit for ***", "What came before is kept in")
    for done in (fine, poor):
        assert KEY not in done.stdout + done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"c", "scores.parquet", "summary.json"} <= {path.name for path in files}
    for path in files:
        assert KEY.encode() not in path.read_bytes()


def test_a_dry_run_says_what_would_be_asked(dump: Path, tmp_path: Path) -> None:
    with chat_server(by_name) as server:
        arguments = ("judge", dump, "--provider", server.engine(), "--cache", tmp_path / "c")
        summary = summary_of(odqa_fast(*arguments, "--dry-run", "--price", "1,2"))
        shown = odqa_fast(*arguments, "--dry-run", "--format", "table").stdout
        lines = odqa_fast(*arguments, "--dry-run", "--price", "1,2", "--format", "csv").stdout
        assert server.bodies == []
    (plan,) = summary["dry_run"]
    assert (plan["judge"], plan["rubric"], plan["to_ask"]) == ("test-judge", "correctness", 3)
    assert 0 < plan["cost_asked_once"] < plan["cost_at_most"]
    assert "test-judge" in shown
    (row,) = csv.DictReader(lines.splitlines())
    assert row == {"rows": "3"} | {name: str(value) for name, value in plan.items()}


def test_pairs(tmp_path: Path) -> None:
    for name, text in (("a", "Ada"), ("b", "Eve")):
        write_jsonl(tmp_path / name, [{"id": "1", "question": "Who?", "prediction": text}])
    with chat_server(Play('{"winner": "first"}')) as server:
        done = odqa_fast(
            "judge", "--pairwise", tmp_path / "a", tmp_path / "b", "--provider", server.engine(),
            "--cache", tmp_path / "c", "--system", "test-judge-v2", "--system", "other",
        )  # fmt: skip
    summary = summary_of(done)
    assert summary["metrics"]["win_rate"]["mean"] == 0.5
    assert summary["judge"]["bias"]["win_rate"]["position_flips"]["value"] == 1
    assert "may prefer its own kin" in done.stderr


def test_a_prompt_of_ones_own(dump: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "mine.toml"
    prompt.write_text(
        'id = "mine"\nversion = 7\n'
        'user = "The prediction to grade: {prediction} Is it {answers}?"\n'
    )
    with chat_server(by_name) as server:
        arguments = ("judge", dump, "--provider", server.engine(), "--cache", tmp_path / "c")
        summary = summary_of(odqa_fast(*arguments, "--prompt", f"correctness={prompt}"))
        shown = server.bodies[0]["messages"]
    assert "|prompt:mine/7@" in summary["metrics"]["judge"]["signature"]
    assert [turn["role"] for turn in shown] == ["user"]
    assert summary["metrics"]["judge"]["mean"] == 0.5


def test_a_rubric_of_ones_own(dump: Path, tmp_path: Path) -> None:
    """Of Ada 4, of Eve 2, of odd nothing, from 1 to 5: (0.75 + 0.25) / 2."""
    rubric = tmp_path / "style.toml"
    rubric.write_text(
        'id = "style"\nversion = 3\nuser = "How well is this said? {prediction}"\n'
        "[rubric]\nscale = [1, 5]\n"
    )

    def graded(body: dict[str, Any], before: int) -> Play:
        prompt = body["messages"][-1]["content"]
        found = [n for name, n in (("Ada", 4), ("Eve", 2)) if f">\n{name}\n<" in prompt]
        return Play(json.dumps({"explanation": "So it is.", "verdict": found[0]} if found else {}))

    with chat_server(graded) as server:
        arguments = ("judge", dump, "--provider", server.engine(), "--cache", tmp_path / "c")
        summary = summary_of(odqa_fast(*arguments, "--rubric", rubric, "--out", tmp_path / "run"))
        table = odqa_fast(*arguments, "--rubric", rubric, "--replay", "--format", "table").stdout
    metric = summary["metrics"]["style"]
    assert (metric["mean"], metric["n_scored"], metric["n_failed"]) == (0.5, 2, 1)
    assert metric["verdicts"] == {"5": 0, "4": 1, "3": 0, "2": 1, "1": 0}
    assert "|prompt:style/3@" in metric["signature"]
    assert "|rubric:" in metric["signature"]
    assert "4 1, 3 0, 2 1" in table
    rows = pq.read_table(tmp_path / "run" / "scores.parquet").to_pylist()
    assert [(row["style"], row["style.label"]) for row in rows] == [
        (0.75, "4"),
        (0.25, "2"),
        (None, None),
    ]


def test_a_run_without_a_reply_exits_with_4(dump: Path, tmp_path: Path) -> None:
    with chat_server(Play("oops", 500)) as server:
        arguments = ("judge", dump, "--provider", server.engine(), "--cache", tmp_path / "c")
        done = odqa_fast(*arguments, "--retries", 0, "--out", tmp_path / "run")
        replayed = odqa_fast(*arguments, "--replay")
    assert (done.returncode, replayed.returncode) == (4, 4)
    assert json.loads(done.stdout)["metrics"]["judge"]["failures"] == {"HTTP 500": 3}
    assert "nothing came of any of the verdicts: 3 of 3 failed" in done.stderr
    # It is written all the same.
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == json.loads(done.stdout)


def test_the_help_names_the_rubrics_that_there_are() -> None:
    shown = " ".join(called("judge", "--help").stdout.split())
    for name in bundled_names():
        assert name in shown


def test_a_run_is_repeated_from_its_record(dump: Path, tmp_path: Path) -> None:
    with chat_server(by_name) as server:
        first = odqa_fast(
            "judge", dump, "--provider", server.engine(), "--cache", tmp_path / "c",
            "--out", tmp_path / "run", "--price", "1,2", "--map", "prediction=prediction",
            "--rubric", "correctness,reference-free", "--system", "x", "--limit", 2,
        )  # fmt: skip
        again = odqa_fast("rerun", tmp_path / "run", "--out", tmp_path / "again")
    summary, repeated = summary_of(first), summary_of(again)
    assert repeated["metrics"] == summary["metrics"]
    assert repeated["job"] == {**summary["job"], "out": str(tmp_path / "again")}
    assert repeated["judge"]["usage"]["cache_hits"] == 4


def test_rows_that_are_read_otherwise_are_counted_in_a_dry_run_too(
    dump: Path, tmp_path: Path
) -> None:
    with dump.open("ab") as file:
        file.write(b'{"id": "r4", "question": "Who?", "answers": ["Ada"], "prediction": "\xff"}\n')
        file.write(b"{no json\n")
    done = odqa_fast(
        "judge", dump, "--provider", "http:http://127.0.0.1:9/v1#m", "--cache", tmp_path / "c",
        "--dry-run", "--on-error", "skip", "--encoding-errors", "replace",
    )  # fmt: skip
    summary = summary_of(done)
    assert summary["counts"] == {"rows": 4, "rejected": 1, "replaced_encodings": 1}
    assert "note: 1 rows were rejected and are left out.\n" in done.stderr
    assert summary["dry_run"][0]["requests"] == 4


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, ["no judge", "--provider http:"]),
        (["--provider", "http:localhost#m"], 2, ["is no http:<base-url>#<model>"]),
        (["--provider", "grpc:x"], 2, ["no engine 'grpc'"]),
        (["--provider", "http:http://h/v1#m", "--rubric", "style"], 2, ["no rubric 'style'"]),
        (["--provider", "http:http://h/v1#m", "--price", "cheap"], 2, ["--price 'cheap'"]),
        (["--provider", "http:http://h/v1#m", "--price", "1,x"], 2, ["--price '1,x'"]),
        (["--provider", "http:http://h/v1#m", "--price", "nan,1"], 2, ["--price 'nan,1'"]),
        (["--temperature", "nan"], 2, ["--temperature has to be a finite number", "nan"]),
        (["--temperature", "inf"], 2, ["--temperature has to be a finite number", "inf"]),
        (["--timeout", "inf"], 2, ["--timeout has to be a finite number"]),
        (
            ["--provider", "http:http://h/v1#m", "--key-env", "ODQA_FAST_NO_SUCH_KEY"],
            2,
            ["--key-env ODQA_FAST_NO_SUCH_KEY", "no such"],
        ),
        (["--provider", "http:http://h/v1#m", "--rubric", ""], 2, ["a rubric is missing"]),
        (["--context", "summary"], 2, ["--context is for --rubric faithfulness"]),
        (["--rubric", "faithfulness", "--partial", "0.4"], 2, ["--partial is for"]),
        (["--prompt", "correctness=a", "--prompt", "correctness=b"], 2, ["two values"]),
        (
            ["--provider", "http:http://h/v1#m", "--prompt", "faithfulness=x.toml"],
            2,
            ["'faithfulness', which is not asked", "Asked: correctness"],
        ),
        (["--provider", "http:http://h/v1#m", "--prompt", "x.toml"], 2, ["RUBRIC=FILE.toml"]),
        (["--provider", "http:http://h/v1#m", "--prompt", "correctness=x.toml"], 2, ["x.toml"]),
        (["--provider", "http:http://h/v1#m", "--map", "prediction=y"], 2, ["'y'"]),
        (["--provider", "http:http://h/v1#m", "--system", "a", "--system", "b"], 2, ["2 times"]),
        (["--provider", "http:http://h/v1#m", "--pairwise", "a", "b"], 2, ["another one is named"]),
        (["--provider", "http:http://h/v1#m"] * 2, 2, ["stands twice"]),
        (
            ["--provider", "http:http://h/v1#m", "--rubric", "pairwise"],
            2,
            ["--rubric pairwise compares two dumps: --pairwise A B"],
        ),
        (["--provider", "http:http://h/v1#m", "--rubric", "x.toml"], 2, ["x.toml", "rubric"]),
        (
            ["--provider", "http:http://127.0.0.1:9/v1#m", "--retries", "0"],
            4,
            ["cannot be reached"],
        ),
    ],
)
def test_errors_say_what_would_work(
    dump: Path, tmp_path: Path, arguments: list[str], code: int, said: list[str]
) -> None:
    refused(odqa_fast("judge", dump, *arguments, "--cache", tmp_path / "c"), code, *said)


def test_no_dump_and_a_file_that_is_no_cache(dump: Path, tmp_path: Path) -> None:
    provider = ("--provider", "http:http://h/v1#m")
    refused(odqa_fast("judge", *provider, "--cache", tmp_path / "c"), 2, "no dump to judge")
    for option in (("--rubric", "faithfulness"), ("--context", "summary"), ("--partial", 0.4)):
        done = odqa_fast("judge", *provider, "--pairwise", dump, dump, *option)
        refused(done, 2, f"{option[0]} ")
    (tmp_path / "text").write_text("no database, but as long as the head of one would be" * 9)
    refused(
        odqa_fast("judge", dump, *provider, "--cache", tmp_path / "text"),
        3,
        "is no cache",
        "--cache",
    )


def test_the_compressor_and_the_reader_may_be_an_endpoint(tmp_path: Path) -> None:
    dump = write_jsonl(
        tmp_path / "d.jsonl",
        [
            {"id": "1", "question": "Who?", "answers": ["Ada"], "documents": ["Ada did."]},
            {"id": "2", "question": "When?", "answers": ["1843"], "documents": ["In 1843."]},
        ],
    )
    with chat_server(
        lambda body, before: Play("In short." if "In 1843." in str(body) else "Ada, short.")
    ) as server:
        done = odqa_fast(
            "compress", dump, "--model", server.engine(), "--out", tmp_path / "c.parquet"
        )
        assert done.returncode == 0, done.stderr
        table = pq.read_table(tmp_path / "c.parquet")
        assert table["summary"].to_pylist() == ["Ada, short.", "In short."]
    with chat_server(Play("Ada\nBecause")) as server:
        done = odqa_fast(
            "answer", tmp_path / "c.parquet", "--model", server.engine(),
            "--out", tmp_path / "a.parquet",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "a.parquet")["prediction"].to_pylist() == ["Ada", "Ada"]
    # Requests run side by side, so they may come in any order.
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    assert sorted(text.split("\n")[0] for text in asked) == ["Ada, short.", "In short."]


def test_a_model_folder_may_judge(dump: Path, tmp_path: Path) -> None:
    """Of random weights no verdict can come; but every row has its reason, and is kept."""
    config = tiny.llama_config(max_position_embeddings=4096)
    weights = tiny.llama_weights(config)
    export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "model", dtype="fp32")
    prompt = tmp_path / "short.toml"
    prompt.write_text(
        'id = "short"\nversion = 1\nuser = "{prediction} {answers}"\nmax_new_tokens = 4\n'
    )
    arguments = (
        "judge", dump, "--provider", f"onnx:{tmp_path / 'model'}", "--cache", tmp_path / "c",
        "--prompt", f"correctness={prompt}",
    )  # fmt: skip
    first = summary_of(odqa_fast(*arguments))
    metric = first["metrics"]["judge"]
    assert (metric["n_scored"], metric["n_failed"]) == (0, 3)
    assert set(metric["failures"]) <= {"cut off", "no verdict"}
    assert first["judge"]["usage"]["tokens_in"] > 0
    again = summary_of(odqa_fast(*arguments, "--replay"))
    assert again["judge"]["usage"]["cache_hit_share"] == 1
    assert again["metrics"] == first["metrics"]
    (plan,) = summary_of(odqa_fast(*arguments, "--dry-run"))["dry_run"]
    assert (plan["to_ask"], plan["tokens_in_counted"]) == (0, True)


def thinking(body: dict[str, Any], before: int) -> Play:
    """A model that thinks for 100 tokens, and about Cuzco without end."""
    thought = '<think>\nOne could say {"verdict": "correct"}.'
    short = body["max_tokens"] < 1000
    if "stop" in body:
        return Play("<think>")
    if short or "Cuzco" in str(body):
        return Play(thought, finish="length")
    return Play(f"{thought}</think>\n\nLima\nPeru")


def test_a_reader_may_think_before_it_answers(tmp_path: Path) -> None:
    questions = [{"id": "1", "question": "Lima?"}, {"id": "2", "question": "Cuzco?"}]
    dump = write_jsonl(tmp_path / "d.jsonl", questions)
    with chat_server(thinking) as server:
        out = tmp_path / "a.parquet"
        odqa_fast("answer", dump, "--model", server.engine(), "--out", out)
    lima, cuzco = pq.read_table(out).to_pylist()
    assert (lima["prediction"], lima["reader_finish"]) == ("Lima", "stop")
    assert (cuzco["prediction"], cuzco["reader_finish"]) == (None, "error")
    assert cuzco["reader_error"].startswith("cut off: the thought did not end")
    assert lima["reader_thought"] == cuzco["reader_thought"]
    assert lima["reader_thought"].startswith("One could say")


def test_a_judge_that_is_cut_off_in_its_thought_is_asked_again(tmp_path: Path) -> None:
    dump = write_jsonl(
        tmp_path / "d.jsonl",
        [{"question": "Where?", "answers": ["Paris"], "prediction": "Lyon"}],
    )
    thought = '<think>The form is {"verdict": "correct"}. The prediction says Lyon'
    whole = f'{thought}.</think>{{"explanation": "names Lyon", "verdict": "incorrect"}}'
    for plays, mean in (
        ([Play(thought, finish="length"), Play(whole)], 0.0),
        ([Play(thought)], None),
    ):
        with chat_server(plays) as server:
            done = odqa_fast(
                "judge", dump, "--provider", server.engine(), "--out", tmp_path / "run",
                "--cache", tmp_path / f"{mean}.sqlite",
            )  # fmt: skip
        assert summary_of(done)["metrics"]["judge"]["mean"] == mean
        limits = [body["max_tokens"] for body in server.bodies]
        assert limits == [limits[0] * times for times in (1, 4, 16)][: len(limits)]
        (row,) = pq.read_table(tmp_path / "run" / "scores.parquet").to_pylist()
        assert row["judge.failure"] == (None if mean == 0 else "cut off")
        assert row["judge.thought"].startswith("The form is")

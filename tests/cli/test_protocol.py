"""Covers: odqa-fast noise and levels as a user runs them. Compared against: the library's own
results on the same rows, restored files, exit codes. Run: pytest tests/cli/test_protocol.py
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from chat_server import Play, chat_server
from island import rows
from program import odqa_fast, refused, rows_of, summary_of, write_jsonl


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", rows(30))


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        table: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return table
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("kind", [["sentences", "--count", 2], ["documents"], ["factual"]])
def test_noisy_rows_and_their_manifest(
    dump: Path, tmp_path: Path, suffix: str, kind: list[object]
) -> None:
    out = tmp_path / "new" / f"noisy.{suffix}"
    done = odqa_fast("noise", dump, "--kind", *kind, "--rare", 0, "--seed", 3, "--out", out)
    summary = summary_of(done)
    assert summary["counts"]["rows"] == 30
    noisy, manifest = read(out), read(out.with_name(f"noisy.manifest.{suffix}"))
    assert [row["id"] for row in manifest] == [row["id"] for row in noisy]
    assert sum(len(row["pieces"]) for row in manifest) == summary["counts"]["pieces"] > 0
    for before, after, noted in zip(rows(30), noisy, manifest, strict=True):
        texts = [document["text"] for document in after["documents"]]
        for piece in sorted(noted["pieces"], key=lambda piece: -piece["start"]):
            at, start, end = piece["document"], piece["start"], piece["end"]
            was = (piece["replaced"] or {"text": ""})["text"]
            texts[at] = texts[at][:start] + was + texts[at][end:]
        kept = [text for text in texts if text]  # an added document leaves nothing
        assert kept == [document["text"] for document in before["documents"]]
        assert after["question"] == before["question"]
    again = tmp_path / f"again.{suffix}"
    odqa_fast(
        "noise", dump, "--kind", *kind, "--rare", 0, "--seed", 3, "--out", again, "--threads", 4
    )
    assert again.read_bytes() == out.read_bytes()


def test_csv_has_the_counts_that_json_has(dump: Path, tmp_path: Path) -> None:
    counts, lines = (
        odqa_fast("noise", dump, "--format", fmt, "--out", tmp_path / "noisy.jsonl").stdout
        for fmt in ("json", "csv")
    )
    (row,) = csv.DictReader(lines.splitlines())
    assert {name: int(n) for name, n in row.items()} == json.loads(counts)["counts"]


def test_the_manifest_scores_summaries(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.jsonl"
    summary_of(odqa_fast("noise", dump, "--count", 2, "--rare", 0, "--out", out))
    kept = [{"id": row["id"], "summary": row["documents"][0]["text"]} for row in read(out)]
    summaries = write_jsonl(tmp_path / "summaries.jsonl", kept)
    manifest = tmp_path / "noisy.manifest.jsonl"
    done = odqa_fast(
        "score", summaries, "--answers", manifest, "--metrics", "noise_removed,evidence_kept"
    )
    metrics = summary_of(done)["metrics"]
    # The first of three documents holds one of two sentences with an answer, and the noise that
    # was put into it.
    assert metrics["evidence_kept"]["mean"] == 0.5
    removed = [sum(piece["document"] != 0 for piece in row["pieces"]) / 2 for row in read(manifest)]
    assert metrics["noise_removed"]["mean"] == pytest.approx(sum(removed) / 30)


def test_levels_on_noisy_rows(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "noisy.jsonl"
    summary_of(odqa_fast("noise", dump, "--count", 2, "--rare", 0, "--out", out))
    done = odqa_fast(
        "levels", out, "--manifest", tmp_path / "noisy.manifest.jsonl", "--levels", "20,40,60%",
        "--compressor", "oracle", "--out", tmp_path / "run",
    )  # fmt: skip
    summary = summary_of(done)
    assert "whatever the compressed text says" in done.stderr
    assert list(summary["levels"]) == ["noisy", "clean"]
    assert [level["level"] for level in summary["levels"]["noisy"]["levels"]] == [0.2, 0.4, 0.6]
    assert summary["levels"]["noisy"]["levels"][1]["noise_removed"] == 1.0
    assert summary["metrics"]["level_score"]["mean"] == 1.0  # the predictions are right
    found = rows_of(tmp_path / "run")
    assert len(found) == 2 * 3 * 30
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary


def test_levels_by_percent_and_by_fraction_are_the_same(dump: Path) -> None:
    percent, fraction = (
        summary_of(odqa_fast("levels", dump, "--levels", levels))["levels"]
        for levels in ("20,40,60", "0.2,0.4,0.6")
    )
    assert percent == fraction


def test_levels_add_noise_themselves(dump: Path) -> None:
    done = odqa_fast("levels", dump, "--noise", "sentences", "--noise-share", "30%", "--no-clean")
    summary = summary_of(done)
    assert list(summary["levels"]) == ["noisy"]
    assert "share=0.3" in summary["noise"]


def test_given_answers_with_an_id_twice_are_refused(dump: Path, tmp_path: Path) -> None:
    answers = write_jsonl(tmp_path / "a.jsonl", [{"id": "a", "prediction": p} for p in "xy"])
    done = odqa_fast("levels", dump, "--reader", f"given:{answers}")
    refused(done, 3, f"{answers}: id 'a' stands twice")
    twice = write_jsonl(tmp_path / "twice.jsonl", [r | {"id": "a"} for r in rows(2)])
    refused(odqa_fast("levels", twice), 3, f"{twice}: id 'a' stands twice with different")


def test_a_compressor_that_keeps_all_fails_every_level(dump: Path) -> None:
    summary = summary_of(odqa_fast("levels", dump, "--compressor", "none"))
    for level in summary["levels"]["text"]["levels"]:
        assert (level["score"], level["compliance"], level["par"]) == (0.0, 0.0, 1.0)
        assert level["reasons"] == {"too long": 30}
    assert summary["metrics"]["level_score"]["mean"] == 0.0
    whole = summary_of(odqa_fast("levels", dump, "--compressor", "none", "--levels", "1.0"))
    assert whole["metrics"]["level_score"]["mean"] == 1.0


def test_tables_and_csv(dump: Path) -> None:
    table = odqa_fast("levels", dump, "--format", "table").stdout
    for words in (
        "0.2000",
        "compliant",
        "95 % interval",
        "score 1.000000",
        "level_score/1|squad/1",
    ):
        assert words in table
    lines = odqa_fast("levels", dump, "--format", "csv").stdout.splitlines()
    assert lines[0].startswith("text,level,weight,score")
    assert [line.split(",")[1] for line in lines[1:]] == ["0.2", "0.4", "0.6"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["levels", "DUMP", "--levels", "0.2,40"], 2, "mix fractions and percent"),
        (["levels", "DUMP", "--levels", "0"], 2, "greater than 0"),
        (["levels", "DUMP", "--levels", ","], 2, "no level given"),
        (["levels", "DUMP", "--compressor", "bm52"], 2, "Closest: bm25"),
        (["levels", "DUMP", "--reader", "gven"], 2, "Closest: given"),
        (["levels", "DUMP", "--reader", "onnx:/none"], 4, "/none"),
        (["levels", "DUMP", "--metric", "par"], 2, "no metric of a prediction"),
        (["levels", "DUMP", "--metric", "bertscore"], 2, "bertscore needs a model. E.g. f1 or em"),
        (["levels", "DUMP", "--levels", "1.5"], 2, "Write 1.5% or 0.015"),
        (["levels", "DUMP", "--noise-share", "30%"], 2, "--noise-share goes with --noise"),
        (["levels", "DUMP", "--no-clean"], 2, "--no-clean goes with --noise or --manifest"),
        (
            ["levels", "DUMP", "--noise", "factual", "--noise-share", "30%"],
            2,
            "takes no count or share",
        ),
        (["levels", "DUMP", "--prompt", "answer"], 2, "'given' is no model"),
        (["levels", "DUMP", "--compressor-prompt", "compress-level"], 2, "'bm25' is no model"),
        (["noise", "DUMP", "--out", "OUT", "--prompt", "questions"], 2, "--generate-questions"),
        (["noise", "DUMP", "--out", "OUT", "--share", "nan"], 2, "'nan' is no share"),
        (["noise", "DUMP", "--out", "OUT", "--share", "1.5"], 2, "Write 1.5% or 0.015"),
        (["levels", "DUMP", "--unit", "tokens"], 2, "needs a tokenizer"),
        (["levels", "DUMP", "--preset", "soma"], 2, "needs a tokenizer"),
        (["levels", "DUMP", "--preset", "soma", "--unit", "chars"], 2, "need lengths in tokens"),
        (["levels", "DUMP", "--manifest", "none.jsonl"], 3, "none.jsonl"),
        (["levels", "DUMP", "--manifest", "DUMP"], 3, "does not say what was put"),
        (["levels", "DUMP", "--map", "documents=context"], 2, "no column 'context'"),
        (["levels", "none.jsonl"], 3, "none.jsonl"),
        (["noise", "DUMP", "--out", "DUMP/x.jsonl"], 5, "could not be written"),
        (["noise", "DUMP", "--out", "OUT", "--share", "half"], 2, "'half' is no share"),
        (
            ["noise", "DUMP", "--out", "OUT", "--share", "1", "--count", "1"],
            2,
            "exclude each other",
        ),
        (["noise", "DUMP", "--out", "OUT", "--kind", "factual", "--count", "1"], 2, "probability"),
        (["noise", "DUMP", "--out", "OUT", "--pool", "none.txt"], 3, "none.txt"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    dump: Path, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    named = {"DUMP": str(dump), "DUMP/x.jsonl": f"{dump}/x.jsonl", "OUT": str(tmp_path / "o.jsonl")}
    done = odqa_fast(*(named.get(argument, argument) for argument in arguments))
    refused(done, code, says)
    assert not (tmp_path / "o.jsonl").exists()


def test_compress_by_a_compressor_to_a_level(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "compressed.parquet"
    done = odqa_fast("compress", dump, "--compressor", "lead", "--level", "30%", "--out", out)
    assert summary_of(done)["counts"]["rows"] == 30
    found = read(out)
    for before, after in zip(rows(30), found, strict=True):
        text = before["documents"][0]["text"]
        assert after["summary"]
        assert text.startswith(after["summary"])
    cr = summary_of(odqa_fast("score", out, "--metrics", "cr"))["metrics"]["cr"]["mean"]
    assert 0.15 < cr <= 0.3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "either a --model or a --compressor"),
        (["--model", "m", "--compressor", "bm25", "--level", "0.2"], "either a --model or"),
        (["--compressor", "bm25"], "go together"),
        (["--model", "m", "--level", "0.2"], "go together"),
        (["--compressor", "bm25", "--level", "0"], "greater than 0"),
        (["--compressor", "oracle", "--level", "0.2"], "is told the answers"),
        (
            ["--compressor", "bm25", "--level", "0.2", "--prompt", "mine.toml"],
            "--prompt goes with --model",
        ),
        *(
            (
                ["--compressor", "bm25", "--level", "0.2", option, value],
                f"{option} is no option of the compressor 'bm25', which is no model",
            )
            for option, value in (
                ("--temperature", "0.5"),
                ("--top-p", "0.5"),
                ("--rows", "2"),
                ("--threads", "2"),
                ("--timeout", "2"),
                ("--request-field", "reasoning_effort=low"),
            )
        ),
    ],
)
def test_compress_takes_a_model_or_a_compressor(
    dump: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    refused(odqa_fast("compress", dump, *arguments, "--out", tmp_path / "c.parquet"), 2, says)


def test_a_pool_of_ones_own(dump: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.txt"
    pool.write_text("Glass is made from sand.\n\nTea grows on hills.\n", encoding="utf-8")
    out = tmp_path / "noisy.jsonl"
    done = odqa_fast("noise", dump, "--pool", pool, "--count", 1, "--seed", 2, "--out", out)
    assert summary_of(done)["counts"]["pieces"] == 30
    pieces = [row["injected"][0] for row in read(tmp_path / "noisy.manifest.jsonl")]
    assert set(pieces) == {"Glass is made from sand.", "Tea grows on hills."}
    pool.write_text(" \n")
    assert odqa_fast("noise", dump, "--pool", pool, "--out", out).returncode == 3
    pool.write_bytes(b"\xff")
    assert odqa_fast("noise", dump, "--pool", pool, "--out", out).returncode == 3


def test_questions_may_come_from_an_endpoint(tmp_path: Path) -> None:
    facts = [f"The keeper of light {n} was Keeper{n} Holm." for n in range(6)]
    dump = write_jsonl(
        tmp_path / "base.jsonl",
        ({"id": str(n), "documents": [fact]} for n, fact in enumerate(facts)),
    )

    def writer(body: dict[str, Any], before: int) -> Play:
        prompt = body["messages"][-1]["content"]
        (n,) = (n for n, fact in enumerate(facts) if fact in prompt)
        pairs = [("Who kept it?", f"Keeper{n} Holm"), ("Who else?", "Nobody Atall")]
        asked = [{"question": question, "answer": answer} for question, answer in pairs]
        return Play(json.dumps({"questions": asked if n else []}))

    out = tmp_path / "noisy.jsonl"
    with chat_server(writer) as server:
        arguments = ("--generate-questions", 2, "--model", server.engine())
        done = odqa_fast("noise", dump, "--rare", 0, "--out", out, *arguments)
        assert len(server.bodies) == 6
    summary = summary_of(done)
    assert summary["questions"]["kept"] == 5
    assert summary["questions"]["dropped"] == {
        "answer not in the text": 5,
        "no questions": 1,
        "texts without questions": 1,
    }
    assert "5 questions were made" in done.stderr
    assert [(row["questions"], row["answers"]) for row in read(out)] == [
        (["Who kept it?"], [[f"Keeper{n} Holm"]]) for n in range(1, 6)
    ]
    # The noise holds no answer, and the questions were made without it.
    for n, row in enumerate(read(out), 1):
        assert facts[n] != row["documents"][0]["text"]
        assert row["documents"][0]["text"].count(f"Keeper{n} Holm") == 1
    refused(odqa_fast("noise", dump, "--out", out, "--generate-questions", 2), 2, "--model NAME")


def test_an_endpoint_compresses_and_reads(tmp_path: Path) -> None:
    dump = write_jsonl(
        tmp_path / "d.jsonl",
        [{"id": "1", "question": "Who?", "answers": ["Ada"], "documents": ["Ada did it, not I."]}],
    )
    with (
        chat_server(Play("Ada did.")) as compressor,
        chat_server(Play("Ada")) as reader,
    ):
        done = odqa_fast(
            "levels", dump, "--levels", "0.5", "--compressor", compressor.engine(),
            "--reader", reader.engine(),
        )  # fmt: skip
    summary = summary_of(done)
    (curve,) = summary["levels"].values()
    assert [level["score"] for level in curve["levels"]] == [1]
    assert "Ada did." in reader.bodies[0]["messages"][-1]["content"]
    assert "not I" not in str(reader.bodies)

"""Covers: `odqa-fast compress` and `odqa-fast answer` as a user runs them, killed and refused.

Run: pytest tests/cli/test_answer.py
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import tiny
import tiny_models
from program import COMMAND, odqa_fast, refused, summary_of, write_jsonl

from odqa_fast.engines.prompts import load_prompt


def rows(n: int) -> list[dict[str, Any]]:
    draw = random.Random(n)
    words = " ".join(tiny.CORPUS).split()
    return [
        {
            "id": f"q{at}",
            "question": " ".join(draw.choices(words, k=6)) + "?",
            "answers": ["42"],
            "documents": [
                {"title": "Nile", "text": " ".join(draw.choices(words, k=8))},
                {"text": " ".join(draw.choices(words, k=5))},
            ],
        }
        for at in range(n)
    ]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("dump") / "dump.jsonl", rows(6))


def cpu(*arguments: object, **env: str) -> Any:
    return odqa_fast(*arguments, "--device", "cpu", **env)


def test_a_dump_is_compressed_answered_and_scored(
    t5: Path, llama: Path, dump: Path, tmp_path: Path
) -> None:
    compressed, answered = tmp_path / "compressed.parquet", tmp_path / "answered.parquet"
    first = summary_of(cpu("compress", dump, "--model", t5, "--out", compressed))
    second = summary_of(
        cpu("answer", compressed, "--model", f"onnx:{llama}", "--out", answered,
            "--timing", "each")
    )  # fmt: skip
    assert first["counts"]["input_documents"] == second["counts"]["input_summary"] == 6
    assert first["runs"]["provider"] == second["runs"]["provider"] == "CPUExecutionProvider"
    assert first["runs"]["threads"] >= 1
    assert set(first["seconds"]["compressor_amortized_seconds"]) == {
        *("n", "mean", "median", "p90", "p99")
    }
    table = pq.read_table(answered).to_pylist()
    assert [row["id"] for row in table] == [f"q{at}" for at in range(6)]
    # The texts are those of plain numpy.
    row = table[0]
    documents = row["documents"]
    request = load_prompt("compress", "compress").fill(
        documents=f"[1] Nile: {documents[0]['text']}\n[2] {documents[1]['text']}",
        question=row["question"],
    )
    (summary,) = tiny_models.greedy("t5", t5, [request.user], request.max_new_tokens)
    assert row["summary"] == summary.strip()
    request = load_prompt("answer", "answer").fill(context=row["summary"], question=row["question"])
    (prediction,) = tiny_models.greedy("llama", llama, [request.user], 32)
    assert row["prediction"] == prediction.split("\n")[0].strip()
    assert {"compressor_amortized_seconds", "reader_seconds"} <= set(row)
    metrics = summary_of(odqa_fast("score", answered, "-m", "em,f1,contains,par,cr"))["metrics"]
    assert metrics["contains"]["n_scored"] == 6


def test_a_table_for_people(llama: Path, dump: Path, tmp_path: Path) -> None:
    done = cpu(
        *("answer", dump, "--model", llama, "--out", tmp_path / "out.parquet"),
        *("--format", "table", "--temperature", "0.7", "--seed", "3", "--rows", "2"),
    )
    assert done.returncode == 0, done.stderr
    for shown in ("reader_amortized_seconds", "p99", "tokens out per second", "rows 6"):
        assert shown in done.stdout
    assert "|temperature:0.7,top_p:1,seed:3|" in done.stdout


def test_prompts_of_ones_own(llama: Path, dump: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('id = "mine"\nversion = 1\nuser = "{question}"\nmax_new_tokens = 3\n')
    out = tmp_path / "out.parquet"
    summary = summary_of(cpu("answer", dump, "--model", llama, "--out", out, "--prompt", mine))
    assert "|mine/1@" in summary["signature"]
    assert max(pq.read_table(out)["reader_tokens_out"].to_pylist()) <= 3
    refused(
        cpu("answer", dump, "--model", llama, "--out", out, "--prompt", "anwser"),
        *(2, "no prompt 'anwser'", "Closest: answer"),
    )


# D064: a device that does not work.


def without_gpu() -> bool:
    return not Path("/dev/nvidia0").exists()


@pytest.mark.skipif(not without_gpu(), reason="there is a GPU (/dev/nvidia0)")
def test_cuda_that_is_not_there_is_one_line(llama: Path, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    command = ("answer", dump, "--model", llama, "--out", out)
    refused(odqa_fast(*command, "--device", "cuda"), 4, "device cuda does not work", "--device cpu")
    assert not list(tmp_path.iterdir())
    done = odqa_fast(*command)
    summary = summary_of(done)
    # Said once, and not in red; the report holds what really ran.
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("odqa-fast: note: runs on the cpu, for cuda does not work: ")
    assert "\x1b" not in done.stderr
    assert summary["runs"]["provider"] == "CPUExecutionProvider"
    assert "|CPUExecutionProvider|" in summary["signature"]


def test_doctor_says_what_runs_models() -> None:
    done = odqa_fast("doctor")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["onnxruntime"][0].isdigit()
    assert lines["cuda"]
    assert done.stderr == ""


# Faithful errors


def broken(llama: Path, folder: Path, fault: str) -> Path:
    model = folder / "model"
    shutil.copytree(llama, model)
    if fault == "missing":
        (model / "model.onnx.data").unlink()
    elif fault == "changed":
        data = bytearray((model / "model.onnx.data").read_bytes())
        data[1000] ^= 1
        (model / "model.onnx.data").write_bytes(data)
    elif fault == "escaping":
        card = json.loads((model / "model.json").read_text())
        card["files"]["../llama/model.onnx"] = "0" * 64
        (model / "model.json").write_text(json.dumps(card))
    elif fault == "no card":
        (model / "model.json").unlink()
    return model


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("missing", "model.onnx.data: is missing"),
        ("changed", "model.onnx.data: is not the file that model.json means"),
        ("escaping", "leaves the folder"),
        ("no card", "holds no model.json"),
    ],
)
def test_a_broken_model_says_what_is_broken(
    fault: str, said: str, llama: Path, dump: Path, tmp_path: Path
) -> None:
    model = broken(llama, tmp_path, fault)
    out = tmp_path / "out.parquet"
    refused(cpu("answer", dump, "--model", model, "--out", out), 4, said)
    assert not out.exists()


def test_a_model_for_another_task(dump: Path, tmp_path: Path) -> None:
    from odqa_fast.export import export

    config = tiny.bert_config()
    export(tiny.write(tmp_path / "hf", config, tiny.bert_weights(config)), tmp_path / "bert")
    for command in ("answer", "compress"):
        done = cpu(command, dump, "--model", tmp_path / "bert", "--out", tmp_path / "out.parquet")
        refused(done, 4, "is a model for token-embeddings, not for text-generation")


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_has_its_name(
    library: str, llama: Path, dump: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{library}.py").write_text(f"raise ImportError('no {library} here')")
    # An empty entry would be the folder the tests run in, with its sources.
    path = os.pathsep.join(filter(None, [str(hidden), os.environ.get("PYTHONPATH")]))
    done = cpu("answer", dump, "--model", llama, "--out", tmp_path / "o.parquet", PYTHONPATH=path)
    refused(done, 4, f"need the library {library}", "pip install 'odqa-fast[cpu]'")


def test_names_and_options_that_cannot_be(llama: Path, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    asked = ("answer", dump, "--out", out, "--model")
    refused(cpu(*asked, tmp_path / "none"), 4, "is no folder")
    refused(cpu(*asked, "ftp:model"), 2, "no reader 'ftp'")
    refused(cpu(*asked, llama, "--top-p", "0"), 2, "--top-p has to be above 0")
    refused(cpu("answer", tmp_path / "no.jsonl", "--model", llama, "--out", out), 3, "no such file")


def test_a_prompt_that_is_too_long_is_counted(llama: Path, tmp_path: Path) -> None:
    long = " ".join(tiny.CORPUS * 3)
    dump = write_jsonl(
        tmp_path / "dump.jsonl",
        [
            {"question": "Who?", "documents": ["Nile", long, long]},
            {"question": "Who?", "documents": [long * 3]},
            {"question": long * 3, "documents": ["Nile"]},
        ],
    )
    out = tmp_path / "out.parquet"
    summary = summary_of(cpu("answer", dump, "--model", llama, "--out", out))
    table = pq.read_table(out).to_pylist()
    assert [row["reader_documents_left_out"] for row in table] == [2, 0, 1]
    # Each begins with its number, "[2] ".
    assert table[0]["reader_chars_left_out"] == 2 * (4 + len(long))
    assert 0 < table[1]["reader_chars_left_out"] < 3 * len(long)
    # The first has one document, the second as much as there is room for.
    assert table[0]["reader_tokens_in"] < 100
    assert 200 < table[1]["reader_tokens_in"] <= 224
    assert table[2]["prediction"] is None
    assert table[2]["reader_error"].startswith("too long: the prompt has ")
    assert summary["counts"]["error_too_long"] == 1
    assert summary["counts"]["cut"] == 3


# Stopped runs


def stopped(command: list[str], parts: Path, how: signal.Signals, after: float) -> int:
    """A run that is stopped some time after its first replies were kept; its exit code."""
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    log = parts / "replies.sqlite-wal"
    while running.poll() is None and not (log.exists() and log.stat().st_size > 100_000):
        time.sleep(0.005)
    time.sleep(after)
    if running.poll() is None:
        running.send_signal(how)
    _, said = running.communicate()
    assert "Traceback" not in said
    return running.returncode


def without_times(path: Path) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if not name.endswith("_seconds")}
        for row in pq.read_table(path).to_pylist()
    ]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on(how: signal.Signals, llama: Path, tmp_path: Path) -> None:
    # Long enough that even a fast machine is stopped in the middle.
    dump = write_jsonl(tmp_path / "dump.jsonl", rows(4000))
    whole, out = tmp_path / "whole.parquet", tmp_path / "out.parquet"
    summary_of(cpu("answer", dump, "--model", llama, "--out", whole))
    command = [
        *map(str, (*COMMAND, "answer", dump, "--model", llama, "--out", out)),
        *("--device", "cpu", "--threads", "1", "--timing", "each"),
    ]
    parts = tmp_path / "out.parquet.parts"
    codes, kept = [], 0
    for _ in range(4):
        codes.append(stopped(command, parts, how, after=0.1))
        if codes[-1] == 0:
            break
        assert not out.exists()
        assert parts.is_dir()
        refused(cpu("answer", dump, "--model", llama, "--out", out), 2, "unfinished run")
        command = [*command, "--resume"]
    assert codes[0] == (130 if how == signal.SIGINT else -9)
    if codes[-1] != 0:
        done = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=True)
        kept = json.loads(done.stdout)["counts"]["kept_from_before"]
        assert kept > 0
    assert without_times(out) == without_times(whole)
    assert sorted(os.listdir(tmp_path)) == ["dump.jsonl", "out.parquet", "whole.parquet"]

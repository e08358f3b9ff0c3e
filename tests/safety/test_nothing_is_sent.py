"""Covers: model commands that send nothing, look nothing up, and leave nothing but their output.

Compared against: the kernel's word (a program that opens a socket dies), and an empty home.
Run: pytest tests/safety/test_nothing_is_sent.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import no_network
import pytest
import tiny
from island import rows
from program import COMMAND, write_jsonl

from odqa_fast.export import export

ROWS = [{**row, "summary": "The river Nile"} for row in rows(3)]

PROMPT = 'id = "short"\nversion = 1\nuser = "{prediction} {answers}"\nmax_new_tokens = 2\n'

#: command -> its arguments; a word in capitals stands for a path.
COMMANDS = {
    "models check": "models check LLAMA",
    "doctor": "doctor",
    "compress": "compress DUMP --model T5 --device cpu --out OUT/c.parquet",
    "answer": "answer DUMP --model LLAMA --device cpu --context none --out OUT/a.parquet",
    "levels": (
        "levels DUMP --levels 0.5 --compressor onnx:T5 --reader onnx:T5 --device cpu "
        "--cache OUT/replies.sqlite --out OUT/r"
    ),
    "judge": (
        "judge DUMP --provider onnx:LLAMA --prompt correctness=PROMPT --cache OUT/k --out OUT/r"
    ),
    "bertscore": "score DUMP --metrics bertscore --bertscore-model BERT --device cpu --out OUT/r",
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    config = tiny.bert_config()
    export(tiny.write(folder / "hf", config, tiny.bert_weights(config)), folder / "bert", layer=2)
    return folder / "bert"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_model_command_opens_no_socket_and_leaves_no_file(
    name: str, llama: Path, t5: Path, bert: Path, tmp_path: Path
) -> None:
    if (reason := no_network.why_not()) is not None:
        pytest.skip(reason)
    home, out = tmp_path / "home", tmp_path / "out"
    home.mkdir()
    out.mkdir()
    prompt = tmp_path / "short.toml"
    prompt.write_text(PROMPT)
    places = {
        "LLAMA": llama, "T5": t5, "BERT": bert, "OUT": out, "PROMPT": prompt,
        "DUMP": write_jsonl(tmp_path / "dump.jsonl", ROWS),
    }  # fmt: skip
    arguments = COMMANDS[name]
    for word, path in places.items():
        arguments = arguments.replace(word, str(path))
    before = set(tmp_path.rglob("*"))
    unset = {"ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "ODQA_FAST_CACHE"}
    env = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, no_network.__file__, *COMMAND, *arguments.split()],
        capture_output=True,
        encoding="utf-8",
        env={**env, "HOME": str(home), "TMPDIR": str(home)},
        cwd=home,
        check=False,
    )
    assert done.returncode == 0, done
    left = [path for path in set(tmp_path.rglob("*")) - before if out not in path.parents]
    assert left == []


def test_a_program_that_was_quicker_is_told_once() -> None:
    code = (
        "import warnings, onnxruntime\n"
        "from odqa_fast.engines.session import open_runtime\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    open_runtime('cpu'); open_runtime('cpu')\n"
        "print([str(each.message) for each in caught])\n"
    )
    for value, times in (("", 1), ("1", 0)):
        env = {**os.environ, "ORT_DISABLE_TELEMETRY": value}
        done = subprocess.run(
            [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=env, check=True
        )
        assert done.stdout.count("ORT_DISABLE_TELEMETRY=1") == times, done

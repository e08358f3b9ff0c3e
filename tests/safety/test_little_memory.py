"""Covers: texts that the memory does not suffice for, in each kernel, and in the program.

Compared against: a MemoryError, one line and exit code 4. Each case runs in its own interpreter,
for an exception that no one catches ends it.
Run: pytest tests/safety/test_little_memory.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from program import refused

SCRIPT = Path(__file__).parent / "little_memory.py"

#: One that each kernel serves. `par` and `cr` take no memory; sets of evidence take time first.
KERNELS = ["em", "rougeLsum", "rougeL:pltrdy", "hit@1", "ndcg@5", "normalize"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.parametrize("what", KERNELS)
def test_a_kernel_without_memory_raises(what: str) -> None:
    done = run(str(SCRIPT), what)
    assert (done.returncode, done.stdout) == (0, "MemoryError\n"), done.stderr[-2000:]


PROGRAM = """
import resource, sys
sys.path.insert(0, sys.argv.pop(1))
from little_memory import ROOM, address_space
import pyarrow, pyarrow.parquet, odqa_fast.scoring.executor
from odqa_fast.cli.main import app
limit = address_space() + 6 * ROOM
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
app()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
def test_a_program_without_memory_says_so(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    text = "word é " * (6 << 20)
    dump.write_text(json.dumps({"prediction": text, "answers": [text]}) + "\n")
    done = run("-P", "-c", PROGRAM, str(SCRIPT.parent), "score", str(dump), "--threads", "1")
    refused(done, 4, "memory of this machine does not suffice")

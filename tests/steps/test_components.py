"""Covers: readers, compressors and engines that are added, one file each, and how each is opened.
Compared against: what the added ones are written to do. Run: pytest tests/steps/test_components.py
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from program import odqa_fast, refused, summary_of, write_jsonl

FIRST = '''
"""The first documents, as many as are asked for."""
from odqa_fast.steps.plain import Plain

ARGUMENT = "N"

def open_compressor(argument, options):
    n = int(argument)
    return Plain(f"first:{n}", lambda task: " ".join(task.documents[:n]))
'''

LAST_WORD = '''
"""The last word of the context."""
from odqa_fast.engines.base import Prepared, Reply

class LastWord:
    id, signature, facts, needs_question = "last", "last/1", {}, False

    def prepare(self, query):
        return Prepared(tuple(query.context.plain()))

    def run(self, requests):
        for at, texts in enumerate(requests):
            yield at, Reply(" ".join(texts).split()[-1], "stop")

    def close(self):
        pass

def open_reader(argument, options):
    return LastWord()
'''

ECHO = '''
"""Repeats a prompt's first line, so many times."""
from odqa_fast.engines.base import Reply

ARGUMENT, HONOURS = "TIMES", frozenset({"timing", "seed"})

class Echo:
    max_input_tokens, facts = None, {}

    def __init__(self, times):
        self.id = self.signature = f"echo:{times}"
        self._times = times

    def count_tokens(self, request):
        return None

    def generate(self, requests):
        for at, request in enumerate(requests):
            yield at, Reply(request.user.strip().splitlines()[0] * self._times, "stop")

    def close(self):
        pass

def open_engine(argument, options):
    return Echo(int(argument))
'''

ENTRY_POINTS = """
[odqa_fast.compressors]
first = added_first
[odqa_fast.readers]
last = added_last
[odqa_fast.engines]
echo = added_echo
"""


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a distribution of one file each."""
    place = tmp_path_factory.mktemp("site")
    for name, text in (("first", FIRST), ("last", LAST_WORD), ("echo", ECHO)):
        (place / f"added_{name}.py").write_text(text)
    info = place / "added-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return place


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    row = {"id": "a", "question": "Who?", "answers": ["Ada"]}
    documents = [
        {"text": "It was Ada"},
        {"text": "No, Bo."},
        {"text": "Never mind the others at all."},
    ]
    return write_jsonl(tmp_path / "dump.jsonl", [{**row, "documents": documents}])


def test_a_compressor_with_an_argument(added: Path, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    asked = ("compress", dump, "--compressor", "first:2", "--level", "0.9", "--out", out)
    done = odqa_fast(*asked, PYTHONPATH=str(added))
    assert summary_of(done)["runs"] == {"compressor": "first:2", "level": 0.9, "timing": "batch"}
    assert pq.read_table(out)["summary"].to_pylist() == ["It was Ada No, Bo."]


def test_levels_takes_the_same_names(added: Path, dump: Path) -> None:
    asked = ("levels", dump, "--levels", "0.5", "--compressor", "first:1", "--reader", "last")
    summary = summary_of(odqa_fast(*asked, PYTHONPATH=str(added)))
    assert summary["metrics"]["level_score"]["mean"] == 1
    assert "compressor:first:1/1" in summary["metrics"]["level_score"]["signature"]


def test_an_engine_answers_and_compresses(added: Path, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    for command, column in (("answer", "prediction"), ("compress", "summary")):
        asked = (command, dump, "--model", "echo:2", "--out", out)
        summary_of(odqa_fast(*asked, PYTHONPATH=str(added)))
        assert pq.read_table(out)[column].to_pylist() == ["[1] It was Ada[1] It was Ada"]
    done = odqa_fast(*asked, "--retries", 2, PYTHONPATH=str(added))
    refused(done, 2, "--retries is no option of echo:2")
    asked = ("compress", dump, "--compressor", "echo:1", "--level", "0.5", "--out", out)
    assert summary_of(odqa_fast(*asked, PYTHONPATH=str(added)))["runs"]["model"] == "echo:1"


def test_a_name_that_is_none_lists_what_was_added(added: Path, dump: Path) -> None:
    done = odqa_fast("levels", dump, "--compressor", "frist:1", PYTHONPATH=str(added))
    refused(done, 2, "no compressor 'frist'", "Closest: first", "echo:TIMES", "onnx:FOLDER")
    done = odqa_fast("levels", dump, "--reader", "last:1", PYTHONPATH=str(added))
    refused(done, 2, "the reader 'last' takes nothing behind a colon")


def test_a_broken_one_breaks_nothing_else(added: Path, dump: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    place.mkdir()
    (place / "broken.py").write_text("import no_such_library\n")
    info = place / "broken-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[odqa_fast.compressors]\nbroken = broken\n")
    out = tmp_path / "out.parquet"
    asked = ("compress", dump, "--level", "0.5", "--out", out, "--compressor")
    summary_of(odqa_fast(*asked, "lead", PYTHONPATH=str(place)))
    refused(
        odqa_fast(*asked, "broken", PYTHONPATH=str(place)),
        *(2, "entry point broken of broken 2.0: the compressor 'broken' is broken"),
        "No module named 'no_such_library'",
    )

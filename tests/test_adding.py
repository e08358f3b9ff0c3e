"""Covers: one of each kind that can be added, brought by an installed package and used through the
command line. What the documents show as an example is what is added. Compared against: arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pyarrow.parquet as pq
import pytest
from program import Done, odqa_fast, refused, summary_of, write_jsonl

from odqa_fast import report
from odqa_fast.io import formats
from odqa_fast.steps import plain

ROOT = Path(__file__).parent.parent

READER = '''
"""The last word of the context."""
from odqa_fast.engines.base import Prepared, Reply

class LastWord:
    id, signature, facts, needs_question = "last", "last/1", {}, False

    def prepare(self, query):
        return Prepared(" ".join(query.context.plain()))

    def run(self, requests):
        for at, text in enumerate(requests):
            yield at, Reply(text.split()[-1], "stop")

    def close(self):
        pass

def open_reader(argument, options):
    return LastWord()
'''

ENGINE = '''
"""Says a text, in which PROMPT stands for what it was asked."""
from odqa_fast.engines.base import Reply

ARGUMENT, HONOURS = "TEXT", frozenset()

class Says:
    max_input_tokens, facts = None, {}

    def __init__(self, text):
        self.id = self.signature = f"says:{text}"
        self._text = text

    def count_tokens(self, request):
        return None

    def generate(self, requests):
        for at, request in enumerate(requests):
            yield at, Reply(self._text.replace("PROMPT", request.user), "stop")

    def close(self):
        pass

def open_engine(argument, options):
    if not argument:
        raise ValueError("there is nothing to say")
    return Says(argument)
'''

PROMPT = """
id = "short"
version = 1
user = "{context}\\nNow: {question}"
document = "{rank}) {text}"
"""

PACKAGE = """
from pathlib import Path

SHORT = Path(__file__).with_name("short.toml")
NUMBER = 7
"""

ENTRY_POINTS = """
[odqa_fast.metrics]
words = adding.words
[odqa_fast.formats]
tool = adding.tool
[odqa_fast.reports]
markdown = adding.markdown
hollow = adding.hollow
silent = adding.silent
[odqa_fast.compressors]
tail = adding.tail
hollow = adding.hollow
[odqa_fast.readers]
last = adding.last
[odqa_fast.engines]
says = adding.says
mute = adding.hollow
[odqa_fast.rubrics]
tone = adding
[odqa_fast.prompts]
short = adding
brief = adding:SHORT
seven = adding:NUMBER
"""


def block_of(document: str, language: str, begin: str) -> str:
    """The block of a document in a language that begins so."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    (block,) = [block for each in blocks if (block := dedent(each)).startswith(begin)]
    return block


def example_in(module: ModuleType) -> str:
    """The code that a module's docstring shows: its lines that are indented by four."""
    lines = (module.__doc__ or "").splitlines()
    return dedent("\n".join(line for line in lines if line.startswith("    ") or not line))


def install(place: Path, files: Mapping[str, str], entry_points: str) -> Path:
    """Put a package `adding` and its distribution into a folder, which is returned."""
    for name, text in files.items():
        path = place / "adding" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    info = place / "adding-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adding\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    return place


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a distribution that brings one of each kind."""
    place = tmp_path_factory.mktemp("site")
    files = {
        "__init__.py": PACKAGE,
        "words.py": block_of("CONTRIBUTING.md", "python", '"""The length of predictions."""'),
        "tool.py": example_in(formats),
        "markdown.py": example_in(report),
        "silent.py": "def render(summary):\n    return summary.no_such_thing\n",
        "hollow.py": "",
        "tail.py": example_in(plain),
        "last.py": READER,
        "says.py": ENGINE,
        "tone.toml": block_of("README.md", "toml", 'id = "tone"'),
        "short.toml": PROMPT,
    }
    return install(place, files, ENTRY_POINTS)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    row = {
        "id": "a",
        "question": "Who?",
        "answers": ["Ada"],
        "documents": ["One is here. Two is there.", "Three is Ada."],
        "prediction": "It was Ada",
    }
    return write_jsonl(tmp_path / "dump.jsonl", [row])


def test_a_metric(site: Path, tmp_path: Path) -> None:
    predictions = ["It was Ada", "Bo", "", None]
    dump = write_jsonl(tmp_path / "dump.jsonl", [{"prediction": said} for said in predictions])
    done = odqa_fast("score", dump, "--metrics", "words", PYTHONPATH=str(site))
    words = summary_of(done)["metrics"]["words"]
    # 3, 1 and 0 words; the null is not scored.
    assert (words["mean"], words["n_scored"], words["n_null"]) == (4 / 3, 3, 1)
    assert words["signature"].startswith("words/1|unit:words|")
    assert "words of the prediction" in odqa_fast("metrics", PYTHONPATH=str(site)).stdout


def test_an_entry_point_without_a_metric_is_left_out(dump: Path, tmp_path: Path) -> None:
    place = install(tmp_path, {"__init__.py": ""}, "[odqa_fast.metrics]\nwords = adding\n")
    done = odqa_fast("score", dump, "--metrics", "contains", PYTHONPATH=str(place))
    assert summary_of(done)["metrics"]["contains"]["mean"] == 1
    place_of_it = "the metric plug-in 'words' (entry point adding of adding 1.0) is left out"
    assert f"{place_of_it}: it has no SPECS." in done.stderr


def test_a_layout_and_its_field_for_where(site: Path, tmp_path: Path) -> None:
    logged = [
        {"asked": "Who?", "gold": ["Ada"], "said": "Ada", "run": "first"},
        {"asked": "Who?", "gold": ["Ada", "Bo"], "said": "Cy", "run": "second"},
        {"asked": "When?", "gold": ["1815"], "said": "1815", "run": "second"},
    ]
    log = write_jsonl(tmp_path / "log.jsonl", logged)
    asked = ("score", log, "--metrics", "em", "--where", "run=second")
    summary = summary_of(odqa_fast(*asked, PYTHONPATH=str(site)))
    assert summary["metrics"]["em"]["mean"] == 0.5
    assert "rows were read by the layout 'tool'." in summary["notes"]


def test_a_report(site: Path, dump: Path) -> None:
    asked = ("score", dump, "--metrics", "em,contains", "--format", "markdown")
    done = odqa_fast(*asked, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "| metric | mean |\n|---|---|\n| em | 0.0 |\n| contains | 1.0 |\n"


def test_a_report_that_fails_is_named(site: Path, dump: Path) -> None:
    asked = ("score", dump, "--metrics", "em", "--format")
    broken = "the report 'silent' is broken: AttributeError: "
    refused(odqa_fast(*asked, "silent", PYTHONPATH=str(site)), 2, broken, "no_such_thing")
    hollow = "the report 'hollow' is broken: it has no render."
    refused(odqa_fast(*asked, "hollow", PYTHONPATH=str(site)), 2, hollow)


def compressed(site: Path, dump: Path, name: str) -> Done:
    out = dump.parent / "out.parquet"
    asked = ("compress", dump, "--compressor", name, "--level", "0.9", "--out", out)
    return odqa_fast(*asked, PYTHONPATH=str(site))


def test_a_compressor_with_an_argument(site: Path, dump: Path) -> None:
    assert summary_of(compressed(site, dump, "tail:2"))["runs"]["compressor"] == "tail:2"
    summaries = pq.read_table(dump.parent / "out.parquet")["summary"].to_pylist()
    assert summaries == ["Two is there. Three is Ada."]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tail:0", "'tail:0' cannot be opened: ValueError: N has to be 1 or more."),
        ("tail:x", "'tail:x' cannot be opened: ValueError: invalid literal for int()"),
        ("tail", "'tail' cannot be opened: ValueError: invalid literal for int()"),
        ("hollow", "the compressor 'hollow' is broken: it has no open_compressor."),
        ("mute:x", "the engine 'mute' is broken: it has no ARGUMENT."),
        ("toil:1", "Compressors: bm25, hollow, lead, none, oracle, random, tail, top1, http:"),
    ],
)
def test_a_compressor_that_cannot_be_had(site: Path, dump: Path, name: str, why: str) -> None:
    refused(compressed(site, dump, name), 2, why)


def test_a_reader_behind_the_compressor(site: Path, dump: Path) -> None:
    # Of 39 characters the last sentence has 13, the last two have 27: over a half, which scores 0.
    for name, score in (("tail:1", 1.0), ("tail:2", 0.0)):
        asked = ("levels", dump, "--levels", "0.5", "--compressor", name, "--reader", "last")
        metric = summary_of(odqa_fast(*asked, PYTHONPATH=str(site)))["metrics"]["level_score"]
        assert metric["mean"] == score
        assert f"compressor:{name}/1" in metric["signature"]


def answered(site: Path, dump: Path, model: str, prompt: str) -> Done:
    out = dump.parent / "out.parquet"
    asked = ("answer", dump, "--model", model, "--prompt", prompt, "--out", out)
    return odqa_fast(*asked, PYTHONPATH=str(site))


@pytest.mark.parametrize("prompt", ["short", "brief"], ids=["beside-a-module", "by-its-path"])
def test_an_engine_and_a_prompt(site: Path, dump: Path, prompt: str) -> None:
    summary_of(answered(site, dump, "says:<PROMPT>", prompt))
    (said,) = pq.read_table(dump.parent / "out.parquet")["prediction"].to_pylist()
    assert said == "<1) One is here. Two is there.\n2) Three is Ada.\nNow: Who?>"


def test_an_engine_or_a_prompt_that_cannot_be_had(site: Path, dump: Path) -> None:
    nothing = "'says' cannot be opened: ValueError: there is nothing to say."
    refused(answered(site, dump, "says:", "short"), 2, nothing)
    neither = "the prompt 'seven' is broken: its entry point names neither a path nor a module"
    refused(answered(site, dump, "says:x", "seven"), 2, "adding:NUMBER of adding 1.0", neither)


def test_a_rubric(site: Path, dump: Path) -> None:
    for said, score in ((1, 0.0), (4, 0.75)):
        provider = f'says:{{"verdict": {said}}}'
        asked = ("judge", dump, "--provider", provider, "--rubric", "tone")
        summary = summary_of(odqa_fast(*asked, PYTHONPATH=str(site)))
        # From 1 to 5 is from 0 to 1: each step is a quarter.
        assert summary["metrics"]["tone"]["mean"] == score

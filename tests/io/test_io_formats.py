"""Covers: formats that are found by scan: file formats and layouts of JSON rows, ours and others'.

Compared against: rows written by hand, as the samples that lm-evaluation-harness logs.
Run: pytest tests/io/test_io_formats.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from reading import jsonl, read, write

import odqa_fast.io.formats as formats
from odqa_fast import plugins
from odqa_fast.errors import DataError, OdqaError, OdqaWarning, SchemaError
from odqa_fast.io import ReadOptions, open_dump
from odqa_fast.io.json_parse import parse_rows
from odqa_fast.io.prefetch import work_at_once
from odqa_fast.runs.input import Read

COLUMNS = frozenset({"id", "question", "answers", "prediction"})

LM_EVAL = """
    NAME = "lm-eval"

    def sniff(fields):
        return {"doc_id", "doc", "filtered_resps"} <= fields

    def row(row):
        if not row["filtered_resps"]:
            raise ValueError("no reply")
        doc = row["doc"]
        return {
            "id": row["doc_id"],
            "question": doc["question"],
            "answers": doc["answer"],
            "prediction": row["filtered_resps"][0],
            "filter": row.get("filter"),
        }
"""

#: Records behind a mark, cut by semicolons.
RECORDS = """
    import pyarrow as pa
    from odqa_fast.io.formats import Fit
    from odqa_fast.io.memory import read_batches

    NAME = "records"
    SUFFIXES = {".rec": "records"}
    NEVER_EMPTY = True

    def sniff(head):
        return Fit.SIGNATURE if head.data.startswith(b"RECORDS:") else Fit.NO

    def read(source, intake, found):
        texts = source.read(1 << 20).decode().removeprefix("RECORDS:").split(";")
        found.add("prediction")
        return read_batches([pa.record_batch({"prediction": texts})], intake)
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package of modules, each of which is the entry point of its name."""
    folder = tmp_path / "site"
    caches = (formats.find_formats, formats._forms)

    def add(**modules: str) -> None:
        info = folder / "others_formats-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others-formats\nVersion: 1\n")
        for name, code in modules.items():
            (folder / f"others_{name}.py").write_text(dedent(code))
        points = "".join(f"{name} = others_{name}\n" for name in modules)
        (info / "entry_points.txt").write_text(f"[odqa_fast.formats]\n{points}")
        monkeypatch.syspath_prepend(folder)
        for cache in caches:
            cache.cache_clear()

    for module in (formats, plugins):
        monkeypatch.setattr(module, "_warned", set())
    yield add
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.startswith("others_")]:
        del sys.modules[name]
    for cache in caches:
        cache.cache_clear()


def sample(number: int, reply: str, **changes: Any) -> dict[str, Any]:
    doc = {"question": f"Q{number}?", "answer": [f"a{number}", "x"]}
    return {"doc_id": number, "doc": doc, "filtered_resps": [reply], "filter": "none", **changes}


SAMPLES = [sample(0, "zero"), sample(1, "0.50"), sample(2, "é")]
EXPECTED = [
    {"id": "0", "question": "Q0?", "answers": ["a0", "x"], "prediction": "zero"},
    {"id": "1", "question": "Q1?", "answers": ["a1", "x"], "prediction": "0.50"},
    {"id": "2", "question": "Q2?", "answers": ["a2", "x"], "prediction": "é"},
]


def test_all_formats_are_found() -> None:
    found = formats.find_formats()
    folder = Path(formats.__file__).parent
    assert len(found.names) == len([p for p in folder.glob("*.py") if p.name != "__init__.py"])
    assert set(found.names) >= {*("arrow", "arrow-stream", "csv", "json", "jsonl", "parquet")}
    assert list(found.files) == sorted(found.files)


@pytest.mark.parametrize("form", ["lines", "array", "objects over lines"])
def test_a_layout_is_one_file(form: str, install: Install, tmp_path: Path) -> None:
    install(lm_eval=LM_EVAL)
    data = {
        "lines": jsonl(SAMPLES),
        "array": json.dumps(SAMPLES).encode(),
        "objects over lines": b"\n".join(json.dumps(s, indent=1).encode() for s in SAMPLES),
    }[form]
    path = write(tmp_path, "samples", data)
    result = read(path, columns=COLUMNS)
    assert result.rows == EXPECTED
    assert result.counts.layouts == {"lm-eval"}
    assert result.found == ("answers", "filter", "id", "prediction", "question")
    assert read(path, columns=COLUMNS, fmt="lm-eval").rows == EXPECTED
    dump = open_dump(path, ReadOptions(COLUMNS))
    assert list(dump)
    assert Read.of(dump).notes == ["rows were read by the layout 'lm-eval'."]
    # Asked for as plain lines, it is these.
    if form == "lines":
        assert read(path, columns=COLUMNS, fmt="jsonl").rows[0].keys() == set()


def test_a_file_in_the_folder_is_enough(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "lm_eval_of_test.py", dedent(LM_EVAL))
    spec = formats.__spec__
    assert spec is not None
    folders = [*formats.__path__, str(tmp_path)]
    monkeypatch.setattr(formats, "__path__", folders)
    monkeypatch.setattr(spec, "submodule_search_locations", folders)
    install()
    assert read(write(tmp_path, "dump", jsonl(SAMPLES)), columns=COLUMNS).rows == EXPECTED
    assert "lm-eval" in formats.find_formats().layouts
    del sys.modules["odqa_fast.io.formats.lm_eval_of_test"]


def test_a_layout_runs_in_the_workers(install: Install, tmp_path: Path) -> None:
    install(lm_eval=LM_EVAL)
    submitted: list[object] = []

    def submit(work: Callable[..., Any], *arguments: Any) -> Any:
        submitted.append(work)
        return work_at_once(work, *arguments)

    path = write(tmp_path, "samples", jsonl(SAMPLES))
    assert list(open_dump(path, ReadOptions(COLUMNS), submit=submit))
    assert submitted == [parse_rows]


def test_rows_that_are_none_of_the_layout(install: Install, tmp_path: Path) -> None:
    install(lm_eval=LM_EVAL)
    rows = [SAMPLES[0], sample(1, "", filtered_resps=[]), sample(2, "x", doc={"question": "Q?"})]
    path = write(tmp_path, "samples", jsonl(rows) + b"no JSON\n" + jsonl([SAMPLES[2]]))
    result = read(path, columns=COLUMNS, on_error="skip", places=True)
    assert [row["@place"] for row in result.rows] == [1, 5]
    assert [(row.line, row.reason) for row in result.rejected] == [
        (2, "no row of the layout 'lm-eval': no reply"),
        (3, "no row of the layout 'lm-eval': KeyError: 'answer'"),
        (4, "not JSON: Expecting value, at character 1"),
    ]
    with pytest.raises(
        DataError, match="samples, line 2: no row of the layout 'lm-eval': no reply"
    ):
        read(path, columns=COLUMNS)
    # Fields that the layout hands on are the row's own.
    assert read(path, columns=COLUMNS, on_error="skip", where={"filter": "none"}).rows


def test_rows_of_another_layout_are_left_alone(install: Install, tmp_path: Path) -> None:
    install(lm_eval=LM_EVAL)
    rows = [{"doc_id": 1, "prediction": "x"}, *SAMPLES]
    result = read(write(tmp_path, "mixed", jsonl(rows)), columns=COLUMNS)
    assert (result.column("prediction"), result.counts.layouts) == (["x", None, None, None], set())


def test_the_first_layout_by_name_wins(install: Install, tmp_path: Path) -> None:
    other = LM_EVAL.replace('"lm-eval"', '"a-layout"').replace(
        '["filtered_resps"][0]', '["filter"]'
    )
    install(z=LM_EVAL, b=other)
    result = read(write(tmp_path, "samples", jsonl(SAMPLES)), columns=COLUMNS)
    assert (result.column("prediction"), result.counts.layouts) == (["none"] * 3, {"a-layout"})


def test_a_file_format_is_one_file(install: Install, tmp_path: Path) -> None:
    install(records=RECORDS)
    path = write(tmp_path, "x.rec", "RECORDS:one;two")
    assert read(path, places=True).column("@place") == [0, 1]
    assert read(path).column("prediction") == ["one", "two"]
    assert formats.name_form("x.rec") == "records"
    with pytest.raises(DataError, match="has 0 bytes; records without rows has more"):
        read(write(tmp_path, "none.rec", ""))
    with pytest.raises(SchemaError, match=r"no format 'xml'\. Formats: .*records, run"):
        read(path, fmt="xml")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import a_package_that_is_not_there", "ModuleNotFoundError: No module named"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("sniff = row = print", "it has no NAME"),
        ("NAME = 'x'; row = print", "it has no function sniff"),
        ("NAME = 'x'; sniff = print", "neither a function read, of a file, nor row"),
    ],
)
def test_what_is_broken_is_named_and_nothing_else_breaks(
    code: str, reason: str, install: Install, tmp_path: Path
) -> None:
    install(broken=code, lm_eval=LM_EVAL)
    path = write(tmp_path, "samples", jsonl(SAMPLES))
    with pytest.warns(OdqaWarning, match=rf"others_broken.*\) is left out: .*{reason}"):
        assert read(path, columns=COLUMNS).rows == EXPECTED


def test_two_of_one_name_are_refused(install: Install, tmp_path: Path) -> None:
    install(other="NAME = 'jsonl'; sniff = read = print")
    with pytest.raises(OdqaError, match=r"two formats have the name 'jsonl': .*l, and .*other"):
        read(write(tmp_path, "dump", jsonl([{"prediction": "x"}])))


@pytest.mark.parametrize("code", [LM_EVAL, RECORDS])
def test_a_sniff_that_fails_takes_nothing(code: str, install: Install, tmp_path: Path) -> None:
    install(broken=code.replace("    return ", "    1 / 0; return ", 1))
    path = write(tmp_path, "dump", jsonl([{"prediction": "x"}]))
    with pytest.warns(OdqaWarning, match=r"the format '.*' is left out: ZeroDiv") as caught:
        assert read([path, path]).column("prediction") == ["x", "x"]
    assert len(caught) == 1

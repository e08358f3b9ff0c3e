"""Covers: what a fresh interpreter loads. Compared against: the promise that start-up is light.

Run: pytest tests/test_imports.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HEAVY = (
    *("pyarrow", "numpy", "pandas", "polars", "duckdb"),
    *("onnxruntime", "tokenizers", "jinja2", "onnx", "torch", "transformers", "httpx2"),
)

HELP = """
import runpy, sys
sys.argv = ["odqa-fast", "--help"]
try:
    runpy.run_module("odqa_fast", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
"""


def loaded_after(code: str) -> tuple[set[str], str]:
    """The top-level modules a new interpreter holds after some code, and what it printed."""
    tail = "\nimport sys; print('\\nMODULES', *{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code + tail], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed, _, modules = done.stdout.rpartition("\nMODULES ")
    return set(modules.split()), printed


def test_importing_the_package_is_light() -> None:
    modules, _ = loaded_after("import odqa_fast; odqa_fast.__version__")
    assert "odqa_fast" in modules
    assert modules.isdisjoint(HEAVY)


def test_listing_the_public_names_is_light() -> None:
    modules, printed = loaded_after("import odqa_fast; print(*dir(odqa_fast))")
    assert {"score", "score_file", "f1", "normalize", "OdqaError"} <= set(printed.split())
    assert modules.isdisjoint(HEAVY)


def test_help_is_light() -> None:
    modules, printed = loaded_after(HELP)
    assert "score" in printed
    assert "profiles" in printed
    assert modules.isdisjoint(HEAVY)


def test_scoring_a_dump_needs_no_pandas(tmp_path: Path) -> None:
    # pyarrow imports it, where it is installed, to ask whether a list is one of its series.
    table = pa.table({"prediction": ["x"], "answers": [["x"]]})
    pq.write_table(table, tmp_path / "dump.parquet")
    (tmp_path / "dump.jsonl").write_text('{"prediction": "x", "answers": ["x"]}\n')
    modules, printed = loaded_after(
        "import odqa_fast as oq; "
        f"print(*[oq.score_file({str(tmp_path)!r} + '/dump.' + kind).means['em'] "
        "for kind in ('parquet', 'jsonl')])"
    )
    assert printed.strip() == "1.0 1.0"
    assert "pyarrow" in modules
    assert "pandas" not in modules


def test_a_scalar_call_works_in_a_fresh_interpreter() -> None:
    _, printed = loaded_after("import odqa_fast as oq; print(oq.f1('the cat', ['cat']))")
    assert printed.strip() == "1.0"

"""Covers: how many threads are used, who says so, and that no number depends on it.

Compared against: the documented order of arguments and environment; one thread.
Run: pytest tests/test_threads.py
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from program import odqa_fast, refused, write_jsonl

import odqa_fast as oq
from odqa_fast.engines.session import open_runtime
from odqa_fast.scoring.workers import Workers
from odqa_fast.threads import thread_count

VARIABLES = ("ODQA_FAST_THREADS", "OMP_NUM_THREADS")


@pytest.fixture(autouse=True)
def eight_processors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr("odqa_fast.threads._QUOTA", tmp_path / "no quota")


@pytest.mark.parametrize(
    ("asked", "ours", "omp", "right"),
    [
        (None, None, None, 8),
        (3, "5", "2", 3),
        (None, "5", "2", 5),
        (None, "12", None, 12),  # who asks for more by our own name gets it
        (None, None, "2", 2),
        (None, None, "64", 8),  # a bound, not a wish
        (None, None, "3,2", 3),  # a number for each level of nesting
        (None, "", "", 8),
    ],
)
def test_who_says_how_many(
    asked: int | None,
    ours: str | None,
    omp: str | None,
    right: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in zip(VARIABLES, (ours, omp), strict=True):
        if value is not None:
            monkeypatch.setenv(name, value)
    assert thread_count(asked) == right
    with Workers(asked) as workers:
        assert workers.threads == right
    assert open_runtime("cpu", asked).threads == right


@pytest.mark.parametrize(
    ("quota", "right"), [("200000 100000", 2), ("250000 100000", 3), ("max 100000", 8)]
)
def test_a_containers_share_counts(
    quota: str, right: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    monkeypatch.setattr("odqa_fast.threads._QUOTA", tmp_path / "cpu.max")
    assert thread_count() == right


def test_sixteen_are_enough_for_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    with Workers(None) as workers:
        assert workers.threads == 16
    assert thread_count() == 64


@pytest.mark.parametrize(("processors", "right"), [(2, 16), (16, 16), (40, 40), (64, 64)])
def test_no_more_start_than_can_run(
    processors: int, right: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    usable = set(range(processors))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: usable, raising=False)
    with Workers(64) as workers:
        assert workers.threads == right


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_what_is_no_number_is_an_error(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(oq.OdqaError, match=f"{variable} must be a whole number, 1 or more"):
        oq.em("a", ["a"])
    assert oq.em("a", ["a"], threads=1) == 1


def test_bad_numbers_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = write_jsonl(tmp_path / "dump.jsonl", [{"id": "1", "prediction": "a", "answers": ["a"]}])
    monkeypatch.setenv("ODQA_FAST_THREADS", "many")
    refused(odqa_fast("score", dump), 2, "ODQA_FAST_THREADS must be a whole number, 1 or more")


@pytest.mark.parametrize("bad", [0, -2, 1.5, "2 threads"])
def test_bad_arguments(bad: Any) -> None:
    with pytest.raises(oq.OdqaError, match=r"threads has to be .*1 or more"):
        oq.f1(["a"], [["a"]], threads=bad)


TEXTS = [None if n % 97 == 0 else f"The cat no. {n} sat on  the mat, an owl {n * n}. " * 3
         for n in range(5_000)]  # fmt: skip
GOLDS = [[f"cat no. {n} sat"] for n in range(5_000)]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: partial(lambda name, threads: getattr(oq, name)(TEXTS, GOLDS, threads=threads), name)
        for name in ("em", "f1", "precision", "recall", "contains", "par")
    },
    "cr": lambda threads: oq.cr(TEXTS, [[text] for text in TEXTS], threads=threads),
    "normalize": lambda threads: oq.normalize(TEXTS, threads=threads),
    "tokenize": lambda threads: oq.tokenize(TEXTS, "dpr", threads=threads),
    "tokenize rouge": lambda threads: oq.tokenize(TEXTS, "rouge:stem", threads=threads),
    "score": lambda threads: (
        oq.score({"prediction": TEXTS, "answers": GOLDS}, threads=threads).table
    ),
    "diagnose": lambda threads: (
        oq.diagnose(
            {"prediction": TEXTS, "answers": GOLDS, "documents": [[text] for text in TEXTS]},
            threads=threads,
        ).table
    ),
}


def test_every_function_of_columns_takes_threads() -> None:
    functions = {
        name
        for name in oq.__all__
        if inspect.isfunction(getattr(oq, name)) and not name.endswith("_file")
    }
    assert functions == {name.split()[0] for name in FUNCTIONS}
    for name in (*functions, "score_file"):
        assert "threads" in inspect.signature(getattr(oq, name)).parameters, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_number_depends_on_the_threads(name: str) -> None:
    call = FUNCTIONS[name]
    one = call(1)
    for threads in (2, 7):
        assert call(threads).equals(one), threads


def test_parts_keep_order_and_nulls() -> None:
    assert oq.normalize(TEXTS, "squad", threads=4).to_pylist() == [
        None if text is None else oq.normalize(text, "squad") for text in TEXTS
    ]
    assert oq.tokenize(TEXTS, "dpr", threads=4).to_pylist() == [
        None if text is None else oq.tokenize(text, "dpr") for text in TEXTS
    ]
    assert oq.normalize([], threads=4).to_pylist() == []
    # A part of an array whose nulls do not begin at a byte.
    part = pa.array(["x", None, "The B", None, "c"], pa.large_string()).slice(1)
    assert oq.normalize(part).to_pylist() == [None, "b", None, "c"]
    assert oq.tokenize(part).to_pylist() == [None, ["b"], None, ["c"]]

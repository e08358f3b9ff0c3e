"""Covers: the ways data comes in, what comes out, and the errors. Compared against: literals.

Run: pytest tests/test_api.py
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odqa_fast as oq

COLUMNS: dict[str, list[Any]] = {
    "id": ["p", "q", "r", "s"],
    "prediction": ["The cat", "b b", None, "x"],
    "answers": [["cat"], ["b", "c d"], ["y"], []],
    "summary": ["the cat sat", "B", "y z", None],
    "documents": [["the cat sat on it"], ["B", "bb"], ["y z"], ["w"]],
}

EXPECTED: dict[str, list[float | None]] = {
    "em": [1.0, 0.0, 0.0, None],
    "f1": [1.0, 2 * 0.5 * 1.0 / 1.5, 0.0, None],
    "precision": [1.0, 0.5, 0.0, None],
    "recall": [1.0, 1.0, 0.0, None],
    "contains": [1.0, 1.0, 0.0, None],
    "par": [1.0, 0.0, 1.0, 0.0],
    "par:token": [1.0, 1.0, 1.0, 0.0],
    "cr": [11 / 17, 1 / 3, 1.0, None],
    "cr:words": [3 / 5, 1 / 2, 1.0, None],
}


def arrow_table() -> pa.Table:
    return pa.table(COLUMNS)


def duckdb_relation() -> Any:
    table = arrow_table()
    return duckdb.connect().from_arrow(table)


class StreamOnly:
    """Nothing but the Arrow capsule method."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return arrow_table().__arrow_c_stream__(requested_schema)


class ArrayOnly:
    """Nothing but the Arrow capsule method of a struct array."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return arrow_table().to_batches()[0].__arrow_c_array__(requested_schema)


SOURCES: dict[str, Callable[[], Any]] = {
    "dict of lists": lambda: COLUMNS,
    "dict of arrow columns": lambda: dict(zip(COLUMNS, arrow_table().columns, strict=True)),
    "pyarrow table": arrow_table,
    "pyarrow batch": lambda: arrow_table().to_batches()[0],
    "record batch reader": lambda: arrow_table().to_reader(),
    "list of batches": lambda: arrow_table().to_batches(max_chunksize=3),
    "iterator of batches": lambda: iter(arrow_table().to_batches(max_chunksize=1)),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "duckdb": duckdb_relation,
    "stream capsule": StreamOnly,
    "array capsule": ArrayOnly,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_numbers(source: str) -> None:
    scores = oq.score(SOURCES[source](), metrics=list(EXPECTED))
    assert scores.table.column_names == ["id", *EXPECTED]
    assert scores.table["id"].to_pylist() == COLUMNS["id"]
    for metric, expected in EXPECTED.items():
        assert scores.table.schema.field(metric).type == pa.float64()
        assert scores.table[metric].to_pylist() == expected, metric


def test_a_file_gives_the_same_numbers(tmp_path: Path) -> None:
    pq.write_table(arrow_table().slice(0, 3), tmp_path / "first.parquet")
    pq.write_table(arrow_table().slice(3), tmp_path / "second.parquet")
    paths = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    run = oq.score_file(paths, metrics=list(EXPECTED), out=tmp_path / "run")
    whole = oq.score(arrow_table(), metrics=list(EXPECTED))
    assert run.means == whole.means
    assert run.counts["rows"] == 4
    found = pq.read_table(tmp_path / "run" / "scores.parquet")
    for metric, expected in EXPECTED.items():
        assert found[metric].to_pylist() == expected


def test_means_are_exact_over_the_scored_rows() -> None:
    scores = oq.score(COLUMNS, metrics=list(EXPECTED))
    assert list(scores.means) == list(EXPECTED)
    for metric, expected in EXPECTED.items():
        scored = [value for value in expected if value is not None]
        assert scores.means[metric] == statistics.mean(scored), metric


def test_the_mean_does_not_lose_small_rows() -> None:
    # Summed one after the other, 0.1 ten times gives 0.9999999999999999.
    data = {"summary": ["x"] * 10, "documents": [["y" * 10]] * 10}
    assert oq.score(data, metrics=["cr"]).means["cr"] == 0.1


def test_nothing_scored_has_no_mean() -> None:
    scores = oq.score({"prediction": ["x"], "answers": [None]}, metrics=["em"])
    assert scores.means == {"em": None}


def test_counts_say_what_was_missing() -> None:
    data = {
        "prediction": [None, "x", "x", "x"],
        "answers": [["a"], None, [], [None, "x", "The"]],
        "summary": ["s", None, "s", None],
    }
    counts = oq.score(data, metrics=["em", "par"]).counts
    assert counts["rows"] == 4
    assert counts["null_predictions"] == 1
    assert counts["null_summaries"] == 2
    assert counts["null_answers"] == 1
    assert counts["empty_answers"] == 1
    assert counts["null_answer_items"] == 1
    assert counts["empty_golds"] == 2  # "a" and "The" are articles


def test_an_answer_of_nothing_counts_wherever_it_stands() -> None:
    # A zero-width space is a gap to DPR's tokenizer, but a character to SQuAD's normalizer.
    for answers in (["Rome", "\u200b"], ["\u200b", "Rome"]):
        scores = oq.score({"summary": ["in Rome"], "answers": [answers]}, metrics=["par:token"])
        assert scores.counts["empty_golds"] == 1
        assert scores.means == {"par:token": 1}


def test_ids_default_to_the_row_number() -> None:
    batches = pa.table({"prediction": ["x"] * 3, "answers": [["x"]] * 3}).to_batches(1)
    scores = oq.score(iter(batches), metrics=["em"])
    assert scores.table["id"].to_pylist() == ["0", "1", "2"]


def test_no_rows() -> None:
    empty = arrow_table().slice(0, 0)
    scores = oq.score(empty, metrics=["em", "cr"])
    assert scores.table.num_rows == 0
    assert scores.table.column_names == ["id", "em", "cr"]
    assert scores.means == {"em": None, "cr": None}
    assert scores.counts["rows"] == 0


def test_a_metric_may_name_its_own_profile() -> None:
    data = {"prediction": ["the-cat"], "answers": [["cat"]]}
    scores = oq.score(data, metrics=["em", "em:triviaqa", "f1:triviaqa"], profile="squad")
    assert scores.table.to_pylist() == [
        {"id": "0", "em": 0.0, "em:triviaqa": 1.0, "f1:triviaqa": 1.0}
    ]


def test_signatures_tell_metric_profile_and_size() -> None:
    data = {"prediction": ["x", "y"], "answers": [["x"], ["x"]]}
    scores = oq.score(data, metrics=["f1", "f1:triviaqa"])
    default, other = (str(scores.signatures[name]) for name in ("f1", "f1:triviaqa"))
    assert default.startswith("f1/1|squad/1|")
    assert other.startswith("f1/1|triviaqa/1|")
    assert "n:2" in default.split("|")
    assert f"odqa_fast:{oq.__version__}" in default.split("|")


def test_scalars_are_floats() -> None:
    assert oq.em("The cat.", ["cat", "a dog"]) == 1.0
    assert oq.f1("the cat", ["cat", "a dog"]) == 1.0
    assert oq.precision("b b", ["b"]) == 0.5
    assert oq.recall("b b", ["b"]) == 1.0
    assert oq.contains("in 1889", ["1889"]) == 1.0
    assert oq.par("in Oslo", ["Oslo"]) == 1.0
    assert oq.par("in oslo", ["Oslo"], mode="token") == 1.0
    assert oq.cr("ab", ["abc", "d"]) == 0.5
    assert oq.cr("ab c", ["a b c d"], unit="words") == 0.5
    assert isinstance(oq.em("x", ["x"]), float)
    assert oq.em("x", []) is None
    assert oq.em("x", None) is None
    assert oq.em(None, ["x"]) == 0.0
    assert oq.em(3, ["3"]) == oq.em(b"cat", ["cat"]) == 1.0


def test_a_bare_answer_is_a_list_of_one() -> None:
    assert oq.em("cat", "cat") == 1.0
    assert oq.em(["cat", "dog"], ["cat", "cat"]).to_pylist() == [1.0, 0.0]


@pytest.mark.parametrize("make", [list, pa.array, pl.Series, pd.Series], ids=lambda f: f.__module__)
def test_columns_give_an_arrow_array(make: Callable[..., Any]) -> None:
    got = oq.f1(make(COLUMNS["prediction"]), make(COLUMNS["answers"]))
    assert isinstance(got, pa.Array)
    assert got.type == pa.float64()
    assert got.to_pylist() == EXPECTED["f1"]


def test_normalize_and_tokenize() -> None:
    assert oq.normalize("The U.S.A.", "squad") == "usa"
    assert oq.normalize("The U.S.A.", "triviaqa") == "u s"
    assert oq.normalize("The a\u0301", "nq") == oq.normalize("The a\u0301", "regex") == "a\u0301"
    assert oq.normalize(["The cat", None], "hotpotqa").to_pylist() == ["cat", None]
    assert oq.tokenize("The U.S.", "squad") == ["us"]
    assert oq.tokenize("The U.S.", "dpr") == ["the", "u", ".", "s", "."]
    assert oq.tokenize(["x y", None, ""], "squad").to_pylist() == [["x", "y"], None, []]


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(oq.MetricError, match=r"precison.*precision"):
        oq.score(COLUMNS, metrics=["precison"])


@pytest.mark.parametrize("metric", ["par:verbatm", "cr:furlongs", "em:nosuch", "par:raw:token", ""])
def test_an_unknown_option_is_an_error(metric: str) -> None:
    with pytest.raises(oq.OdqaError) as error:
        oq.score(COLUMNS, metrics=[metric])
    assert isinstance(error.value, oq.MetricError | oq.ProfileError)


def test_an_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(oq.ProfileError, match=r"trivaqa.*triviaqa"):
        oq.score(COLUMNS, metrics=["em"], profile="trivaqa")
    with pytest.raises(oq.ProfileError, match="trivaqa"):
        oq.f1("x", ["x"], profile="trivaqa")


def test_asking_twice_is_an_error() -> None:
    with pytest.raises(oq.MetricError, match=r"f1.*twice|twice.*f1"):
        oq.score(COLUMNS, metrics=["f1", "em", "f1"])


def test_a_missing_column_lists_those_found() -> None:
    with pytest.raises(oq.SchemaError) as error:
        oq.score({"prediction": ["x"], "colour": ["red"]}, metrics=["em"])
    message = str(error.value)
    assert "answers" in message
    assert "prediction" in message
    assert "colour" in message


def test_columns_of_different_lengths_are_an_error() -> None:
    with pytest.raises(oq.SchemaError, match=r"2.*1|1.*2"):
        oq.score({"prediction": ["x", "y"], "answers": [["x"]]}, metrics=["em"])
    with pytest.raises(oq.SchemaError, match=r"2.*1|1.*2"):
        oq.f1(["x", "y"], [["x"]])


def test_a_column_of_numbers_is_an_error_not_a_guess() -> None:
    with pytest.raises(oq.OdqaError, match="answers"):
        oq.score({"prediction": ["x"], "answers": [[{"a": 1}]]}, metrics=["em"])


def test_a_lone_surrogate_is_bad_data() -> None:
    with pytest.raises(oq.DataError):
        oq.f1("\ud800", ["x"])
    with pytest.raises(oq.DataError):
        oq.score({"prediction": ["\ud800"], "answers": [["x"]]}, metrics=["f1"])


def test_text_that_is_not_utf8_is_bad_data() -> None:
    # pyarrow makes utf8 from any bytes without a look.
    data = pa.py_buffer(b"ok\xff\xfe")
    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0")
    broken = pa.StringArray.from_buffers(2, offsets, data)
    with pytest.raises(oq.DataError, match="prediction"):
        oq.score({"prediction": broken, "answers": [["x"], ["x"]]}, metrics=["em"])

"""Covers: public objects pickled, copied, compared and sent through processes of every kind.

Compared against: the objects themselves.
Run: pytest tests/safety/test_travel.py
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import elsewhere
import pyarrow as pa
import pytest

import odqa_fast as oq
from odqa_fast.compat.rouge_score import RougeScorer, Score
from odqa_fast.engines.failures import Failures
from odqa_fast.engines.options import EngineOptions
from odqa_fast.io import ReadCounts, ReadOptions, Rejected
from odqa_fast.judge.ratings import Ratings
from odqa_fast.judge.result import JudgeResult
from odqa_fast.judge.rubrics import load_rubric
from odqa_fast.judge.verdict import Verdict
from odqa_fast.levels.curve import Curve, Level
from odqa_fast.levels.options import LevelsOptions
from odqa_fast.levels.run import LevelsResult
from odqa_fast.metrics import all_specs
from odqa_fast.metrics.request import parse_request
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.noise.written import NoiseCounts
from odqa_fast.option import Options
from odqa_fast.profiles import PROFILES
from odqa_fast.runs.reading import RowOptions
from odqa_fast.schema import SAMPLES
from odqa_fast.steps.components import ComponentOptions
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.job import AnswerJob, CompressJob
from odqa_fast.steps.readers import ReaderOptions

SIGNATURE = oq.Signature.make("f1", 1, "squad", 1, {"golds": "max", "n": 3})
LEVEL = Level(0.2, 1.0, 0.5, None, 1.0, 0.5, 0.1, None, None, None, 2, 0, 0, {"blank": 1})
RATINGS = Ratings("judge", "j", "s", load_rubric("correctness"), [Verdict("correct", 1.0), None])
CURVE = Curve(0.5, None, None, (LEVEL,))


def _odd_score() -> oq.ScoreTable:
    """Nulls, a diagnosis, notes."""
    data = {
        "id": ["p", "q"],
        "prediction": ["a cat", None],
        "answers": [["cat"], []],
        "documents": [["a cat"], ["x"]],
        "summary": ["cat", None],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return oq.diagnose(data, ["em", "f1"])


#: One object of each public class, and of each class of options, counts and results.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "AnswerJob": lambda: AnswerJob("dump.jsonl", "http:http://a/v1#m", "out", timing="each"),
    "CompressJob": lambda: CompressJob("dump.jsonl", out="out", compressor="bm25", level=0.2),
    "ComponentOptions": lambda: ComponentOptions(prompt="answer"),
    "CompressorOptions": CompressorOptions,
    "Curve": lambda: CURVE,
    "DiagnoseOptions": lambda: oq.DiagnoseOptions(top_k=3),
    "Diagnosis": lambda: _odd_score().diagnosis,
    "EngineOptions": lambda: EngineOptions(temperature=0.5, request_fields={"top_k": 1}),
    "JudgeResult": lambda: JudgeResult(
        _odd_score(), [RATINGS], {"judges": []}, pa.table({"id": []})
    ),
    "LevelsOptions": lambda: LevelsOptions(levels=[0.2], unit="words"),
    "LevelsResult": lambda: LevelsResult(
        {"text": CURVE}, {"text": SIGNATURE}, Failures(), Failures.of(["no"]), 1, 2
    ),
    "MetricSpec": lambda: all_specs()["em"],
    "NoiseCounts": lambda: NoiseCounts(rows=3, own_chars=20),
    "NoiseOptions": lambda: NoiseOptions(kind="sentences", count=2),
    "OdqaWarning": lambda: oq.OdqaWarning("a note"),
    "Ratings": lambda: RATINGS,
    "Profile": lambda: PROFILES["kilt"],
    "ReadCounts": lambda: ReadCounts(rows_read=3),
    "ReadOptions": lambda: ReadOptions(frozenset({"id"}), mapping={"id": "key"}),
    "ReaderOptions": lambda: ReaderOptions(predictions={"q": None}),
    "Options": lambda: Options(),
    "RowOptions": lambda: RowOptions(mapping={"id": "key"}),
    "Rejected": lambda: Rejected("dump.jsonl", 3, None, "no JSON", "{"),
    "Request": lambda: parse_request("hit@5:raw", all_specs(), PROFILES["nq"]),
    "Resources": lambda: oq.Resources(regex_seconds=2.0, bertscore_idf=["a"]),
    "RougeScorer": lambda: RougeScorer(["rouge1", "rougeL"], use_stemmer=True),
    "Rubric": lambda: load_rubric("faithfulness"),
    "Score": lambda: Score(0.5, 0.25, 1 / 3),
    "ScoreTable": _odd_score,
    "Signature": lambda: SIGNATURE,
}


def _classes() -> set[type]:
    """Those that `odqa_fast` names, and of every module options, counts, results and errors."""
    found: set[type] = set()
    for module in pkgutil.walk_packages(oq.__path__, "odqa_fast."):
        if module.name.rpartition(".")[2] == "__main__":
            continue
        for each in vars(importlib.import_module(module.name)).values():
            if not isinstance(each, type) or not each.__module__.startswith("odqa_fast"):
                continue
            if issubclass(each, oq.OdqaError) or (
                dataclasses.is_dataclass(each)
                and each.__name__.endswith(("Options", "Counts", "Result"))
                and not each.__name__.startswith("_")
            ):
                found.add(each)
    return found | {each for name in oq.__all__ if isinstance(each := getattr(oq, name), type)}


def _returned(thing: Any) -> dict[str, Any]:
    return {
        **{
            f"pickle {protocol}": pickle.loads(pickle.dumps(thing, protocol))
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
        },
        "cloudpickle": pickle.loads(cloudpickle.dumps(thing)),
        "copy": copy.copy(thing),
        "deepcopy": copy.deepcopy(thing),
    }


def test_every_public_class_has_an_example() -> None:
    classes = {each.__name__ for each in _classes() if not issubclass(each, oq.OdqaError)}
    assert classes <= set(EXAMPLES)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_public_objects_come_back_equal(name: str) -> None:
    thing = EXAMPLES[name]()
    assert type(thing).__name__ == name
    for way, again in _returned(thing).items():
        assert type(again) is type(thing), way
        if isinstance(thing, Warning):  # as all of Python's own, equal to themselves alone
            assert again.args == thing.args, way
        else:
            assert again == thing, way
            assert not again != thing, way


def test_errors_come_back_whole() -> None:
    errors = [each for each in _classes() if issubclass(each, oq.OdqaError)]
    assert {oq.OdqaError, oq.DataError, oq.EngineError, oq.OutputError} < set(errors)
    for cls in errors:
        error = cls("is bad.", where="dump.jsonl, line 3", hint="Mend it.")
        error.add_note("while reading")
        for way, again in _returned(error).items():
            assert type(again) is cls, way
            assert again == error, way
            assert hash(again) == hash(error), way
            assert (again.what, again.where, again.hint) == (error.what, error.where, error.hint)
            assert str(again) == "dump.jsonl, line 3: is bad. Mend it."
            assert again.exit_code == cls.exit_code
            assert again.__notes__ == ["while reading"]
        assert error != cls("is bad.", where="dump.jsonl, line 4", hint="Mend it.")


def test_every_metric_and_table_of_names_comes_back() -> None:
    specs = all_specs()
    assert pickle.loads(pickle.dumps(specs)) == specs
    assert pickle.loads(pickle.dumps(PROFILES)) == PROFILES
    assert pickle.loads(pickle.dumps(SAMPLES)) == SAMPLES
    # A metric of one's own is not taken for the one whose id it has.
    own = dataclasses.replace(specs["em"], work=specs["f1"].work, tags=specs["em"].tags)
    assert copy.copy(own).work is specs["f1"].work


def test_a_table_comes_back_with_its_rows() -> None:
    scores = _odd_score()
    again = pickle.loads(pickle.dumps(scores))
    assert again.table.equals(scores.table)
    assert again.table["f1"].to_pylist() == [1.0, None]
    assert pickle.loads(pickle.dumps(again)) == scores
    assert dataclasses.replace(again, notes=[]).table.equals(scores.table)


def test_tables_that_differ_in_a_row_alone_differ() -> None:
    def scores(first: str, second: str) -> oq.ScoreTable:
        return oq.score({"prediction": [first, second], "answers": [["a b"], ["a b"]]}, ["em"])

    one, other = scores("a b", "x"), scores("x", "a b")
    assert one.means == other.means
    assert one != other
    assert one == scores("a b", "x")


def test_a_summary_alone_comes_back_without_a_table(tmp_path: Path) -> None:
    (tmp_path / "dump.jsonl").write_text('{"id": "1", "prediction": "a", "answers": ["a"]}\n')
    scores = oq.score_file(tmp_path / "dump.jsonl")
    again = pickle.loads(pickle.dumps(scores))
    assert again == scores
    with pytest.raises(ValueError, match="keeps no table"):
        _ = again.table


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_errors_and_results_cross_processes(method: str) -> None:
    # In a process of its own: where one does not come back, the parent hangs.
    command = [sys.executable, "-W", "ignore", elsewhere.__file__, method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr

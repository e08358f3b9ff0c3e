"""Covers: whole runs over levels. Compared against: scores worked by hand, what each part is told.

Run: pytest tests/levels/test_run_levels.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from island import texts
from program import write_jsonl

from odqa_fast.engines.base import Prepared, Query, Reply, Task
from odqa_fast.errors import MetricError, OdqaError
from odqa_fast.io import open_dump
from odqa_fast.levels.curve import Level
from odqa_fast.levels.job import LevelsJob
from odqa_fast.levels.level_rows import ROWS
from odqa_fast.levels.options import LevelsOptions
from odqa_fast.levels.plan import Plan, make_plan
from odqa_fast.levels.run import LevelsResult, run_levels
from odqa_fast.levels.summary import summarize_levels
from odqa_fast.noise.add import add_noise
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.runs.progress import Progress
from odqa_fast.signature import Signature
from odqa_fast.steps.compressors import open_compressor
from odqa_fast.texts.text import READ, Text, make_texts, read_texts


def plan(*levels: float, **options: Any) -> Plan:
    return make_plan(LevelsOptions(levels=levels, **options))


def told(text: str | None, seconds: float, error: str) -> Reply:
    if text is None:
        return Reply("", "error", seconds=seconds, error=error)
    return Reply(text, "stop", seconds=seconds)


class ScriptedCompressor:
    """Gives the summaries it was told, by document and level; done from the last to the first."""

    id = signature = "scripted"
    facts: Mapping[str, object] = {}
    needs_question = sees_answers = False

    def __init__(self, told: dict[tuple[str, float], str | None]) -> None:
        self._told = told
        self.tasks: list[Task] = []

    def prepare(self, task: Task) -> Prepared:
        return Prepared(task)

    def run(self, requests: Sequence[Task]) -> Iterator[tuple[int, Reply]]:
        self.tasks += requests
        for at, task in reversed(list(enumerate(requests))):
            assert task.level is not None
            yield at, told(self._told[task.documents[0][:1], task.level], 0.5, "out of memory")

    def close(self) -> None:
        pass


class ScriptedReader:
    """Gives the answers it was told, by question and level; done from the last to the first."""

    id = signature = "scripted|reader"
    facts: Mapping[str, object] = {}
    needs_question = True

    def __init__(self, told: dict[tuple[str, float], str | None]) -> None:
        self._told = told
        self.asked: list[Query] = []

    def prepare(self, query: Query) -> Prepared:
        return Prepared(query)

    def run(self, requests: Sequence[Query]) -> Iterator[tuple[int, Reply]]:
        self.asked += requests
        for at, each in reversed(list(enumerate(requests))):
            assert each.level is not None
            yield at, told(self._told[each.question, each.level], 0.25, "refused")

    def close(self) -> None:
        pass


# Two texts of 100 characters, two questions about the first and one about the second.
HAND = make_texts(
    [
        {
            "id": "a",
            "documents": ["a" * 100],
            "questions": ["capital?", "lake?"],
            "answers": [["Paris"], ["Lake Geneva"]],
        },
        {"id": "b", "documents": ["b" * 100], "question": "builder?", "answers": ["Ada Brink"]},
    ]
)
SUMMARIES: dict[tuple[str, float], str | None] = {
    ("a", 0.2): "s" * 20, ("a", 0.4): "s" * 40, ("a", 0.6): "s" * 30,
    ("b", 0.2): "s" * 21, ("b", 0.4): "s" * 10, ("b", 0.6): "s" * 60,
}  # fmt: skip
ANSWERS: dict[tuple[str, float], str | None] = {
    ("capital?", 0.2): "Paris", ("capital?", 0.4): "Rome", ("capital?", 0.6): "paris!",
    ("lake?", 0.2): "Lake Victoria", ("lake?", 0.4): "Lake Geneva", ("lake?", 0.6): "Geneva",
    ("builder?", 0.2): "Ada Brink", ("builder?", 0.4): "Ada Brink", ("builder?", 0.6): "Ada",
}  # fmt: skip


def hand(**options: Any) -> tuple[LevelsResult, list[dict[str, Any]], ScriptedReader]:
    batches: list[pa.RecordBatch] = []
    reader = ScriptedReader(ANSWERS)
    result = run_levels(
        HAND,
        ScriptedCompressor(SUMMARIES),
        reader,
        plan(0.2, 0.4, 0.6, **options),
        write=batches.append,
    )
    return result, pa.Table.from_batches(batches, schema=ROWS).to_pylist(), reader


def test_three_levels_with_one_violation_by_hand() -> None:
    # F1 of "Lake Victoria" is 1/2: one of two tokens on both sides. F1 of "Geneva" against
    # "Lake Geneva" is 2 * 1 * (1/2) / (1 + 1/2) = 2/3, of "Ada" against "Ada Brink" the same.
    #   0.2: text a (1 + 1/2)/2 = 3/4; text b has 21 of 100 characters and fails: 0. S = 3/8
    #   0.4: text a (0 + 1)/2 = 1/2; text b 1.                                       S = 3/4
    #   0.6: text a (1 + 2/3)/2 = 5/6; text b 2/3.                                   S = 3/4
    w = [1 / math.sqrt(0.2), 1 / math.sqrt(0.4), 1 / math.sqrt(0.6)]
    expected = (w[0] * 3 / 8 + w[1] * 3 / 4 + w[2] * 3 / 4) / sum(w)
    assert expected == pytest.approx(0.585847209323, abs=1e-12)  # 0.75 - 0.375 * 0.437740775138

    result, _, _ = hand()
    curve = result.curve
    assert [level.score for level in curve.levels] == pytest.approx(
        [3 / 8, 3 / 4, 3 / 4], abs=1e-15
    )
    assert curve.score == pytest.approx(expected, abs=1e-15)
    assert [level.weight for level in curve.levels] == pytest.approx([x / sum(w) for x in w])
    assert curve.area == pytest.approx((0.2 * (3 / 8 + 3 / 4) / 2 + 0.2 * 3 / 4) / 0.4, abs=1e-15)
    assert [level.compliance for level in curve.levels] == [0.5, 1, 1]
    assert [level.score_compliant for level in curve.levels] == pytest.approx([3 / 4, 3 / 4, 3 / 4])
    assert [level.ratio for level in curve.levels] == pytest.approx([0.205, 0.25, 0.45])
    assert [level.reasons for level in curve.levels] == [{"too long": 1}, {}, {}]
    assert result.clean is None


def test_intervals_by_hand() -> None:
    # Student's t with one degree of freedom is 12.7062047. At 0.6 the texts have 5/6 and 2/3:
    # sd (1/6)/sqrt(2), error (1/6)/2, cut off at 1. At 0.4 they have 1/2 and 1: error 1/4.
    result, _, _ = hand()
    low, high = zip(*(level.interval or (None, None) for level in result.curve.levels), strict=True)
    assert low[2] == pytest.approx(0, abs=1e-9)  # 0.75 - 12.7 / 12 is below 0
    assert high == (1.0, 1.0, 1.0)
    three = run_levels(
        [*HAND, *HAND[1:]],
        ScriptedCompressor(SUMMARIES),
        ScriptedReader(ANSWERS),
        plan(0.6),
    )
    # Texts 5/6, 2/3, 2/3: mean 13/18, squares 2 (1/18)^2 + (1/9)^2 = 6/324, error
    # sqrt(6/324/2/3) = 1/18; t with two degrees 4.3026527.
    interval = three.curve.levels[0].interval
    reach = 4.3026527 / 18
    assert interval == pytest.approx((13 / 18 - reach, 13 / 18 + reach), abs=1e-7)


def test_the_mean_over_questions() -> None:
    result, _, _ = hand(weight="questions")
    # 0.2: (1 + 1/2 + 0)/3; 0.4: (0 + 1 + 1)/3; 0.6: (1 + 2/3 + 2/3)/3.
    scores = [level.score for level in result.curve.levels]
    assert scores == pytest.approx([1 / 2, 2 / 3, 7 / 9], abs=1e-15)
    assert "of:questions" in str(result.signatures["text"])


def test_what_fails_is_not_read_and_stays_with_its_reason() -> None:
    _, rows, reader = hand()
    assert len(rows) == 9
    (failed,) = [row for row in rows if not row["passed"]]
    assert (failed["id"], failed["level"], failed["reason"]) == ("b", 0.2, "too long")
    assert (failed["score"], failed["prediction"], failed["ratio"]) == (0.0, None, 0.21)
    assert ("builder?", 0.2) not in {(each.question, each.level) for each in reader.asked}
    assert len(reader.asked) == 8


def test_the_reader_sees_the_compressed_text_and_the_question() -> None:
    _, _, reader = hand()
    assert {each.context.plain()[0] for each in reader.asked} == {
        "s" * n for n in (20, 40, 30, 10, 60)
    }


def test_a_compressor_without_a_text_and_a_reader_without_an_answer_score_0() -> None:
    result = run_levels(
        HAND,
        ScriptedCompressor({**SUMMARIES, ("b", 0.4): None}),
        ScriptedReader({**ANSWERS, ("lake?", 0.4): None}),
        plan(0.4),
    )
    (level,) = result.curve.levels
    assert level.score == 0  # text a: "Rome", and nothing; text b: nothing
    assert level.reasons == {"no answer": 1, "no summary": 1}
    assert level.compliance == 0.5


def test_truncating_makes_it_pass_and_says_so() -> None:
    told = {("a", 0.2): "One is. Two was far too long.", ("b", 0.2): "Short."}
    batches: list[pa.RecordBatch] = []
    result = run_levels(
        HAND,
        ScriptedCompressor(told),
        ScriptedReader(ANSWERS),
        plan(0.2, enforce="truncate"),
        write=batches.append,
    )
    (level,) = result.curve.levels
    assert (level.compliance, level.n_cut, level.score) == (1.0, 1, 0.875)
    assert batches[0]["summary"].to_pylist() == ["One is.", "One is.", "Short."]
    assert "truncate" in str(result.signatures["text"])


def test_only_what_may_see_them_is_told_questions_and_answers() -> None:
    compressor = ScriptedCompressor(SUMMARIES)
    run_levels(HAND, compressor, ScriptedReader(ANSWERS), plan(0.4))
    assert [task.questions for task in compressor.tasks] == [("capital?", "lake?"), ("builder?",)]
    assert {task.answers for task in compressor.tasks} == {()}
    compressor.tasks.clear()
    blind = plan(0.4, blind=True)
    result = run_levels(HAND, compressor, ScriptedReader(ANSWERS), blind)
    assert {task.questions for task in compressor.tasks} == {()}
    assert "questions:unseen" in str(result.signatures["text"])
    compressor.tasks.clear()
    compressor.sees_answers = True
    run_levels(HAND, compressor, ScriptedReader(ANSWERS), plan(0.4))
    assert compressor.tasks[0].answers == (("Paris",), ("Lake Geneva",))


def test_the_signature_holds_what_could_have_made_it_another_score() -> None:
    result, _, _ = hand()
    read = Signature.parse(str(result.signatures["text"]))
    tags = dict(read.tags)
    assert (read.metric, read.profile) == ("level_score", "squad")
    assert tags["levels"] == "0.2,0.4,0.6"
    assert tags["weight"] == "1/sqrt(b)"
    assert tags["metric"] == "f1"
    assert tags["ratio"] == "chars"
    assert tags["reader"] == "scripted/reader"  # a bar would end the tag
    assert tags["n"] == "2"
    other = plan(0.2, 0.4)
    less = run_levels(HAND, ScriptedCompressor(SUMMARIES), ScriptedReader(ANSWERS), other)
    assert not read.comparable(less.signatures["text"])


def given_answers(data: Sequence[Text]) -> ScriptedReader:
    return ScriptedReader(
        {
            (question.text, level): question.prediction
            for text in data
            for question in text.questions
            for level in (0.2, 0.5, 0.9)
        }
    )


def test_noise_and_the_clean_text_beside_it() -> None:
    noised = add_noise(texts(24), NoiseOptions(kind="sentences", count=2, rare=0, seed=5))
    noisy = [each.text for each in noised]
    batches: list[pa.RecordBatch] = []
    seen: list[Progress] = []
    result = run_levels(
        noisy,
        open_compressor("oracle"),
        given_answers(noisy),
        plan(0.5, 0.9),
        noised=noised,
        write=batches.append,
        progress=seen.append,
    )
    assert result.clean is not None
    for level in result.curve.levels:
        assert level.noise_removed == 1.0  # an injected sentence holds no answer
        assert level.evidence_kept == 1.0
        assert level.par == 1.0
    assert {level.noise_removed for level in result.clean.levels} == {None}
    rows = pa.Table.from_batches(batches, schema=ROWS)
    assert rows["text"].to_pylist() == ["noisy"] * 48 + ["clean"] * 48
    assert (seen[-1].done, seen[-1].total) == (2 * 2 * 48, 2 * 2 * 48)
    without = run_levels(
        noisy, open_compressor("none"), given_answers(noisy), plan(0.5, clean=False),
        noised=noised,
    )  # fmt: skip
    (level,) = without.curve.levels
    assert without.clean is None
    assert (level.noise_removed, level.evidence_kept, level.score) == (0.0, 1.0, 0.0)


def test_a_question_without_answers_is_not_scored(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "documents": ["aaaa"], "question": "Q?", "answers": None},
        {"id": "b", "documents": ["bbbb"], "question": "R?", "answers": ["x"]},
    ]
    path = write_jsonl(tmp_path / "dump.jsonl", rows)
    job = LevelsJob(str(path))
    dump = open_dump(path, job.reading(READ))
    result = run_levels(
        read_texts(dump),
        ScriptedCompressor({("a", 0.5): "a", ("b", 0.5): "x"}),
        ScriptedReader({("Q?", 0.5): "x", ("R?", 0.5): "x"}),
        plan(0.5),
    )
    (level,) = result.curve.levels
    assert (level.score, level.n_texts, level.interval) == (1.0, 1, None)
    summary = summarize_levels(result, job, dump)
    assert summary.metrics["level_score"].n_scored == 1
    assert summary.metrics["level_score"].n_null == 1
    assert summary.counts["rows"] == 2


def test_what_cannot_be_run() -> None:
    with pytest.raises(OdqaError, match="no level"):
        LevelsOptions(levels=[])
    with pytest.raises(MetricError, match="no metric of a prediction"):
        plan(0.2, metric="par")
    assert isinstance(hand(metric="em")[0].curve.levels[0], Level)

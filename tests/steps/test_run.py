"""Covers: dumps through a component: what is asked, written, counted, kept and gone on with.

Compared against: a reader whose replies are known. Run: pytest tests/steps/test_run.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import write_jsonl

from odqa_fast.engines.base import Prepared, Query, Reply
from odqa_fast.errors import OdqaError, OutputError, SchemaError
from odqa_fast.runs.progress import Progress
from odqa_fast.schema import SAMPLES
from odqa_fast.steps import run as steps_run
from odqa_fast.steps.contexts import make_answer_step, make_compress_step
from odqa_fast.steps.job import AnswerJob
from odqa_fast.steps.run import run_step
from odqa_fast.steps.step import Step
from odqa_fast.steps.timing import describe_seconds, measure_throughput

#: The question and the documents go to the echo as they are.
COMPRESS = replace(make_compress_step(), ask=Query)

ROWS = [
    {"id": "a", "question": "Who?", "answers": ["x"], "documents": [{"title": "T", "text": "one"}]},
    {"id": "b", "question": "Where?", "answers": ["y"], "documents": ["two", None, ""]},
    {"id": "c", "question": "Who?", "answers": ["z"], "summary": "short", "documents": ["three"]},
    {"id": "d", "question": None, "answers": ["v"], "documents": ["four"]},
    {"id": "e", "question": "When?", "answers": ["w"], "documents": []},
    {"id": "f", "question": "Who?", "answers": ["u"], "documents": [{"title": "T", "text": "one"}]},
]


class Echo:
    """Replies with the question and its context; notes what it was asked."""

    def __init__(self, *, signature: str = "echo/1", stop_after: int | None = None) -> None:
        self.id, self.signature = "echo", signature
        self.facts: dict[str, object] = {"model": "echo"}
        self.needs_question = True
        self.asked: list[Any] = []
        self._stop_after = stop_after

    def prepare(self, query: Query) -> Prepared:
        left_out = query.context.texts[2:]
        chars = sum(len(text) for _, text in left_out)
        shown = [": ".join(filter(None, text)) for text in query.context.texts[:2]]
        return Prepared((query.question, *shown), 0.5, len(left_out), chars)

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        for index in reversed(range(len(requests))):
            if len(self.asked) == self._stop_after:
                raise KeyboardInterrupt
            self.asked.append(requests[index])
            yield index, self.reply(requests[index])

    def reply(self, request: Any) -> Reply:
        if "two" in request[-1]:
            return Reply("", "error", error="too long: by two")
        text = f" {'|'.join(request)}\n"
        return Reply(text, "stop", 10, len(request), 2.0, "", 0.25, 0.125)

    def close(self) -> None:
        pass


def go(
    rows: list[dict[str, Any]] | Path,
    out: Path,
    echo: Echo | None = None,
    step: Step | None = None,
    progress: Any = None,
    **options: Any,
) -> dict[str, Any]:
    path = rows if isinstance(rows, Path) else write_jsonl(out.with_suffix(".jsonl"), rows)
    job = AnswerJob(path, "echo", out, **{"timing": "each", **options})
    step = step or make_answer_step()
    return run_step(job, step, lambda: echo or Echo(), progress).as_dict()


def test_every_row_gets_what_came_of_it(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    summary = go(ROWS, out)
    table = pq.read_table(out)
    assert table.schema.names == [
        *("id", "question", "answers", "prediction", "documents", "summary", "reader_seconds"),
        "reader_error",
        *(f"reader_{name}_seconds" for name in ("prompt", "tokenize", "queue")),
        *(f"reader_{name}" for name in ("tokens_in", "tokens_out", "input")),
        *(f"reader_{name}" for name in ("documents_left_out", "chars_left_out", "finish")),
        "reader_thought",
    ]
    assert table.schema.field("documents").type == SAMPLES.field("documents").type
    rows = table.to_pylist()
    assert [row["id"] for row in rows] == list("abcdef")
    # The summary where there is one, else the documents, else nothing; no reply, no text.
    assert [row["prediction"] for row in rows] == [
        *("Who?|T: one", None, "Who?|short", None, "When?", "Who?|T: one"),
    ]
    assert [row["reader_input"] for row in rows] == [
        *("documents", "documents", "summary", None, "none", "documents"),
    ]
    assert [row["reader_error"] for row in rows] == [None, "too long: by two", *[None] * 4]
    assert [row["reader_seconds"] for row in rows] == [2.0, None, 2.0, None, 2.0, 2.0]
    assert rows[0]["reader_prompt_seconds"] == 0.5
    assert rows[0]["reader_tokenize_seconds"] == 0.25
    assert rows[0]["reader_queue_seconds"] == 0.125
    assert (rows[0]["reader_tokens_in"], rows[0]["reader_tokens_out"]) == (10, 2)
    assert rows[1]["answers"] == ["y"]
    assert summary["counts"] == {
        "rows": 6,
        "asked": 5,
        "not_asked": 1,
        "input_documents": 3,
        "input_summary": 1,
        "input_none": 1,
        "finish_stop": 4,
        "finish_error": 1,
        "error_too_long": 1,
        "failed": 1,
        "distinct": 4,
    }
    assert summary["notes"][0] == "1 rows failed and have no prediction (too long: by two)."
    # Equal prompts count once: three replies of 2 seconds with 2, 2 and 1 tokens.
    assert summary["seconds"]["reader_seconds"] == {
        "n": 3,
        **dict.fromkeys(("mean", "median", "p90", "p99"), 2.0),
    }
    assert summary["tokens"] == {
        "tokens_in": 30,
        "tokens_out": 5,
        "seconds": 6.0,
        "tokens_in_per_second": 5.0,
        "tokens_out_per_second": 5 / 6,
    }
    assert summary["runs"] == {"model": "echo", "timing": "each"}
    assert json.loads(table.schema.metadata[b"odqa_fast"]) == summary
    # What did not fail need not be asked again.
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("out.jsonl", "out.parquet", "out.parquet.replies.sqlite")
    ]


def test_compressing_makes_summaries_of_documents(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    many = {"id": "g", "question": "Why?", "documents": ["1", "22", "333", "4444"]}
    summary = go([*ROWS, many], out, step=COMPRESS, timing="batch")
    rows = pq.read_table(out).to_pylist()
    assert [row["summary"] for row in rows] == [
        *("Who?|T: one", None, "Who?|three", None, None, "Who?|T: one"),
        "Why?|1|22",
    ]
    assert rows[0]["compressor_amortized_seconds"] == 2.0
    assert "compressor_seconds" not in rows[0]
    assert rows[6]["compressor_documents_left_out"] == 2
    assert rows[6]["compressor_chars_left_out"] == 7
    counts = summary["counts"]
    # One row has no question, one no documents.
    assert (counts["not_asked"], counts["cut"], counts["documents_left_out"]) == (2, 1, 2)
    assert next(iter(summary["seconds"])) == "compressor_amortized_seconds"


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("summary", ["Who?", "Where?", "Who?|short", None, "When?", "Who?"]),
        ("none", ["Who?", "Where?", "Who?", None, "When?", "Who?"]),
    ],
)
def test_a_context_can_be_chosen(context: Any, expected: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    go(ROWS, out, step=make_answer_step(context))
    assert pq.read_table(out)["prediction"].to_pylist() == expected


def test_seconds_of_an_earlier_run_do_not_stay(tmp_path: Path) -> None:
    first, second = tmp_path / "1.parquet", tmp_path / "2.parquet"
    go(ROWS, first, timing="each")
    go(first, second, timing="batch", echo=Echo(signature="echo/2"))
    row = pq.read_table(second).to_pylist()[0]
    assert row["reader_amortized_seconds"] == 2.0
    assert "reader_seconds" not in row
    # The compressor's stay: they are another step's.
    go(ROWS, first, step=COMPRESS, timing="each")
    go(first, second)
    assert pq.read_table(second).to_pylist()[0]["compressor_seconds"] == 2.0


def test_equal_prompts_are_asked_once_over_all_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps_run, "WINDOW_ROWS", 2)
    echo = Echo()
    states: list[tuple[int | None, int]] = []

    def progress(state: Progress) -> None:
        states.append((state.total, state.done))

    summary = go(ROWS * 3, tmp_path / "out.parquet", echo, progress=progress)
    assert len(echo.asked) == len(set(echo.asked)) == 4
    assert states[:7] == [(2, 0), (2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (4, 4)]
    assert set(states[7:]) == {(4, 4)}
    assert (summary["counts"]["rows"], summary["counts"]["distinct"]) == (18, 4)
    predictions = pq.read_table(tmp_path / "out.parquet")["prediction"].to_pylist()
    assert predictions[:6] == predictions[6:12] == predictions[12:]
    assert predictions[0] == "Who?|T: one"


def test_columns_that_come_later_are_columns(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    write_jsonl(folder / "1.jsonl", [{"question": "first?"}])
    write_jsonl(folder / "2.jsonl", [{"question": "last?", "summary": "s", "level": 0.5}])
    go(folder, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["prediction"].to_pylist() == ["first?", "last?|s"]
    assert table["level"].to_pylist() == [None, 0.5]
    assert "documents" not in table.schema.names


def test_a_dump_without_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"question": pa.array([], pa.string())}), tmp_path / "none.parquet")
    summary = go(tmp_path / "none.parquet", tmp_path / "out.parquet")
    assert summary["counts"] == {"rows": 0}
    assert summary["seconds"]["reader_seconds"] == {"n": 0}
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.num_rows == 0
    assert "prediction" in table.schema.names


@pytest.mark.parametrize(
    ("step", "rows", "column"),
    [
        (make_answer_step(), [{"id": "a", "documents": ["x"]}], "question"),
        (make_answer_step("summary"), [{"question": "Who?"}], "summary"),
        (COMPRESS, [{"question": "Who?"}], "documents"),
        (COMPRESS, [{"documents": ["x"]}], "question"),
    ],
)
def test_a_missing_column_has_its_name(
    step: Step, rows: list[dict[str, Any]], column: str, tmp_path: Path
) -> None:
    with pytest.raises(SchemaError, match=f"needs a column '{column}'.*--map {column}=NAME"):
        go(rows, tmp_path / "out.parquet", step=step)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


# Runs that stop


def interrupted(tmp_path: Path, after: int) -> Path:
    out = tmp_path / "out.parquet"
    echo = Echo(stop_after=after)
    with pytest.raises(KeyboardInterrupt):
        go(ROWS, out, echo)
    assert not out.exists()
    return out


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    out = interrupted(tmp_path, 2)
    assert [path.name for path in (tmp_path / "out.parquet.parts").iterdir()] == ["replies.sqlite"]
    # Those that were done are of another file's run now: nothing of it is asked again.
    echo = Echo()
    summary = go(ROWS, out, echo, resume=True)
    assert len(echo.asked) == 2
    assert summary["counts"]["kept_from_before"] == 2
    whole = tmp_path / "whole.parquet"
    go(ROWS, whole)
    # Beside the figures in the metadata, which say what was kept.
    assert pq.read_table(out).to_pylist() == pq.read_table(whole).to_pylist()
    assert not (tmp_path / "out.parquet.parts").exists()


def test_errors_are_tried_again(tmp_path: Path) -> None:
    out = interrupted(tmp_path, 3)
    echo = Echo()
    go(ROWS, out, echo, resume=True)
    asked = [request[0] for request in echo.asked]
    assert "Where?" in asked  # the row that ended with an error


def test_an_unfinished_run_is_not_gone_over(tmp_path: Path) -> None:
    out = interrupted(tmp_path, 2)
    with pytest.raises(OdqaError, match=r"holds an unfinished run.*--resume"):
        go(ROWS, out)
    with pytest.raises(OdqaError, match=r"is of echo/1\|timing:each, not of echo/2"):
        go(ROWS, out, Echo(signature="echo/2"), resume=True)
    with pytest.raises(OdqaError, match="timing:batch"):
        go(ROWS, out, resume=True, timing="batch")
    # Neither took anything from it.
    assert go(ROWS, out, resume=True)["counts"]["kept_from_before"] == 2


def test_resume_without_a_run_starts_one(tmp_path: Path) -> None:
    echo = Echo()
    go(ROWS, tmp_path / "out.parquet", echo, resume=True)
    assert len(echo.asked) == 4


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        go(write_jsonl(tmp_path / "rows.jsonl", ROWS), tmp_path / "folder")
    (tmp_path / "file").write_text("x")
    dump = write_jsonl(tmp_path / "dump.jsonl", ROWS)
    with pytest.raises(OutputError, match="could not be written: Not a directory"):
        go(dump, tmp_path / "file" / "out.parquet")


# Figures


def test_figures_by_hand() -> None:
    # Ranks 0 to 4: the 90th percentile lies at 3.6, the 99th at 3.96.
    found = describe_seconds([5.0, 1.0, 2.0, 3.0, 4.0])
    assert found == pytest.approx({"n": 5, "mean": 3.0, "median": 3.0, "p90": 4.6, "p99": 4.96})
    assert describe_seconds([]) == {"n": 0}


def test_throughput_of_nothing() -> None:
    assert measure_throughput([])["tokens_out_per_second"] is None

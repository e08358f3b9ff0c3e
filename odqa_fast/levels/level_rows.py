"""The rows that a run over levels writes: a question at a level each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.engines.base import Reply
from odqa_fast.levels.curve import Outcome
from odqa_fast.levels.ratio import Check
from odqa_fast.runs.provenance import PROVENANCE, hash_questions
from odqa_fast.texts.text import Text

#: Seconds are a row's share of what was done together; a question comes from the row that has it.
ROWS = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("text_id", pa.string()),
        pa.field("text", pa.string()),
        pa.field("level", pa.float64()),
        pa.field("summary", pa.string()),
        pa.field("prediction", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("par", pa.float64()),
        pa.field("ratio", pa.float64()),
        pa.field("noise_removed", pa.float64()),
        pa.field("evidence_kept", pa.float64()),
        pa.field("passed", pa.bool_()),
        pa.field("reason", pa.string()),
        pa.field("compressor_amortized_seconds", pa.float64()),
        pa.field("reader_amortized_seconds", pa.float64()),
        *PROVENANCE,
    ]
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question; nothing where its text was not read.

    Attributes:
        text: the answer; None where there is none.
        seconds: what answering took; None where nothing ran for it.
        error: why there is no answer.
        chars_left_out: how much of the compressed text did not fit into the reader.
    """

    text: str | None = None
    seconds: float | None = None
    error: str = ""
    chars_left_out: int = 0


def name_seconds(timing: Literal["batch", "each"]) -> pa.Schema:
    """`ROWS` with the seconds named by what they are: a row's own where it was done by itself."""
    if timing == "batch":
        return ROWS
    return pa.schema([each.with_name(each.name.replace("_amortized", "")) for each in ROWS])


def make_rows(
    texts: Sequence[Text],
    compressed: Sequence[Reply],
    checks: Sequence[Check],
    answered: Sequence[Answer],
    level: float,
    name: str,
) -> dict[str, list[Any]]:
    """The columns of `ROWS`, of which the scores are still missing."""
    rows: dict[str, list[Any]] = {field: [] for field in ROWS.names}
    answers = iter(answered)
    for text, made, check in zip(texts, compressed, checks, strict=True):
        for question in text.questions:
            answer = next(answers)
            rows["id"].append(question.id)
            rows["source"].append(question.source)
            rows["place"].append(question.place)
            rows["text_id"].append(text.id)
            rows["summary"].append(check.summary)
            rows["prediction"].append(answer.text)
            rows["ratio"].append(check.ratio)
            rows["passed"].append(not check.reason)
            failed = f"no answer: {answer.error}" if answer.error else None
            rows["reason"].append(check.reason or failed)
            rows["compressor_amortized_seconds"].append(made.seconds)
            rows["reader_amortized_seconds"].append(answer.seconds)
    n = len(rows["id"])
    rows["level"], rows["text"] = [level] * n, [name] * n
    rows["noise_removed"], rows["evidence_kept"] = [None] * n, [None] * n
    questions = [question.text for text in texts for question in text.questions]
    rows["question_hash"] = hash_questions(pa.array(questions, pa.string())).to_pylist()
    return rows


def make_outcomes(
    texts: Sequence[Text],
    checks: Sequence[Check],
    answered: Sequence[Answer],
    rows: Mapping[str, list[Any]],
) -> list[Outcome]:
    """What became of each text, from its rows."""
    outcomes = []
    start = 0
    for text, check in zip(texts, checks, strict=True):
        stop = start + len(text.questions)
        outcomes.append(
            Outcome(
                check=check,
                reasons=tuple(
                    reason.partition(":")[0] for reason in rows["reason"][start:stop] if reason
                ),
                left_out=sum(each.chars_left_out > 0 for each in answered[start:stop]),
                **{
                    name: [value for value in rows[name][start:stop] if value is not None]
                    for name in ("score", "par", "noise_removed", "evidence_kept")
                },
            )
        )
        start = stop
    return outcomes

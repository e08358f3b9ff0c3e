"""A dump's predictions judged one by one, and the judges judged with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.engines.base import Engine
from odqa_fast.engines.failures import Failures
from odqa_fast.judge import agreement, bias
from odqa_fast.judge.ask import Count, Question, Usage, ask_all
from odqa_fast.judge.families import family
from odqa_fast.judge.ratings import (
    Ratings,
    columns_of,
    describe_judges,
    judge_names,
    kin_notes,
    rate,
)
from odqa_fast.judge.result import JudgeResult
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.selection import SelectedRows, join_texts, read_human
from odqa_fast.judge.tables import schema_with, score_table, table_of
from odqa_fast.runs.provenance import PROVENANCE
from odqa_fast.schema import ERRORS
from odqa_fast.scores import ScoreTable
from odqa_fast.scoring.job import score

Floats = npt.NDArray[np.float64]

#: The surface metrics that judges are held against, and from which score on a row counts as right.
SURFACE = {"em": 1.0, "f1": 0.5, "contains": 1.0}
#: What may be shown to a judge beside the prediction.
_SHOWN = ("question", "answers", "context")


def columns_for(rubrics: Sequence[Rubric]) -> dict[str, str]:
    """The columns that rubrics need, each with the rubric that needs it."""
    return {
        column: f"the rubric {rubric.id!r}"
        for rubric in rubrics
        for column in ("prediction", *_SHOWN)
        if column in rubric.prompt.places
    }


class RowQuestions:
    """What rubrics ask of rows; see `ask.Questions`.

    Attributes:
        rows: the rows.
        counts: rows about which there is nothing to ask, by reason; grows while asking.
    """

    def __init__(self, rows: SelectedRows) -> None:
        self.rows = rows
        self.counts: Counter[str] = Counter()
        self._columns: dict[str, list[Any]] = {
            name: rows.table[name].to_pylist()
            for name in ("prediction", *_SHOWN)
            if name in rows.table.column_names
        }

    def __len__(self) -> int:
        return len(self.rows)

    def ask(self, rubric: Rubric, lo: int, hi: int) -> list[Question]:
        """What a rubric asks of the rows [lo, hi)."""
        places = [each for each in _SHOWN if each in rubric.prompt.places]
        return [self._ask(rubric, places, row) for row in range(lo, hi)]

    def _ask(self, rubric: Rubric, places: Sequence[str], row: int) -> Question:
        texts = {}
        for name in places:
            text = join_texts(self._columns[name][row])
            if not text:
                self.counts[f"{rubric.id}_without_{name}"] += 1
                return None
            texts[name] = text
        prediction = join_texts(self._columns["prediction"][row])
        if not prediction.strip():
            self.counts[f"{rubric.id}_without_prediction"] += 1
            return rubric.blank
        return rubric.request(prediction=prediction, **texts)


def judge_rows(
    rows: SelectedRows,
    engines: Sequence[Engine],
    rubrics: Sequence[Rubric],
    *,
    profile: str = "squad",
    system: str | None = None,
    usage: Usage | None = None,
    tags: Mapping[str, object] | None = None,
    progress: Count = lambda n: None,
) -> JudgeResult:
    """Judges rows, and holds the judges against one another, surface metrics and people.

    Args:
        rows: with the columns of `columns_for`, and `answers`, `human` and `system`.
        engines: the judges; of several, the majority counts.
        rubrics: what they are asked.
        profile: of em, f1 and contains.
        system: what made the predictions, where no column `system` says it.
        usage: grows; give one to know prices.
        tags: for the signatures: how the rows were chosen.
        progress: told how many more verdicts there are.

    Raises:
        EngineError: a judge gives no more replies.
        DataError: a person's verdict is none.
    """
    usage, questions = usage or Usage(), RowQuestions(rows)
    human = read_human(rows)
    by_rubric = [
        rate(each, engines, ask_all(engines, each, questions, usage, progress)) for each in rubrics
    ]
    ratings = [each for some in by_rubric for each in some]
    failed = _failed(rows)
    surface = score(rows.table.select(["id", "prediction", "answers"]), list(SURFACE), profile)
    systems = [system or each for each in rows.texts("system")]
    columns = {name: surface.table[name] for name in SURFACE}
    report = {
        "judges": describe_judges(engines),
        **_agreement(by_rubric, {name: _floats(each) for name, each in columns.items()}, human),
        "bias": _bias(rows, ratings, _floats(columns["f1"]), human, systems),
        **_grounding(by_rubric),
        "usage": usage.as_dict(len(rows)),
    }
    own = score_table(ratings, tags or {}, rows.context)
    scores = ScoreTable(
        means={**own.means, **surface.means},
        scored={**own.scored, **surface.scored},
        counts={
            "rows_read": rows.n_read,
            **surface.counts,
            **questions.counts,
            **({"failed_predictions": failed.n} if failed.n else {}),
            "rows_with_human": int((~np.isnan(human)).sum()),
        },
        signatures={**own.signatures, **surface.signatures},
        notes=[
            *failed.note("{n} predictions are missing because a model failed, and count as wrong"),
            *own.notes,
            *kin_notes(engines, systems),
        ],
    )
    more = {
        **{name: each.to_pylist() for name, each in columns.items()},
        "human": [None if np.isnan(value) else value for value in human],
        **{field.name: rows.table[field.name] for field in PROVENANCE},
    }
    ids = rows.table["id"].to_pylist()
    table = table_of(ids, ratings, more, row_schema(rubrics, engines))
    return JudgeResult(scores, ratings, report, table, usage.came)


def _failed(rows: SelectedRows) -> Failures:
    """The predictions that are missing because a reader failed."""
    error = ERRORS["prediction"]
    if error not in rows.table.column_names:
        return Failures()
    pairs = zip(rows.texts("prediction"), rows.texts(error), strict=True)
    return Failures.of(why for text, why in pairs if why and not (text or "").strip())


def row_schema(rubrics: Sequence[Rubric], engines: Sequence[Engine]) -> pa.Schema:
    """The columns of `judge_rows(...).table`."""
    names = judge_names(engines)
    columns = [column for rubric in rubrics for column in columns_of(rubric, names)]
    beside = [pa.field(name, pa.float64()) for name in (*SURFACE, "human")]
    return schema_with(columns, [*beside, *PROVENANCE])


def _agreement(
    by_rubric: Sequence[Sequence[Ratings]], surface: Mapping[str, Floats], human: Floats
) -> dict[str, Any]:
    """How verdicts that say what is right agree with surface metrics and people, and judges with
    one another."""
    calls = {
        name if least == 1 else f"{name}>={least:g}": agreement.calls_at(surface[name], least)
        for name, least in SURFACE.items()
    }
    said = agreement.calls_at(human, 1.0)
    graded = [each for some in by_rubric for each in some if each.rubric.right]
    judged = {each.column: agreement.calls_of(each, each.rubric.right) for each in graded}
    report: dict[str, Any] = {
        "agreement": agreement.compare_columns(judged, calls),
        "among_judges": {
            some[0].rubric.id: agreement.compare_judges(some[1:])
            for some in by_rubric
            if len(some) > 1
        },
    }
    if (said >= 0).any():
        with_people = agreement.compare_columns({**judged, **calls}, {"people": said})
        report["agreement"] = [*with_people, *report["agreement"]]
        report["confusion"] = {e.column: agreement.count_confusion(e, said) for e in graded}
        powered = {each.column: agreement.correct_mean(each, human) for each in graded}
        report["corrected"] = {name: each for name, each in powered.items() if each}
    return report


def _grounding(by_rubric: Sequence[Sequence[Ratings]]) -> dict[str, Any]:
    """Grounded and right, by the first rubric that says each; of right, given the answers."""
    grounded = [some[0] for some in by_rubric if some[0].rubric.grounded]
    right = [
        some[0]
        for some in by_rubric
        if some[0].rubric.right and "answers" in some[0].rubric.prompt.places
    ]
    if not (grounded and right):
        return {}
    return {"grounding": agreement.count_grounding(grounded[0], right[0])}


def _bias(
    rows: SelectedRows,
    ratings: Sequence[Ratings],
    f1: Floats,
    human: Floats,
    systems: Sequence[str | None],
) -> dict[str, Any]:
    """Each judge's bias over the rows that it was shown: by length, and by kinship."""
    predictions = rows.table["prediction"].fill_null("")
    lengths = _floats(pc.utf8_length(predictions).cast(pa.float64()))
    blank = _floats(pc.utf8_length(pc.utf8_trim_whitespace(predictions)).cast(pa.float64())) == 0
    families = np.array([family(each) if each else "" for each in systems])
    reference = human if not np.isnan(human).all() else f1
    figures: dict[str, Any] = {}
    for each in ratings:
        scores = np.where(blank, np.nan, each.scores)
        figures[each.column] = {"verbosity": bias.verbosity(scores, lengths, f1).as_dict()}
        if each.judge and each.rubric.right:
            kin = families == family(each.judge)
            known = np.where(families == "", np.nan, scores)
            preference = bias.self_preference(known, reference, kin)
            figures[each.column]["self_preference"] = {
                **preference.as_dict(),
                "against": "people" if reference is human else "f1",
                "n_kin": int(kin.sum()),
            }
    return figures


def _floats(column: pa.ChunkedArray) -> Floats:
    """A column of numbers, NaN for null."""
    values: Floats = column.combine_chunks().fill_null(float("nan")).to_numpy(zero_copy_only=False)
    return values

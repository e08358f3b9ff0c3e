"""A dump's predictions judged one by one, and the judges judged with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.engines.base import Engine, Request
from odqa_fast.engines.failures import Failures
from odqa_fast.judge import agreement, bias
from odqa_fast.judge.ask import AT_ONCE, Question, Usage, ask, majority
from odqa_fast.judge.families import family
from odqa_fast.judge.ratings import Opinion, columns_of, judge_names
from odqa_fast.judge.result import (
    NO_PREDICTION,
    Judged,
    fields_of,
    means_of,
    notes_on,
    values_of,
)
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.selection import Rows, people
from odqa_fast.judge.verdict import Verdict
from odqa_fast.schema import ERRORS
from odqa_fast.scores import ScoreTable
from odqa_fast.scoring.job import score

Floats = npt.NDArray[np.float64]

#: The surface metrics that judges are held against, and from which score on a row counts as right.
SURFACE = {"em": 1.0, "f1": 0.5, "contains": 1.0}


def columns_for(rubrics: Sequence[Rubric]) -> dict[str, str]:
    """The columns that rubrics need, each with the rubric that needs it."""
    return {
        column: f"the rubric {rubric.id!r}"
        for rubric in rubrics
        for column in ("question", "prediction", "answers", "context")
        if column in rubric.prompt.places
    }


class Questions:
    """What the rubrics ask of rows.

    Attributes:
        rows: the rows.
        counts: rows about which there is nothing to ask, by reason; grows while asking.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.counts: Counter[str] = Counter()
        self._columns: dict[str, list[Any]] = {
            name: rows.table[name].to_pylist()
            for name in ("question", "answers", "prediction", "context")
            if name in rows.table.column_names
        }

    def of(self, rubric: Rubric, lo: int, hi: int) -> list[Question]:
        """What a rubric asks of the rows [lo, hi)."""
        places = [
            each for each in ("question", "answers", "context") if each in rubric.prompt.places
        ]
        return [self._of(rubric, places, row) for row in range(lo, hi)]

    def _of(self, rubric: Rubric, places: Sequence[str], row: int) -> Question:
        texts = {}
        for name in places:
            text = listed(self._columns[name][row])
            if not text:
                self.counts[f"{rubric.id}_without_{name}"] += 1
                return None
            texts[name] = text
        prediction = listed(self._columns["prediction"][row])
        if not prediction.strip():
            self.counts[f"{rubric.id}_without_prediction"] += 1
            # No prediction is wrong; but it claims nothing that could be unfounded.
            return None if rubric.id == "faithfulness" else NO_PREDICTION
        return rubric.request(prediction=prediction, **texts)


def listed(value: str | Sequence[str | None] | None) -> str:
    """A text as it is, texts one a line and each once; nothing for null."""
    if value is None or isinstance(value, str):
        return value or ""
    return "\n".join(f"- {each}" for each in dict.fromkeys(value) if each is not None)


def requests_of(questions: Questions, rubric: Rubric) -> Iterator[list[Request]]:
    """All that a rubric asks, a part at a time."""
    for lo, hi in parts(len(questions.rows)):
        yield [q for q in questions.of(rubric, lo, hi) if isinstance(q, Request)]


def judge(
    rows: Rows,
    engines: Sequence[Engine],
    rubrics: Sequence[Rubric],
    *,
    profile: str = "squad",
    system: str | None = None,
    usage: Usage | None = None,
    tags: dict[str, object] | None = None,
    progress: Callable[[int], None] = lambda n: None,
) -> Judged:
    """Judges rows, and holds the judges against one another, surface metrics and people.

    Args:
        rows: with the columns of `columns_for`, and `answers`, `human` and `system`.
        engines: the judges; of several, the majority counts.
        rubrics: what they are asked; see `rubric.make_rubrics`.
        profile: of em, f1 and contains.
        system: what made the predictions, where no column `system` says it.
        usage: grows; give one to know prices.
        tags: for the signatures: how the rows were chosen.
        progress: told how many more verdicts there are.

    Raises:
        EngineError: a judge gives no more replies.
        DataError: a person's verdict is none.
    """
    usage = usage or Usage()
    human = people(rows)
    questions = Questions(rows)
    names = judge_names(engines)
    opinions: dict[str, list[Opinion]] = {}
    for rubric in rubrics:
        given: list[list[Verdict | None]] = [[] for _ in engines]
        for lo, hi in parts(len(rows)):
            part = questions.of(rubric, lo, hi)
            for engine, verdicts in zip(engines, given, strict=True):
                verdicts += ask(engine, rubric, part, usage, progress)
        opinions[rubric.id] = opinions_of(rubric, engines, names, given)
    failed = _failed(rows)
    surface = score(rows.table.select(["id", "prediction", "answers"]), list(SURFACE), profile)
    systems = [system or each for each in rows.texts("system")]
    report = _report(rows, opinions, names, surface, human, systems)
    report["usage"] = usage.as_dict(len(rows))
    every = [opinion for each in opinions.values() for opinion in each]
    own = means_of(every, tags or {}, rows.context)
    scores = ScoreTable(
        means={**own["means"], **surface.means},
        scored={**own["scored"], **surface.scored},
        counts={
            "rows_read": rows.n_read,
            **surface.counts,
            **questions.counts,
            **({"failed_predictions": failed.n} if failed.n else {}),
            "rows_with_human": int((~np.isnan(human)).sum()),
        },
        signatures={**own["signatures"], **surface.signatures},
        notes=[
            *failed.note("{n} predictions are missing because a model failed, and count as wrong"),
            *notes_on(every),
            *kin_notes(names, systems),
        ],
    )
    columns: dict[str, Any] = {"id": rows.table["id"].to_pylist()}
    for opinion in every:
        columns.update(values_of(opinion))
    columns.update({name: surface.table[name].to_pylist() for name in SURFACE})
    columns["human"] = [None if np.isnan(value) else value for value in human]
    table = pa.table(columns, schema=schema_of(rubrics, engines))
    return Judged(scores, every, report, table)


def _failed(rows: Rows) -> Failures:
    """The predictions that are missing because a reader failed."""
    error = ERRORS["prediction"]
    if error not in rows.table.column_names:
        return Failures()
    pairs = zip(rows.texts("prediction"), rows.texts(error), strict=True)
    return Failures.of(why for text, why in pairs if why and not (text or "").strip())


def schema_of(rubrics: Sequence[Rubric], engines: Sequence[Engine]) -> pa.Schema:
    """The columns of `judge(...).table`."""
    names = judge_names(engines)
    columns = [column for rubric in rubrics for column in columns_of(rubric, names)]
    surface = [pa.field(name, pa.float64()) for name in (*SURFACE, "human")]
    return pa.schema([pa.field("id", pa.string()), *fields_of(columns), *surface])


def opinions_of(
    rubric: Rubric,
    engines: Sequence[Engine],
    names: Sequence[str],
    given: Sequence[Sequence[Verdict | None]],
) -> list[Opinion]:
    """The majority's opinion and those of all judges; of one judge, that alone."""
    signatures = [engine.signature for engine in engines]
    judges, said = list(names), [*given]
    if len(engines) > 1:
        signatures.insert(0, f"majority({'+'.join(signatures)})")
        judges.insert(0, "")
        said.insert(0, majority(given))
    columns = columns_of(rubric, names)
    return [
        Opinion(column, judge, signature, rubric, verdicts)
        for column, judge, signature, verdicts in zip(
            columns, judges, signatures, said, strict=True
        )
    ]


def parts(n: int) -> Iterator[tuple[int, int]]:
    """Parts [lo, hi) of n rows that are asked about at a time."""
    return ((lo, min(lo + AT_ONCE, n)) for lo in range(0, n, AT_ONCE))


def _report(
    rows: Rows,
    opinions: dict[str, list[Opinion]],
    names: Sequence[str],
    surface: ScoreTable,
    human: Floats,
    systems: Sequence[str | None],
) -> dict[str, Any]:
    values = {name: _floats(surface.table[name]) for name in SURFACE}
    calls = {
        name if least == 1 else f"{name}>={least:g}": agreement.calls_at(values[name], least)
        for name, least in SURFACE.items()
    }
    said = agreement.calls_at(human, 1.0)
    graded = [o for each in opinions.values() for o in each if o.rubric.id != "faithfulness"]
    judged = {opinion.column: agreement.calls_of(opinion) for opinion in graded}
    report: dict[str, Any] = {
        "judges": [{"name": name, "family": family(name)} for name in names],
        "agreement": agreement.pairs(judged, calls),
        "among_judges": {
            rubric: agreement.among(each[1:]) for rubric, each in opinions.items() if len(each) > 1
        },
        "bias": _bias(rows, opinions, values["f1"], human, systems),
    }
    if (said >= 0).any():
        report["agreement"] = [
            *agreement.pairs({**judged, **calls}, {"people": said}),
            *report["agreement"],
        ]
        report["confusion"] = {o.column: agreement.confusion(o, said) for o in graded}
        powered = {o.column: agreement.corrected(o, human) for o in graded}
        report["corrected"] = {name: each for name, each in powered.items() if each}
    if "faithfulness" in opinions and "correctness" in opinions:
        report["grounding"] = agreement.grounding(
            opinions["faithfulness"][0], opinions["correctness"][0]
        )
    return report


def _bias(
    rows: Rows,
    opinions: dict[str, list[Opinion]],
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
    for opinion in (o for each in opinions.values() for o in each):
        scores = np.where(blank, np.nan, opinion.scores)
        figures[opinion.column] = {"verbosity": bias.verbosity(scores, lengths, f1).as_dict()}
        if opinion.judge and opinion.rubric.id != "faithfulness":
            kin = families == family(opinion.judge)
            known = np.where(families == "", np.nan, scores)
            preference = bias.self_preference(known, reference, kin)
            figures[opinion.column]["self_preference"] = {
                **preference.as_dict(),
                "against": "people" if reference is human else "f1",
                "n_kin": int(kin.sum()),
            }
    return figures


def kin_notes(names: Sequence[str], systems: Iterable[str | None]) -> list[str]:
    """A warning for every judge that is kin to a system it judges."""
    judged = {each for each in systems if each}
    return [
        f"the judge {name!r} is of the family of {kin}: it may prefer its own kin's answers."
        for name in names
        if (kin := ", ".join(sorted(repr(s) for s in judged if family(s) == family(name))))
    ]


def _floats(column: pa.ChunkedArray) -> Floats:
    """A column of numbers, NaN for null."""
    values: Floats = column.combine_chunks().fill_null(float("nan")).to_numpy(zero_copy_only=False)
    return values

"""The predictions of two dumps judged pair by pair, each in both orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from odqa_fast.engines.base import Engine
from odqa_fast.errors import DataError, SchemaError
from odqa_fast.judge import agreement, bias
from odqa_fast.judge.ask import Question, Usage, ask
from odqa_fast.judge.families import family
from odqa_fast.judge.pointwise import kin_notes, listed, opinions_of, parts
from odqa_fast.judge.ratings import Opinion, columns_of, judge_names
from odqa_fast.judge.result import Judged, fields_of, means_of, notes_on, values_of
from odqa_fast.judge.rubric import FIRST, SECOND, TIE, Rubric
from odqa_fast.judge.selection import Rows
from odqa_fast.judge.verdict import Verdict
from odqa_fast.scores import ScoreTable

#: Columns of the two dumps; answers are shown to the judge where there are some.
COLUMNS = ("question", "answers", "prediction", "system")

WIN, LOSS = "win", "loss"
_LABELS = (WIN, TIE, LOSS)
_SCORES = {WIN: 1.0, TIE: 0.5, LOSS: 0.0}
#: What a verdict means for A when its answer stood first, and when it stood second.
_FORTH = {FIRST: WIN, TIE: TIE, SECOND: LOSS}
_BACK = {FIRST: LOSS, TIE: TIE, SECOND: WIN}


@dataclass(frozen=True)
class Pairs:
    """What two dumps have to say to the same questions; texts are empty where there are none.

    Attributes:
        ids: of the pairs, as in the first dump.
        questions: of the first dump, or of the second where the first has none.
        answers: likewise, one a line.
        a: predictions of the first dump.
        b: predictions of the second.
        systems: what made each prediction of A, and of B; empty where nobody says it.
        unmatched: rows of A, and of B, without a partner.
    """

    ids: list[str]
    questions: list[str]
    answers: list[str]
    a: list[str]
    b: list[str]
    systems: tuple[list[str], list[str]]
    unmatched: tuple[int, int]

    def __len__(self) -> int:
        return len(self.ids)

    def ask(self, rubric: Rubric, row: int) -> tuple[Question, Question]:
        """What is asked of a pair: with A first, and with B first."""
        a, b = self.a[row], self.b[row]
        if not (self.questions[row] and a.strip() and b.strip()):
            return None, None
        if a == b:
            same = Verdict(TIE, _SCORES[TIE], "the same text")
            return same, same
        texts = {"question": self.questions[row], "answers": self.answers[row]}
        return (
            rubric.request(first=a, second=b, **texts),
            rubric.request(first=b, second=a, **texts),
        )


def pair_up(a: Rows, b: Rows, systems: tuple[str, str] | None = None) -> Pairs:
    """Puts the rows of two dumps together: by id, or by position where neither has ids.

    Args:
        a: rows of the first, with `COLUMNS`.
        b: rows of the second.
        systems: what made the predictions of each, where no column `system` says it.

    Raises:
        SchemaError: only one of the two has ids.
        DataError: an id stands twice; without ids, other numbers of rows or another question.
    """
    if a.has_ids != b.has_ids:
        raise SchemaError(
            "one of the two dumps has ids and the other has none.",
            hint="Give both an id column (--map id=NAME), or neither.",
        )
    places_a, places_b = _places(a, "A"), _places(b, "B")
    both = [name for name in places_a if name in places_b]
    unmatched = len(places_a) - len(both), len(places_b) - len(both)
    if not a.has_ids and any(unmatched):
        raise DataError(f"{len(a)} rows and {len(b)} rows, and no ids to join by.", hint=_SAME_ROWS)
    table_a = a.table.take(pa.array([places_a[name] for name in both], pa.int64()))
    table_b = b.table.take(pa.array([places_b[name] for name in both], pa.int64()))

    def texts(table: pa.Table, column: str) -> list[str]:
        return [listed(each) for each in table[column].to_pylist()]

    questions = texts(table_a, "question"), texts(table_b, "question")
    for name, x, y in zip(both, *questions, strict=True):
        if x and y and x != y:
            raise DataError(
                f"the two dumps ask different questions, {x[:60]!r} and {y[:60]!r}.",
                where=f"row {name!r}",
                hint=_SAME_ROWS,
            )
    answers = texts(table_a, "answers"), texts(table_b, "answers")
    return Pairs(
        ids=both,
        questions=[x or y for x, y in zip(*questions, strict=True)],
        answers=[x or y for x, y in zip(*answers, strict=True)],
        a=texts(table_a, "prediction"),
        b=texts(table_b, "prediction"),
        systems=(
            texts(table_a, "system") if systems is None else [systems[0]] * len(both),
            texts(table_b, "system") if systems is None else [systems[1]] * len(both),
        ),
        unmatched=unmatched,
    )


_SAME_ROWS = "Give both an id column, or the same rows in the same order."


def _places(rows: Rows, name: str) -> dict[str, int]:
    """Where each id stands; row numbers stand for ids that are not there."""
    places: dict[str, int] = {}
    for row, each in enumerate(rows.table["id"].to_pylist()):
        if places.setdefault(each, row) != row:
            raise DataError(
                f"id {each!r} stands twice.",
                where=f"dump {name}, rows {places[each]} and {row}",
                hint="Make ids unique.",
            )
    return places


def judge_pairs(
    pairs: Pairs,
    engines: Sequence[Engine],
    rubric: Rubric,
    *,
    usage: Usage | None = None,
    tags: dict[str, object] | None = None,
    progress: Callable[[int], None] = lambda n: None,
) -> Judged:
    """Which of two predictions is better: win, tie or loss of A. A verdict that changes with the
    order is a tie.

    Args:
        pairs: see `pair_up`.
        engines: the judges; of several, the majority counts.
        rubric: `rubric.pairwise()`.
        usage: grows; give one to know prices.
        tags: for the signatures: how the rows were chosen.
        progress: told how many more verdicts there are.

    Raises:
        EngineError: a judge gives no more replies.
    """
    usage = usage or Usage()
    names = judge_names(engines)
    said: list[list[Verdict | None]] = [[] for _ in engines]
    for lo, hi in parts(len(pairs)):
        questions = [each for row in range(lo, hi) for each in pairs.ask(rubric, row)]
        for engine, verdicts in zip(engines, said, strict=True):
            verdicts += ask(engine, rubric, questions, usage, progress)
    orders = [_Orders(pairs, verdicts) for verdicts in said]
    opinions = opinions_of(
        replace(rubric, labels=_LABELS), engines, names, [each.settled for each in orders]
    )
    own = means_of(opinions, tags or {})
    systems = [each for side in pairs.systems for each in side]
    scores = ScoreTable(
        means=own["means"],
        scored=own["scored"],
        counts={
            "rows": len(pairs),
            "unmatched_a": pairs.unmatched[0],
            "unmatched_b": pairs.unmatched[1],
            "not_asked": sum(verdict is None for verdict in said[0][::2]),
            "equal_predictions": sum(
                a == b and verdict is not None
                for a, b, verdict in zip(pairs.a, pairs.b, said[0][::2], strict=True)
            ),
        },
        signatures=own["signatures"],
        notes=[*notes_on(opinions), *kin_notes(names, systems)],
    )
    judges = opinions[-len(engines) :]
    report = {
        "judges": [{"name": name, "family": family(name)} for name in names],
        "among_judges": {"pairwise": agreement.among(judges)} if len(engines) > 1 else {},
        "bias": {
            opinion.column: _bias(pairs, opinion, each)
            for opinion, each in zip(judges, orders, strict=True)
        },
        "usage": usage.as_dict(len(pairs)),
    }
    columns: dict[str, Any] = {"id": pairs.ids}
    for opinion in opinions:
        columns.update(values_of(opinion))
    for opinion, each in zip(judges, orders, strict=True):
        columns.update(zip(_order_names(opinion.column), (each.forth, each.back), strict=True))
    return Judged(scores, opinions, report, pa.table(columns, schema=pair_schema(rubric, engines)))


def pair_schema(rubric: Rubric, engines: Sequence[Engine]) -> pa.Schema:
    """The columns of `judge_pairs(...).table`: beside those of `judge`, what each judge said of A
    in either order."""
    columns = columns_of(rubric, judge_names(engines))
    orders = [
        pa.field(name, pa.string())
        for column in columns[-len(engines) :]
        for name in _order_names(column)
    ]
    return pa.schema([pa.field("id", pa.string()), *fields_of(columns), *orders])


def _order_names(column: str) -> tuple[str, str]:
    return f"{column}.a_first", f"{column}.b_first"


class _Orders:
    """What one judge said in both orders: win, tie or loss of A, None where that is not known.

    Attributes:
        forth: with A first.
        back: with B first.
        settled: what both come to.
        whole: the pairs that were asked about and have a verdict in both orders.
    """

    def __init__(self, pairs: Pairs, verdicts: Sequence[Verdict | None]) -> None:
        both = list(zip(verdicts[::2], verdicts[1::2], strict=True))
        self.forth = [_FORTH.get(verdict.label) if verdict else None for verdict, _ in both]
        self.back = [_BACK.get(verdict.label) if verdict else None for _, verdict in both]
        self.settled = [
            _settled(x, y, verdicts)
            for x, y, verdicts in zip(self.forth, self.back, both, strict=True)
        ]
        self.whole = [
            row
            for row, (x, y) in enumerate(zip(self.forth, self.back, strict=True))
            if x and y and pairs.a[row] != pairs.b[row]
        ]


def _settled(
    forth: str | None, back: str | None, verdicts: tuple[Verdict | None, Verdict | None]
) -> Verdict | None:
    first, second = verdicts
    if first is None or second is None:
        return None
    if forth is None or back is None:
        return first if forth is None else second
    label = forth if forth == back else TIE
    return Verdict(label, _SCORES[label], first.explanation, thought=first.thought)


def _bias(pairs: Pairs, opinion: Opinion, orders: _Orders) -> dict[str, Any]:
    rows = orders.whole
    forth = [each for row in rows if (each := orders.forth[row])]
    back = [each for row in rows if (each := orders.back[row])]
    settled = [verdict.label for row in rows if (verdict := orders.settled[row])]
    longer = np.array([len(pairs.a[row]) - len(pairs.b[row]) for row in rows], np.float64)
    own = family(opinion.judge)
    kin_a, kin_b = (
        np.array([bool(side[row]) and family(side[row]) == own for row in rows], np.float64)
        for side in pairs.systems
    )
    return {
        "position_flips": bias.flips(forth, back).as_dict(),
        "first_wins": bias.first_wins(forth, back).as_dict(),
        "longer_wins": bias.longer_wins(settled, longer).as_dict(),
        "kin_wins": bias.kin_wins(settled, kin_a - kin_b).as_dict(),
    }

"""The predictions of two dumps judged pair by pair, each in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast.engines.base import Engine
from odqa_fast.errors import DataError, SchemaError
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
from odqa_fast.judge.selection import SelectedRows, join_texts
from odqa_fast.judge.tables import schema_with, score_table, table_of
from odqa_fast.judge.verdict import Verdict
from odqa_fast.runs.provenance import PROVENANCE

#: Columns of the two dumps; answers are shown to the judge where there are some.
COLUMNS = ("question", "answers", "prediction", "system")

#: Where the rows of a pair come from, A's as in `PROVENANCE`, and B's.
PLACES = [*PROVENANCE, pa.field("source_b", pa.int32()), pa.field("place_b", pa.int64())]

WIN, TIE, LOSS = "win", "tie", "loss"
_SCORES = {WIN: 1.0, TIE: 0.5, LOSS: 0.0}
#: How pairs are asked about, for the signature.
_TAGS = {"order": "both", "flip": "tie"}


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
        places: the columns of `PLACES`.
    """

    ids: list[str]
    questions: list[str]
    answers: list[str]
    a: list[str]
    b: list[str]
    systems: tuple[list[str], list[str]]
    unmatched: tuple[int, int]
    places: dict[str, pa.ChunkedArray]

    def __len__(self) -> int:
        return len(self.ids)

    def ask(self, rubric: Rubric, lo: int, hi: int) -> list[Question]:
        """What is asked of the pairs [lo, hi): of each twice, see `ask.Questions`."""
        return [each for row in range(lo, hi) for each in self._ask(rubric, row)]

    def _ask(self, rubric: Rubric, row: int) -> tuple[Question, Question]:
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


def pair_up(a: SelectedRows, b: SelectedRows, systems: Sequence[str] = ()) -> Pairs:
    """Puts the rows of two dumps together: by id, or by position where neither has ids.

    Args:
        a: rows of the first, with `COLUMNS`.
        b: rows of the second.
        systems: what made the predictions of A and of B, where no column `system` says it.

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
        return [join_texts(each) for each in table[column].to_pylist()]

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
            [systems[0]] * len(both) if systems else texts(table_a, "system"),
            [systems[1]] * len(both) if systems else texts(table_b, "system"),
        ),
        unmatched=unmatched,
        places={
            "source": table_a["source"],
            "place": table_a["place"],
            "source_b": table_b["source"],
            "place_b": table_b["place"],
            "question_hash": pc.coalesce(table_a["question_hash"], table_b["question_hash"]),
        },
    )


_SAME_ROWS = "Give both an id column, or the same rows in the same order."


def _places(rows: SelectedRows, name: str) -> dict[str, int]:
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
    tags: Mapping[str, object] | None = None,
    progress: Count = lambda n: None,
) -> JudgeResult:
    """Which of two predictions is better: win, tie or loss of A. A verdict that changes with the
    order is a tie.

    Args:
        pairs: see `pair_up`.
        engines: the judges; of several, the majority counts.
        rubric: what they are asked.
        usage: grows; give one to know prices.
        tags: for the signatures: how the rows were chosen.
        progress: told how many more verdicts there are.

    Raises:
        EngineError: a judge gives no more replies.
    """
    usage = usage or Usage()
    said = ask_all(engines, rubric, pairs, usage, progress)
    orders = [_Orders(pairs, verdicts) for verdicts in said]
    won = replace(rubric, labels=tuple(_SCORES))
    ratings = rate(won, engines, [each.settled for each in orders])
    judges = ratings[-len(engines) :]
    report = {
        "judges": describe_judges(engines),
        "among_judges": {rubric.id: agreement.compare_judges(judges)} if len(engines) > 1 else {},
        "bias": {
            each.column: _bias(pairs, each, order)
            for each, order in zip(judges, orders, strict=True)
        },
        "usage": usage.as_dict(len(pairs)),
    }
    own = score_table(ratings, {**_TAGS, **(tags or {})})
    kin = kin_notes(engines, [each for side in pairs.systems for each in side])
    scores = replace(own, counts=_counts(pairs, said[0][::2]), notes=[*own.notes, *kin])
    more = {
        name: values
        for each, order in zip(judges, orders, strict=True)
        for name, values in zip(_order_names(each.column), (order.forth, order.back), strict=True)
    }
    table = table_of(pairs.ids, ratings, more | pairs.places, pair_schema(rubric, engines))
    return JudgeResult(scores, ratings, report, table, usage.came)


def _counts(pairs: Pairs, verdicts: Sequence[Verdict | None]) -> dict[str, int]:
    both = zip(pairs.a, pairs.b, verdicts, strict=True)
    return {
        "rows": len(pairs),
        "unmatched_a": pairs.unmatched[0],
        "unmatched_b": pairs.unmatched[1],
        "not_asked": sum(verdict is None for verdict in verdicts),
        "equal_predictions": sum(a == b and verdict is not None for a, b, verdict in both),
    }


def pair_schema(rubric: Rubric, engines: Sequence[Engine]) -> pa.Schema:
    """The columns of `judge_pairs(...).table`: beside those of ratings, what each judge said of A
    in either order."""
    columns = columns_of(rubric, judge_names(engines))
    orders = [name for column in columns[-len(engines) :] for name in _order_names(column)]
    return schema_with(columns, [*(pa.field(name, pa.string()) for name in orders), *PLACES])


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
        self.forth = [_outcome(verdict, 1) for verdict, _ in both]
        self.back = [_outcome(verdict, -1) for _, verdict in both]
        self.settled = [
            _settle(x, y, verdicts)
            for x, y, verdicts in zip(self.forth, self.back, both, strict=True)
        ]
        self.whole = [
            row
            for row, (x, y) in enumerate(zip(self.forth, self.back, strict=True))
            if x and y and pairs.a[row] != pairs.b[row]
        ]


def _outcome(verdict: Verdict | None, side: int) -> str | None:
    """What a verdict means for A, whose answer stood first (1) or second (-1)."""
    if verdict is None or verdict.score is None:
        return None
    lead = (verdict.score - _SCORES[TIE]) * side
    return WIN if lead > 0 else LOSS if lead < 0 else TIE


def _settle(
    forth: str | None, back: str | None, verdicts: tuple[Verdict | None, Verdict | None]
) -> Verdict | None:
    first, second = verdicts
    if first is None or second is None:
        return None
    if forth is None or back is None:
        return first if forth is None else second
    label = forth if forth == back else TIE
    return Verdict(label, _SCORES[label], first.explanation, thought=first.thought)


def _bias(pairs: Pairs, ratings: Ratings, orders: _Orders) -> dict[str, Any]:
    rows = orders.whole
    forth = [each for row in rows if (each := orders.forth[row])]
    back = [each for row in rows if (each := orders.back[row])]
    settled = [verdict.label for row in rows if (verdict := orders.settled[row])]
    longer = np.array([len(pairs.a[row]) - len(pairs.b[row]) for row in rows], np.float64)
    own = family(ratings.judge)
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

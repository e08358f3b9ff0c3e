"""Covers: two dumps judged pair by pair in both orders; biases of place, length and kinship.

Compared against: arithmetic by hand on scripted judges. Run: pytest tests/judge/test_pairwise.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from scripted import Scripted, rows_of, summary_of, texts_in, winner

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.judge.pairwise import judge_pairs, pair_up
from odqa_fast.judge.result import JudgeResult
from odqa_fast.judge.rubrics import load_rubric


def dump(*predictions: str | None, ids: bool = True, **more: Any) -> list[dict[str, Any]]:
    rows = []
    for n, prediction in enumerate(predictions):
        row = {"question": f"Question {n}?", "answers": [f"a{n}"], "prediction": prediction, **more}
        rows.append({"id": str(n), **row} if ids else row)
    return rows


def compared(
    a: list[dict[str, Any]],
    b: list[dict[str, Any]],
    *judges: Scripted,
    systems: tuple[str, ...] = (),
) -> JudgeResult:
    return judge_pairs(pair_up(rows_of(a), rows_of(b), systems), judges, load_rubric("pairwise"))


def choosing(
    choose: Callable[[str, str], str], name: str = "http:http://here/v1#judge"
) -> Scripted:
    """A judge who chooses between the first and the second text."""
    return Scripted(lambda texts: winner(choose(texts["first"], texts["second"])), name)


def bias(judged: JudgeResult, figure: str) -> tuple[float | None, int]:
    found = judged.report["bias"]["win_rate"][figure]
    return found["value"], found["n"]


BY_LETTER = choosing(lambda x, y: "first" if x[0] < y[0] else "second" if y[0] < x[0] else "tie")


def test_wins_ties_and_losses() -> None:
    a, b = dump("a1", "b", "c", "d"), dump("b", "a1", "c1", "d")
    judged = compared(a, b, BY_LETTER)
    assert judged.table["win_rate.label"].to_pylist() == ["win", "loss", "tie", "tie"]
    assert judged.table["win_rate"].to_pylist() == [1, 0, 0.5, 0.5]
    assert judged.scores.means["win_rate"] == 0.5
    metric = summary_of(judged)["metrics"]["win_rate"]
    assert metric["verdicts"] == {"win": 1, "tie": 2, "loss": 1}
    assert judged.scores.counts["equal_predictions"] == 1
    # The pair of one text is nothing to judge, and says nothing of flips either.
    assert bias(judged, "position_flips") == (0, 3)
    assert "|order:both|flip:tie|" in str(judged.scores.signatures["win_rate"])
    json.dumps(summary_of(judged), allow_nan=False)


def test_names_are_hidden_and_both_orders_are_asked() -> None:
    scripted = choosing(lambda x, y: "tie")
    compared(
        dump("x", system="GPT-9"), dump("y", system="Rival"), scripted, systems=("GPT-9", "Rival")
    )
    shown = [texts_in(request) for request in scripted.requests]
    assert shown == [
        {"question": "Question 0?", "answers": "- a0", "first": "x", "second": "y"},
        {"question": "Question 0?", "answers": "- a0", "first": "y", "second": "x"},
    ]
    for request in scripted.requests:
        assert "GPT-9" not in request.system + request.user
        assert "Rival" not in request.system + request.user


def test_a_judge_who_takes_the_first_is_caught() -> None:
    """8 pairs: all flip, all 16 verdicts are for the first, and nothing is won."""
    a, b = dump(*"abcdefgh"), dump(*"stuvwxyz")
    judged = compared(a, b, choosing(lambda x, y: "first"))
    assert bias(judged, "position_flips") == (1, 8)
    assert bias(judged, "first_wins") == (1, 16)
    assert judged.scores.means["win_rate"] == 0.5
    assert summary_of(judged)["metrics"]["win_rate"]["verdicts"] == {"win": 0, "tie": 8, "loss": 0}
    # Wilson's lower end of 16 of 16 is 1 / (1 + 1.96^2 / 16).
    low = judged.report["bias"]["win_rate"]["first_wins"]["low"]
    assert low == pytest.approx(1 / (1 + 1.959964**2 / 16))

    judged = compared(a, b, choosing(lambda x, y: "first" if "abc".count(min(x, y)) else "tie"))
    # Of 8 pairs 3 flip; of the 6 verdicts that name a winner all are for the first.
    assert bias(judged, "position_flips") == (3 / 8, 8)
    assert bias(judged, "first_wins") == (1, 6)


def test_a_judge_who_takes_the_longer_is_caught() -> None:
    """A is longer in 6 pairs, B in 2, one pair is of one length: the longer wins 8 of 8."""
    a = dump(*["xxx"] * 6, "x", "x", "xx")
    b = dump(*["yy"] * 6, "yyy", "yyyy", "yy")
    judged = compared(
        a, b, choosing(lambda x, y: "first" if len(x) > len(y) else "second" if x != y else "tie")
    )
    assert bias(judged, "longer_wins") == (1, 8)
    # The last pair has no longer one, and the judge takes the second both times.
    assert bias(judged, "position_flips") == (1 / 9, 9)
    assert bias(judged, "first_wins") == (8 / 18 + 0 / 18, 18)
    assert judged.scores.means["win_rate"] == pytest.approx((6 + 0.5) / 9)
    fair = compared(a, b, BY_LETTER)
    # By letter A wins all nine, of which 6 of 8 were longer.
    assert bias(fair, "longer_wins") == (6 / 8, 8)


def test_a_judge_who_takes_his_own_family_is_caught() -> None:
    a, b = dump(*["own words"] * 5), dump(*["other words"] * 5)

    def own(x: str, y: str) -> str:
        return "first" if x.startswith("own") else "second"

    kin = choosing(own, "http:http://here/v1#llama-3.1-70b-instruct")
    judged = compared(a, b, kin, systems=("Llama-2-7b-chat", "mistral-7b"))
    assert bias(judged, "kin_wins") == (1, 5)
    assert any("'Llama-2-7b-chat'" in note for note in judged.scores.notes)
    swapped = compared(b, a, kin, systems=("mistral-7b", "Llama-2-7b-chat"))
    assert bias(swapped, "kin_wins") == (1, 5)
    assert swapped.scores.means["win_rate"] == 0

    stranger = choosing(own, "http:http://here/v1#gpt-4o")
    judged = compared(a, b, stranger, systems=("Llama-2-7b-chat", "mistral-7b"))
    assert bias(judged, "kin_wins") == (None, 0)
    assert not judged.scores.notes


def test_systems_may_stand_in_the_dumps() -> None:
    a = [{**row, "system": "qwen2.5" if n else "gpt-4o"} for n, row in enumerate(dump("a", "b"))]
    judged = compared(
        a, dump("c", "d", system="gemma-2"), choosing(lambda x, y: "tie", "http:http://h/v1#qwen3")
    )
    assert any("'qwen2.5'" in note for note in judged.scores.notes)
    assert bias(judged, "kin_wins") == (None, 0)


def test_failures_are_counted_and_bound_the_mean() -> None:
    def says(texts: dict[str, str]) -> str:
        return "Both have merits." if "odd" in texts["first"] else winner("first")

    a, b = dump("a", "odd", "c", None), dump("w", "x", "odd", "z")
    judged = compared(a, b, Scripted(says))
    # One order is enough to lose a verdict; a pair without a prediction is not asked about.
    assert judged.table["win_rate.label"].to_pylist() == ["tie", None, None, None]
    assert judged.table["win_rate.failure"].to_pylist() == [None, "no verdict", "no verdict", None]
    metric = summary_of(judged)["metrics"]["win_rate"]
    assert (metric["mean"], metric["n_failed"]) == (0.5, 2)
    assert (metric["if_failed_0"], metric["if_failed_1"]) == (0.5 / 3, 2.5 / 3)
    assert judged.scores.counts["not_asked"] == 1
    assert bias(judged, "position_flips") == (1, 1)


def test_rows_are_paired_by_id() -> None:
    a = dump("a", "b", "c")
    b = [
        {**row, "prediction": f"{row['prediction']}z"} for row in reversed(dump("a", "b", "x", "y"))
    ]
    pairs = pair_up(rows_of(a), rows_of(b))
    assert (pairs.ids, pairs.a, pairs.b) == (["0", "1", "2"], ["a", "b", "c"], ["az", "bz", "xz"])
    judged = judge_pairs(pairs, [BY_LETTER], load_rubric("pairwise"))
    assert (judged.scores.counts["unmatched_a"], judged.scores.counts["unmatched_b"]) == (0, 1)


def test_rows_without_ids_are_paired_by_position() -> None:
    a, b = dump("a", "b", ids=False), dump("c", "d", ids=False)
    assert pair_up(rows_of(a), rows_of(b)).b == ["c", "d"]
    with pytest.raises(DataError, match="2 rows and 1 rows, and no ids"):
        pair_up(rows_of(a), rows_of(b[:1]))
    with pytest.raises(DataError, match="different questions"):
        pair_up(rows_of(a), rows_of(b[::-1]))
    with pytest.raises(SchemaError, match="one of the two dumps has ids"):
        pair_up(rows_of(a), rows_of(dump("c", "d")))
    with pytest.raises(DataError, match="id '0' stands twice"):
        pair_up(rows_of([*dump("a"), *dump("b")]), rows_of(dump("c")))


def test_several_judges_vote() -> None:
    a, b = dump("a", "b"), dump("c", "d")
    judges = [
        choosing(lambda x, y: "first" if x < y else "second", "http:http://h/v1#one"),
        choosing(lambda x, y: "first" if x < y else "second", "http:http://h/v1#two"),
        choosing(lambda x, y: "first", "http:http://h/v1#three"),
    ]
    judged = compared(a, b, *judges)
    assert judged.scores.means["win_rate"] == 1
    assert judged.scores.means["win_rate[three]"] == 0.5
    assert judged.report["among_judges"]["pairwise"]["all_agree"]["value"] == 0
    assert judged.report["bias"]["win_rate[three]"]["position_flips"]["value"] == 1
    assert judged.table["win_rate[three].a_first"].to_pylist() == ["win", "win"]
    assert judged.table["win_rate[three].b_first"].to_pylist() == ["loss", "loss"]

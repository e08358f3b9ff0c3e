"""Covers: faults of ROUGE seen in other tools (D013-D018, D056, D057, D065); options; compat.

Compared against: the values each problem report settled on, as rouge_score 0.1.2 gives them; the
rows are small ones of our own. Run: pytest tests/test_cases_rouge.py -k D013
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import odqa_fast as oq
from odqa_fast.compat.rouge_score import RougeScorer, Score
from odqa_fast.signature import Signature

Rows = list[tuple[str, list[str]]]


def table(rows: Rows, *metrics: str) -> dict[str, Any]:
    predictions, answers = zip(*rows, strict=True)
    scored = oq.score({"prediction": list(predictions), "answers": list(answers)}, metrics).table
    return {metric: scored[metric].to_pylist() for metric in metrics}


def test_d013_each_type_has_its_own_best_answer() -> None:
    rows = [("p q r", ["r q p", "p q r"]), ("p q r", ["p q r", "r q p"])]
    names = [
        f"{kind}:{part}" for kind in ("rouge1", "rouge2", "rougeL") for part in ("precision", "f")
    ]
    assert table(rows, *names) == {name: [1.0, 1.0] for name in names}


def test_d014_text_that_the_default_cannot_see_is_counted_and_said() -> None:
    rows = [("สวัสดี", ["สวัสดี"]), ("cafe muller", ["Café Müller"]), ("?!", ["..."])]
    predictions, answers = (list(side) for side in zip(*rows, strict=True))
    data = {"prediction": predictions, "answers": answers}
    with pytest.warns(oq.OdqaWarning, match="1 rows hold a text in which rouge finds no word"):
        scores = oq.score(data, ["rouge1", "rougeL"])
    assert scores.table["rouge1"].to_pylist() == [0.0, 0.0, 0.0]
    assert scores.counts["rows_unseen_by_rouge"] == 1
    unicode = oq.score(data, ["rouge1:unicode", "rougeL:unicode"])
    assert unicode.table["rouge1:unicode"].to_pylist() == [1.0, 0.0, 0.0]
    assert unicode.counts["rows_unseen_by_rouge"] == 0
    assert unicode.notes == []


def test_d015_counts_are_clipped() -> None:
    rows = [("bridge bridge bridge bridge", ["the red bridge"])]
    rows.append(("red red bridge bridge", ["red bridge red bridge"]))
    got = table(rows, "rouge1:precision", "rouge1:recall", "rouge1", "rouge2")
    assert got["rouge1:precision"] == [0.25, 1.0]
    assert got["rouge1:recall"] == [1 / 3, 1.0]
    assert got["rouge1"] == pytest.approx([2 / 7, 1.0])
    assert got["rouge2"] == pytest.approx([0.0, 1 / 3])


def test_d016_the_longest_subsequence_is_the_longest() -> None:
    rows = [("m zz n o p q zz s", ["m zz n o p q zz s"]), ("b a d c", ["a b c d"])]
    rows.append(("a x b y c", ["x y a b c"]))
    assert table(rows, "rougeL")["rougeL"] == pytest.approx([1.0, 0.5, 0.6])


def test_d017_two_metrics_two_names() -> None:
    rows = [("the dog ran.\nthe cat sat.", ["the cat sat.\nthe dog ran."])]
    assert table(rows, "rougeL", "rougeLsum") == {"rougeL": [0.5], "rougeLsum": [1.0]}


def test_d018_the_mean_is_of_the_rows() -> None:
    data = {"prediction": ["aa bb cc dd", "aa"], "answers": [["aa"], ["aa bb cc dd"]]}
    means = oq.score(data, ["rouge1", "rouge1:precision", "rouge1:recall"]).means
    assert means == {"rouge1": 0.4, "rouge1:precision": 0.625, "rouge1:recall": 0.625}


def test_d056_long_texts() -> None:
    prediction = " ".join(f"t{i % 97}" for i in range(6000))
    answer = " ".join(f"t{i % 89}" for i in range(6000))
    got = table([(prediction, [answer])], "rougeL", "rougeL:recall")
    assert got == {"rougeL": [pytest.approx(0.918666666667)], "rougeL:recall": [5512 / 6000]}


LONG = """
import random, resource, sys, time
import odqa_fast as oq
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rng = random.Random(1)
sides = [" ".join(f"w{rng.randrange(int(sys.argv[1]))}" for _ in range(50_000)) for _ in range(2)]
oq.score({"prediction": ["a"], "answers": [["a"]]}, ["rougeL"])
before, start = peak(), time.perf_counter()
oq.score({"prediction": sides[:1], "answers": [sides[1:]]}, ["rougeL", "rouge2", sys.argv[2]])
assert time.perf_counter() - start < 5
assert peak() - before < 200, (before, peak())
"""


@pytest.mark.parametrize("vocabulary", ["50", "3000", "1000000"])
@pytest.mark.parametrize("metric", ["rougeLsum", "rougeL:pltrdy"])
def test_two_texts_of_fifty_thousand_words(vocabulary: str, metric: str) -> None:
    """Within 5 s and 200 MB, in a process of its own: a table of all cells would take gigabytes."""
    subprocess.run([sys.executable, "-P", "-c", LONG, vocabulary, metric], check=True)


def test_d057_no_sampling() -> None:
    rows: Rows = [(f"aa bb c{i % 7}", [f"aa c{i % 5} dd"]) for i in range(500)]
    data = {"prediction": [p for p, _ in rows], "answers": [a for _, a in rows]}
    one, two = (oq.score(data, ["rouge1", "rougeL"]) for _ in range(2))
    assert one.means == two.means
    assert one.table.equals(two.table)


def test_d065_short_and_empty_texts() -> None:
    rows = [("bridge", ["bridge"]), ("", ["red bridge"]), ("?!", ["?!"])]
    assert table(rows, "rouge1", "rouge2", "rougeL") == {
        "rouge1": [1.0, 0.0, 0.0],
        "rouge2": [0.0, 0.0, 0.0],
        "rougeL": [1.0, 0.0, 0.0],
    }


def test_options_of_several_groups_in_any_order() -> None:
    data = {"prediction": ["the flies"], "answers": [["fly the flies"]]}
    names = [
        "rougeL:stem:precision",
        "rougeL:precision:stem",
        "rougeL:unicode:recall:stem",
        "rougeL:f",
    ]
    scores = oq.score(data, names)
    assert [scores.means[name] for name in names] == [1.0, 1.0, 2 / 3, 0.8]
    printed = [str(scores.signatures[name]).partition("/")[0] for name in names]
    expected = ["rougeL:precision:stem"] * 2 + ["rougeL:recall:stem:unicode", "rougeL"]
    assert printed == expected
    assert all(Signature.parse(str(each)) == each for each in scores.signatures.values())


@pytest.mark.parametrize(
    "asked",
    [
        "rougeL:stem:stem",
        "rougeL:f:recall",
        "rougeL:unicode:pltrdy",
        "rouge1:pltrdy:stem",
        "rougeLsum:pltrdy",
        "rougeL:squad",
        "rouge0",
        "rouge10",
        "rouge1:",
    ],
)
def test_options_that_do_not_go_together(asked: str) -> None:
    with pytest.raises(oq.MetricError):
        oq.score({"prediction": ["a"], "answers": [["a"]]}, [asked])


def test_compat_has_the_calls_of_the_original() -> None:
    scorer = RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    # The example of rouge_score's own README.
    scores = scorer.score(
        "The quick brown fox jumps over the lazy dog", "The quick brown dog jumps on the log."
    )
    assert scores == {
        "rouge1": Score(precision=0.75, recall=0.6666666666666666, fmeasure=0.7058823529411765),
        "rougeL": Score(precision=0.625, recall=0.5555555555555556, fmeasure=0.5882352941176471),
    }
    assert scores["rouge1"].fmeasure == scores["rouge1"][2]
    assert scorer.score("a \ud800 b", "a b")["rouge1"].fmeasure == 1.0


class Letters:
    """Every letter a token: tokens need not be words of ASCII."""

    def tokenize(self, text: str) -> list[str]:
        return [letter for letter in text if not letter.isspace()]


def test_compat_takes_a_tokenizer() -> None:
    scorer = RougeScorer(["rouge2", "rougeLsum", "rouge1"], tokenizer=Letters())
    scores = scorer.score("ЖЩ\né", "é\nЖЩЩ")
    assert list(scores) == ["rouge2", "rougeLsum", "rouge1"]
    assert scores["rouge1"] == scores["rougeLsum"] == Score(0.75, 1.0, 2 * 0.75 / 1.75)
    assert scores["rouge2"] == Score(1 / 3, 1 / 2, 0.4)


def test_compat_refuses_what_it_cannot_do() -> None:
    for wrong in ("rouge0", "rouge10", "bleu", "rougeX"):
        with pytest.raises(ValueError, match="Invalid rouge type"):
            RougeScorer([wrong])
    with pytest.raises(ValueError, match="split_summaries"):
        RougeScorer(["rougeLsum"], split_summaries=True)


def test_an_unknown_rouge_tokenizer() -> None:
    for wrong in ("rouge:stems", "rouge:stem:stem", "rouge:"):
        with pytest.raises(oq.ProfileError, match="unknown tokenizer"):
            oq.tokenize("a", wrong)

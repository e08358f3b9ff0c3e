"""Covers: BERTScore of texts: order, empties, repeated texts, idf, the cache; cases D025 to D027.

Compared against: arithmetic by hand on scripted token vectors; what each problem report settled on.
Run: pytest tests/test_bertscore.py
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import pytest

import odqa_fast as oq
from odqa_fast._kernels.bertscore import match
from odqa_fast.metrics._bertscore import Idf, Matcher, Seen

CLS, SEP = 0, 1


class Scripted:
    """An encoder with one direction per word: the cosine of a word with itself is 1, else 0."""

    signature = "scripted"
    dimension = 64
    layer = 1
    max_tokens = 8
    special_ids = frozenset({CLS, SEP})

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.embedded: list[list[int]] = []

    def tokenize(self, texts: Sequence[str]) -> tuple[list[np.ndarray], list[bool]]:
        ids = [
            [CLS, *(self.words.setdefault(w, len(self.words) + 2) for w in text.split()), SEP]
            for text in texts
        ]
        return [np.array(each[:8], np.int64) for each in ids], [len(each) > 8 for each in ids]

    def embed(self, ids: Sequence[np.ndarray], vectors: np.ndarray) -> None:
        self.embedded += [each.tolist() for each in ids]
        vectors[:] = np.eye(self.dimension, dtype=np.float32)[np.concatenate(list(ids))]


def scores(
    pairs: list[tuple[str, str]], idf: Idf | None = None, matcher: Matcher | None = None
) -> np.ndarray:
    hypotheses, references = zip(*pairs, strict=True)
    return (matcher or Matcher(Scripted())).scores(hypotheses, references, idf, Seen())


def test_d025_f_is_the_harmonic_mean() -> None:
    # Rows of the report, unit vectors: P, R, F by hand.
    vectors = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    out = np.empty((3, 2))
    edges = np.array([0, 2, 3, 4])
    match(vectors, np.ones(4, np.float32), edges, np.array([0, 0, 2]), np.array([1, 0, 0]), out, 0)
    np.testing.assert_allclose(out, [[0.5, 1], [1, 1], [0.8, 0.7]], atol=1e-6)
    p, r, f = scores([("a b", "a")])[0]
    assert (p, r) == (0.5, 1)
    assert f == pytest.approx(2 / 3)
    assert scores([("a b", "a b")])[0].tolist() == [1, 1, 1]


PAIRS = [
    ("a very long sentence about whales", "short text"),
    ("hi", "a longer one of trains"),
    ("cats", "cats"),
    ("a very long sentence about whales", "a very long sentence about whales"),
    ("cats sleep", "cats"),
]
#: By hand: [CLS] and [SEP] always match and weigh nothing.
WANT = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [0.5, 1, 2 / 3]]


def test_d026_a_row_depends_on_itself_alone() -> None:
    np.testing.assert_allclose(scores(PAIRS), WANT)
    for order in ([4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        np.testing.assert_allclose(scores([PAIRS[k] for k in order]), [WANT[k] for k in order])
    for pair, want in zip(PAIRS, WANT, strict=True):
        np.testing.assert_allclose(scores([pair])[0], want)
        p, r, f = scores([pair[::-1]])[0]
        np.testing.assert_allclose((r, p, f), want)


@pytest.mark.parametrize("step_bytes", [1, 4 * 64 * 10, 1 << 20])
@pytest.mark.parametrize("cache_bytes", [0, 4 * 64 * 12, 1 << 20])
def test_steps_and_cache_change_nothing(step_bytes: int, cache_bytes: int) -> None:
    matcher = Matcher(Scripted(), step_bytes, cache_bytes)
    for _ in range(3):
        matcher.start_run()
        np.testing.assert_allclose(scores(PAIRS * 20, matcher=matcher), WANT * 20)


def test_d027_an_empty_side_scores_0() -> None:
    pairs = [("", "blue door"), ("blue door", ""), ("", ""), (" \n", "\t"), ("blue door",) * 2]
    want = [[0, 0, 0]] * 4 + [[1, 1, 1]]
    # F is the formula's before precision and recall become 0: not defined here, so 0.
    np.testing.assert_allclose(scores(pairs), want)


def test_a_text_is_embedded_once_in_a_run_and_the_next() -> None:
    encoder = Scripted()
    matcher = Matcher(encoder)
    scores([("a", "b"), ("b", "a"), ("a", "a")] * 300, matcher=matcher)
    assert len(encoder.embedded) == 2
    matcher.start_run()
    scores([("c", "b")], matcher=matcher)
    assert len(encoder.embedded) == 3


def test_what_only_earlier_runs_used_makes_way() -> None:
    encoder = Scripted()
    # Room for the vectors of two texts of three tokens.
    matcher = Matcher(encoder, cache_bytes=2 * 3 * 4 * encoder.dimension)
    scores([("a", "b")], matcher=matcher)
    scores([("c", "c")], matcher=matcher)
    assert len(encoder.embedded) == 3
    scores([("a", "b")], matcher=matcher)
    assert len(encoder.embedded) == 3, "a run keeps what it has"
    matcher.start_run()
    scores([("b", "c")], matcher=matcher)
    assert len(encoder.embedded) == 4
    scores([("b", "c")], matcher=matcher)
    assert len(encoder.embedded) == 4, "c has taken the place of a"


def test_idf_weighs_rare_tokens_more() -> None:
    matcher = Matcher(Scripted())
    idf = matcher.idf(["the cat", "the dog", "the the end"])
    # log((N + 1) / (df + 1)) with N = 3: "the" and the special tokens are in all three.
    the, cat = (matcher.encoder.tokenize([w])[0][0][1] for w in ("the", "cat"))
    assert idf[the] == idf[CLS] == 0
    assert idf[cat] == math.log(4 / 2)
    assert idf[999] == math.log(4)
    p, r, _ = scores([("the cat", "the dog")], idf, matcher)[0]
    assert (p, r) == (0, 0)
    p, r, _ = scores([("cat end", "cat dog")], idf, matcher)[0]
    assert (p, r) == (0.5, 0.5)


def test_texts_that_are_cut_are_named() -> None:
    seen = Seen()
    Matcher(Scripted()).scores(["a b c d e f g h", "b"] * 3, ["a"] * 6, None, seen)
    assert seen == Seen(cut={"a b c d e f g h"})


def test_weightless_text_has_no_precision() -> None:
    matcher = Matcher(Scripted())
    idf = matcher.idf(["the cat", "the dog"])
    p, r, f = scores([("the the", "the dog")], idf, matcher)[0]
    assert np.isnan(p)
    assert (r, f) == (0, 0)


PARTS = ["bertscore:precision", "bertscore:recall", "bertscore"]


def of_metric(
    rows: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, *metrics: str, **given: object
) -> oq.ScoreTable:
    encoder = Scripted()
    encoder.words["[SEP]"] = SEP
    monkeypatch.setattr(
        "odqa_fast.metrics._bertscore.shared_matcher", lambda folder, device: Matcher(encoder)
    )
    resources = oq.Resources(bertscore_model="scripted", **given)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oq.OdqaWarning)
        return oq.score(rows, list(metrics), resources=resources)


def test_special_tokens_alone_count_0_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[dict[str, object]] = [
        {"prediction": "[SEP]", "answers": ["blue door"]},
        {"prediction": "blue door", "answers": ["[SEP] [SEP]", "blue"]},
        {"prediction": "[SEP]", "answers": ["[SEP]"]},
        {"prediction": "", "answers": ["blue"]},
    ]
    scores = of_metric(rows, monkeypatch, *PARTS)
    # By hand: of the second row "blue" is the better answer, with half of the prediction.
    assert scores.table["bertscore:precision"].to_pylist() == [0, 0.5, 0, 0]
    assert scores.table["bertscore:recall"].to_pylist() == [0, 1, 0, 0]
    assert scores.table["bertscore"].to_pylist() == [0, pytest.approx(2 / 3), 0, 0]
    assert scores.counts["texts_without_tokens"] == 4
    assert scores.counts["empty_predictions"] == 1
    assert any("4 texts hold no token but special ones" in note for note in scores.notes)


def test_texts_that_are_cut_are_counted_as_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "a b c d e f g h"
    rows: list[dict[str, object]] = [
        {"prediction": long, "answers": ["a", "b", "c"]},
        {"prediction": "a", "answers": [long, "b"]},
        {"prediction": "a", "answers": ["a"]},
    ]
    scores = of_metric(rows, monkeypatch, "bertscore")
    assert scores.counts["texts_truncated"] == 2
    assert any("the encoder takes 8 tokens of a text" in note for note in scores.notes)


@pytest.mark.parametrize("texts", [[], ["blue door"]])
def test_idf_over_too_few_texts_says_what_it_falls_back_to(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[dict[str, object]] = [{"prediction": "blue sky", "answers": ["blue door"]}]
    scores = of_metric(rows, monkeypatch, "bertscore", "bertscore:idf", bertscore_idf=texts)
    assert scores.means["bertscore:idf"] == scores.means["bertscore"] == 0.5
    assert "|idf:none" in str(scores.signatures["bertscore:idf"])
    assert any(f"{len(texts)} texts are too few" in note for note in scores.notes)


def test_rows_without_weight_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[dict[str, object]] = [
        {"prediction": "the the", "answers": ["the dog"]},
        {"prediction": "the cat", "answers": ["the dog"]},
    ]
    corpus = ["the cat", "the dog"]
    scores = of_metric(rows, monkeypatch, "bertscore:precision:idf", bertscore_idf=corpus)
    assert scores.table["bertscore:precision:idf"].to_pylist() == [None, 0]
    assert scores.counts["rows_without_weight"] == 1

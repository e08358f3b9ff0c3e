"""Covers: ROUGE through the public API and the kernel. Compared against: the reference scorers'
results and the oracle.

Run: pytest tests/differential/test_rouge.py
"""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import Layout
from oracles.rouge import STEMS, VARIANTS, ascii_words, rouge
from reference.store import records

import odqa_fast as oq
from odqa_fast._kernels.rouge import porter_stem
from odqa_fast.compat.rouge_score import RougeScorer

PARTS = ("precision", "recall", "f")
GOOGLE = ("rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum")
PACKAGE = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l"}

Pairs = list[tuple[str | None, list[str | None] | None]]


def asked(kind: str, variant: str, part: str) -> str:
    return ":".join(filter(None, (kind, variant, part)))


def scores(pairs: Pairs, kinds: tuple[str, ...], variant: str = "") -> list[dict[str, Any]]:
    """Per row: type -> precision, recall, f; None where the row is not scored."""
    data = pa.table(
        {
            "prediction": pa.array([prediction for prediction, _ in pairs], pa.string()),
            "answers": pa.array([answers for _, answers in pairs], pa.list_(pa.string())),
        }
    )
    names = [asked(kind, variant, part) for kind in kinds for part in PARTS]
    rows = oq.score(data, names).table.to_pylist()
    found = []
    for row in rows:
        parts = {kind: tuple(row[asked(kind, variant, part)] for part in PARTS) for kind in kinds}
        found.append({k: None if None in three else three for k, three in parts.items()})
    return found


def tuples(expected: dict[str, list[float]]) -> dict[str, tuple[float, ...]]:
    return {kind: tuple(three) for kind, three in expected.items()}


@pytest.mark.parametrize(("variant", "key"), [("", "plain"), ("stem", "stem")])
def test_equals_rouge_score(variant: str, key: str) -> None:
    found = [record for record in records("rouge_score") if record["golds"]]
    assert len(found) > 1500
    got = scores([(r["prediction"], r["golds"]) for r in found], GOOGLE, variant)
    assert got == [tuples(r["expected"][key]["multi"]) for r in found]
    pairs = [
        (r["prediction"], gold, expected)
        for r in found
        for gold, expected in zip(r["golds"], r["expected"][key]["per_gold"], strict=True)
    ]
    got = scores([(prediction, [gold]) for prediction, gold, _ in pairs], GOOGLE, variant)
    assert got == [tuples(expected) for *_, expected in pairs]


@pytest.mark.parametrize("stem", [False, True])
def test_compat_equals_rouge_score(stem: bool) -> None:
    scorer = RougeScorer(GOOGLE, use_stemmer=stem)
    key = "stem" if stem else "plain"
    for record in records("rouge_score")[::3]:
        if record["golds"]:
            got = scorer.score_multi(record["golds"], record["prediction"])
            assert got == tuples(record["expected"][key]["multi"])
            got = scorer.score(record["golds"][0], record["prediction"])
            assert got == tuples(record["expected"][key]["per_gold"][0])


def test_compat_refuses_no_targets() -> None:
    for record in records("rouge_score"):
        if not record["golds"]:
            assert record["expected"]["plain"]["multi"] == {"error": "ValueError"}
            with pytest.raises(ValueError, match="no target"):
                RougeScorer(GOOGLE).score_multi([], record["prediction"])


@pytest.mark.parametrize(
    ("variant", "key"),
    [("pltrdy", "1.0.1"), ("pltrdy100", "1.0.0"), ("pltrdy-counts", "1.0.1_nonexclusive")],
)
def test_equals_rouge_package(variant: str, key: str) -> None:
    """A pair the package refuses is scored 0: its callers make it so."""
    pairs = [
        (record["prediction"], gold, expected)
        for record in records("rouge_pkg")
        for gold, expected in zip(record["golds"], record["expected"][key], strict=True)
    ]
    assert len(pairs) > 2000
    got = scores([(p, [gold]) for p, gold, _ in pairs], tuple(PACKAGE), variant)
    zero = dict.fromkeys(PACKAGE, (0.0, 0.0, 0.0))
    assert got == [
        zero if "error" in found else {kind: tuple(found[PACKAGE[kind]]) for kind in PACKAGE}
        for *_, found in pairs
    ]


def test_equals_kilt_bergen_and_longbench() -> None:
    found = [record for record in records("rouge_pkg") if record["golds"]]
    got = scores([(r["prediction"], r["golds"]) for r in found], tuple(PACKAGE), "pltrdy")
    best = [[row[kind][2] for kind in PACKAGE] for row in got]
    assert best == [r["expected"]["bergen_rouge_1_2_l"] for r in found]
    assert [row[2] for row in best] == [r["expected"]["kilt_rougel"] for r in found]

    found = [record for record in records("longbench") if record["golds"]]
    got = scores([(r["prediction"], r["golds"]) for r in found], ("rougeL",), "pltrdy")
    assert [row["rougeL"][2] for row in got] == [r["expected"]["rouge_l_f"] for r in found]


def test_porter_equals_nltk() -> None:
    found = records("porter_stemmer")
    wrong = [r for r in found if porter_stem(r["word"]) != r["expected"]["nltk_porter"]]
    assert len(found) > 1000
    assert wrong == []
    # Twice, the second time out of the cache; words of up to three letters stay as they are.
    words = [r["word"] for r in found if len(r["word"]) > 3] * 2
    expected = [r["expected"]["nltk_porter"] for r in found if len(r["word"]) > 3] * 2
    assert oq.tokenize(" ".join(words), "rouge:stem") == expected


@pytest.mark.parametrize(
    ("tokenizer", "key"),
    [("rouge", "google_rouge_tokens"), ("rouge:stem", "google_rouge_tokens_stem")],
)
def test_tokenize_equals_reference(tokenizer: str, key: str) -> None:
    found = records("normalize")
    got = oq.tokenize([record["text"] for record in found], tokenizer).to_pylist()
    assert got == [record["expected"][key] for record in found]


@pytest.mark.parametrize("variant", ["", "pltrdy", "pltrdy100", "pltrdy-counts"])
@given(rows=strategies.rows(), layout=strategies.layouts())
@settings(max_examples=60)
def test_equals_oracle(variant: str, rows: list[dict[str, Any]], layout: Layout) -> None:
    kinds = ("rouge1", "rouge2", "rouge4", "rougeL") + (("rougeLsum",) if not variant else ())
    names = [asked(kind, variant, part) for kind in kinds for part in PARTS]
    table = oq.score(layout.table(rows), names).table.to_pylist()
    for row, got in zip(rows, table, strict=True):
        for kind in kinds:
            expected = rouge(kind, row["prediction"], row["answers"], variant) or (None,) * 3
            assert tuple(got[asked(kind, variant, part)] for part in PARTS) == expected


def drawn(rng: random.Random, vocabulary: list[str], size: int) -> str:
    words = rng.choices(vocabulary, k=size)
    return " ".join(w + rng.choice(["", "", "", ".", "\n", " ."]) for w in words)


STOPS = ["the", "of", "and"]

#: Around 64 words, where one way to count ends, and around whole words of bits.
SIZES = (0, 1, 2, 5, 63, 64, 65, 66, 127, 128, 130, 200, 257, 330)


@pytest.mark.parametrize("variant", VARIANTS)
def test_long_texts_equal_oracle(variant: str) -> None:
    rng = random.Random(f"rouge {variant}")
    short = list(STEMS)[:6]
    pairs: Pairs = []
    for size in SIZES:
        for vocabulary in (short, list(STEMS)):
            answers = [drawn(rng, vocabulary, rng.choice(SIZES)) for _ in range(2)]
            pairs.append((drawn(rng, vocabulary, size), [*answers, None]))
    kinds = ("rouge1", "rouge2", "rouge9", "rougeL")
    kinds += () if variant.startswith("pltrdy") else ("rougeLsum",)
    got = scores(pairs, kinds, variant)
    expected = [{kind: rouge(kind, *pair, variant) for kind in kinds} for pair in pairs]
    assert got == expected


def test_very_long_texts_equal_oracle() -> None:
    """Enough words, few of them often and most once, that not all rows and masks are kept."""
    rng = random.Random(11)
    rare = [f"w{at}" for at in range(3500)]

    def text(size: int) -> str:
        some = [rng.choice(STOPS) if rng.random() < 0.3 else "" for _ in range(size)]
        return " ".join(stop or word for stop, word in zip(some, rare, strict=False))

    pair = (text(3100), [text(2900)])
    for variant, kinds in (("", ("rouge2", "rougeL", "rougeLsum")), ("pltrdy", ("rougeL",))):
        assert scores([pair], kinds, variant) == [{k: rouge(k, *pair, variant) for k in kinds}]


def test_more_words_than_two_bytes_can_number() -> None:
    """70,000 words, of which the first 66,000 are the same, all different."""
    words = [f"w{at}" for at in range(70_000)]
    other = words[:66_000] + [f"x{at}" for at in range(4_000)]
    (row,) = scores([(" ".join(words), [" ".join(other)])], ("rouge1", "rouge2", "rougeL"))
    assert [row[kind][0] for kind in row] == [66 / 70, 65_999 / 69_999, 66 / 70]


def test_long_texts_that_share_nothing_or_no_pair() -> None:
    words = [f"w{at}" for at in range(200)]
    backwards, others = " ".join(words[::-1]), " ".join(f"x{at}" for at in range(100))
    kinds = ("rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum")
    pairs: Pairs = [(" ".join(words), [others]), (" ".join(words), [backwards])]
    nothing, turned = scores(pairs, kinds)
    assert set(nothing.values()) == {(0, 0, 0)}
    assert [turned[kind][0] for kind in kinds] == [1, 0, 0, 1 / 200, 1 / 200]


@pytest.mark.parametrize("words", [2, 40])
def test_words_that_agree_in_eight_bytes(words: int) -> None:
    """Long words that differ late, in the middle, in length; and a NUL, which pads short ones."""
    names = [
        "abcdefgh",
        "abcdefghi",
        "abcdefghj",
        "abcdefghixyz1234",
        "abcdefghjxyz1234",
        "a\0",
        "a",
    ]
    names += ["abcdefg\0", "abcdefg", "abcdefg\x07", "éèàù", "abcdefé"]
    # Around fifteen bytes, up to which words are compared by two numbers.
    names += ["abcdefghijklmn", "abcdefghijklmn\0", "abcdefghijklmno", "abcdefghijklmnop"]
    names += [
        "abcdefghijklmnoq",
        "abcdefghijklmnopq",
        "abcdefghijklmnopqrstu1",
        "abcdefghijklmnopqrstu2",
    ]
    rng = random.Random(words)
    pairs: Pairs = [
        (" ".join(rng.choices(names, k=words * 2)), [" ".join(rng.choices(names, k=words * 3))])
        for _ in range(50)
    ]
    for variant in ("", "pltrdy", "pltrdy-counts"):
        got = scores(pairs, ("rouge1", "rouge2", "rougeL"), variant)
        for row, pair in zip(got, pairs, strict=True):
            assert row == {kind: rouge(kind, *pair, variant) for kind in row}


@given(text=strategies.texts())
def test_unicode_words_of_ascii_are_the_same(text: str) -> None:
    text = text.encode("ascii", "ignore").decode()
    assert oq.tokenize(text, "rouge:unicode") == oq.tokenize(text, "rouge") == ascii_words(text)


@given(texts=st.lists(strategies.texts(), max_size=8))
def test_tokenize_equals_oracle(texts: list[str]) -> None:
    assert oq.tokenize(texts, "rouge").to_pylist() == [ascii_words(text) for text in texts]


@pytest.mark.usefixtures("shared")
def test_oracle_stems_are_nltks() -> None:
    """What the oracle knows by heart, where the vectors have the word."""
    known = {r["word"]: r["expected"]["nltk_porter"] for r in records("porter_stemmer")}
    both = STEMS.keys() & known.keys() - {"was"}
    assert len(both) > 10
    assert {word: STEMS[word] for word in both} == {word: known[word] for word in both}


def test_oracle_equals_rouge_score() -> None:
    """Without stems: the oracle knows few, and Porter's steps have vectors of their own."""
    for record in records("rouge_score")[::2]:
        for kind in GOOGLE if record["golds"] else ():
            expected = tuple(record["expected"]["plain"]["multi"][kind])
            assert rouge(kind, record["prediction"], record["golds"]) == expected


def test_threads_give_equal_bits() -> None:
    rng = random.Random(5)
    texts = [drawn(rng, list(STEMS), rng.randint(0, 90)) for _ in range(4000)]
    data = {
        "prediction": texts,
        "answers": [[a, b] for a, b in zip(texts[1:], texts[:-1], strict=True)] + [["x"]],
    }
    metrics = ["rouge1", "rouge2:stem", "rougeL:recall", "rougeLsum", "rougeL:pltrdy"]
    one = oq.score(data, metrics, threads=1)
    for threads in (2, 3, 8):
        several = oq.score(data, metrics, threads=threads)
        assert several.table.equals(one.table)
        assert several.means == one.means

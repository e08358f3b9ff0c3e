"""Covers: the compressors without a model. Compared against: texts cut by hand, BM25 in plain
Python, properties. Run: pytest tests/steps/test_compressors.py
"""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odqa_fast.engines.base import Compressor, Task, ask
from odqa_fast.errors import OdqaError
from odqa_fast.steps.compressors import COMPRESSORS, CompressorOptions, open_compressor
from odqa_fast.steps.compressors.bm25 import rank
from odqa_fast.texts.length import make_length

CHARS = make_length("chars")
PLAIN = ("none", "top1", "lead", "random", "bm25", "oracle")
DOCUMENTS = (
    "Rain fell on Marel. The mill stood idle. Ada Brink built the mill in 1700.",
    "A ship came late. Otto Fenn bought it for a song.",
)


def task(
    level: float,
    *questions: str,
    documents: tuple[str, ...] = DOCUMENTS,
    answers: tuple[tuple[str, ...], ...] = (),
    unit: str = "chars",
) -> Task:
    return Task(documents, questions, level, make_length(unit), answers)  # type: ignore[arg-type]


def made(compressor: Compressor | str, of: Task) -> str:
    if isinstance(compressor, str):
        compressor = open_compressor(compressor)
    ((at, _, reply),) = ask(compressor, [of])
    assert at == 0
    assert reply.result is not None
    return reply.text


def test_every_file_is_a_compressor() -> None:
    assert set(PLAIN) <= set(COMPRESSORS.names())
    for name in PLAIN:
        assert open_compressor(name).signature.startswith(f"{name}/1")
    assert [name for name in PLAIN if open_compressor(name).sees_answers] == ["oracle"]


def test_a_name_that_is_none() -> None:
    with pytest.raises(OdqaError, match=r"no compressor 'bm52'.*bm25"):
        open_compressor("bm52")
    with pytest.raises(OdqaError, match="nothing behind a colon"):
        open_compressor("bm25:fast")


def test_none_and_top1_leave_documents_whole() -> None:
    assert made("none", task(0.2)) == "\n\n".join(DOCUMENTS)
    assert made("top1", task(0.2)) == DOCUMENTS[0]
    assert made("top1", task(0.2, documents=())) == ""


def test_lead_ends_at_the_first_sentence_that_does_not_fit() -> None:
    # 124 characters in two documents; sentences of 19, 20, 33, 17 and 31.
    assert [len(text) for text in DOCUMENTS] == [74, 49]
    assert made("lead", task(0.2)) == "Rain fell on Marel."  # 24.6
    assert made("lead", task(0.33)) == "Rain fell on Marel. The mill stood idle."  # 40.59
    assert made("lead", task(0.32)) == "Rain fell on Marel."  # 39.36; 40 are needed
    assert made("lead", task(0.1)) == ""


def test_bm25_takes_what_fits_best_first_in_the_order_of_the_text() -> None:
    question = "Who built the mill?"
    # Best is the sentence with both words, then the one with "mill" alone.
    assert made("bm25", task(0.3, question)) == "Ada Brink built the mill in 1700."
    assert made("bm25", task(0.45, question)) == (
        "The mill stood idle. Ada Brink built the mill in 1700."
    )


def test_bm25_without_questions_ranks_by_the_texts_own_words() -> None:
    documents = ("Tides turn wheels. This dog was tired. Wheels need tides. Wheels grind grain.",)
    # "Wheels" stands in three sentences, "tides" in two; "this" and "was" say nothing.
    assert made("bm25", task(0.5, documents=documents)) == "Tides turn wheels. Wheels need tides."


def test_bm25_serves_every_question_before_it_serves_one_again() -> None:
    pieces = ["Mills grind.", "Mills turn.", "Mills stand.", "Ships sail."]
    order = rank(pieces, ["mills mills?", "ships?"])
    assert set(order[:2]) == {0, 3}


def plain_bm25(pieces: list[str], question: str) -> list[float]:
    """Robertson's formula, word by word; the texts here are small letters without endings."""
    bags = [piece.split() for piece in pieces]
    mean = sum(map(len, bags)) / len(bags)
    scores = []
    for bag in bags:
        score = 0.0
        for word in set(question.split()):
            n = sum(word in other for other in bags)
            weight = math.log(1 + (len(bags) - n + 0.5) / (n + 0.5))
            tf = bag.count(word)
            score += weight * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * len(bag) / mean))
        scores.append(score)
    return scores


WORDS = st.lists(
    st.sampled_from(["fog", "oak", "elm", "ash", "yew", "mud"]), min_size=1, max_size=8
)


@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=8), WORDS.map(" ".join))
def test_bm25_ranks_as_the_formula_does(pieces: list[str], question: str) -> None:
    scores = plain_bm25(pieces, question)
    ranked = [scores[at] for at in rank(pieces, [question])]
    assert ranked == pytest.approx(sorted(scores, reverse=True))


def test_random_depends_on_the_seed_and_the_text() -> None:
    texts = {
        made(open_compressor("random", CompressorOptions(seed=seed)), task(0.5))
        for seed in range(20)
    }
    assert len(texts) > 3
    options = CompressorOptions(seed=4)
    assert made(open_compressor("random", options), task(0.5)) == made(
        open_compressor("random", options), task(0.5)
    )
    assert "seed=4" in open_compressor("random", options).signature


def test_oracle_keeps_answers_of_as_many_questions_as_fit() -> None:
    answers = (("Ada Brink",), ("Otto Fenn", "Fenn"), ("not there",))
    questions = ("Who built it?", "Who bought it?", "What else?")
    both = "Ada Brink built the mill in 1700. Otto Fenn bought it for a song."
    assert made("oracle", task(0.6, *questions, answers=answers)) == both
    # 0.3 of 123 characters hold one of them: the shorter.
    assert made("oracle", task(0.3, *questions, answers=answers)) == (
        "Otto Fenn bought it for a song."
    )


def test_oracle_joins_an_answer_that_a_border_parts() -> None:
    documents = ("He wrote Who? Me. It sold badly. Nothing else did.",)
    text = made("oracle", task(0.6, "Which book?", documents=documents, answers=(("Who? Me.",),)))
    assert "Who? Me." in text


@pytest.mark.parametrize("unit", ["chars", "words"])
@pytest.mark.parametrize("name", ["lead", "random", "bm25", "oracle"])
@given(
    documents=st.lists(
        st.lists(
            st.sampled_from(["A b c.", "It is so!", "Why not?", "湖は深い。", "Mr. X came."])
        ).map(" ".join)
        | st.text(max_size=30),
        max_size=4,
    ).map(tuple),
    level=st.floats(0.01, 1),
)
def test_extractive_ones_keep_the_level_and_the_order(
    name: str, unit: str, documents: tuple[str, ...], level: float
) -> None:
    of = task(level, "Why b?", documents=documents, answers=(("so", "X"),), unit=unit)
    text = made(name, of)
    whole = sum(map(of.count, documents))
    assert of.count(text) <= level * whole + 1e-9
    # What is kept stands in the documents in that order.
    rest = " ".join(" ".join(documents).split())
    for word in text.split():
        at = rest.find(word)
        assert at >= 0
        rest = rest[at + len(word) :]


def test_another_process_draws_the_same() -> None:
    code = (
        "from odqa_fast.engines.base import Task, ask\n"
        "from odqa_fast.steps.compressors import open_compressor\n"
        "from odqa_fast.texts.length import make_length\n"
        f"task = Task({DOCUMENTS!r}, (), 0.5, make_length('chars'))\n"
        "print(next(ask(open_compressor('random'), [task]))[2].text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == made("random", task(0.5))

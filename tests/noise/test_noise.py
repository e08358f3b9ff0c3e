"""Covers: noise, its guards, its manifest, what it depends on (D058). Compared against: the clean
texts, the oracle matcher, the binomial distribution, noise worked by hand.

Run: pytest tests/noise/test_noise.py
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from island import rows, texts
from oracles.par import par

from odqa_fast.errors import DataError, OdqaError
from odqa_fast.noise.add import add_noise
from odqa_fast.noise.choose import Choice, choose
from odqa_fast.noise.factual import (
    compile_answers,
    draw_document,
    find_asking_word,
    replace_answer,
    tell_shape,
)
from odqa_fast.noise.manifest import Noised, Piece, join_manifest, make_manifest_rows, restore
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.noise.place import insert_sentences
from odqa_fast.noise.pool import Pooled, Source, pool_lines, pool_sentences
from odqa_fast.profiles import get_profile
from odqa_fast.texts.draws import Draws
from odqa_fast.texts.text import Text, make_texts
from odqa_fast.texts.words import split_words

KINDS = [
    NoiseOptions(kind="sentences", count=2, rare=0, seed=7),
    NoiseOptions(kind="sentences", share=0.4, rare=0, seed=7),
    NoiseOptions(kind="documents", count=2, rare=0, seed=7),
    NoiseOptions(kind="documents", count=1, top_k=1, rare=0, seed=7),
    NoiseOptions(kind="documents", count=1, swap=True, rare=0, seed=7),
    NoiseOptions(kind="factual", seed=7),
]


def by_tag(options: NoiseOptions) -> str:
    return options.tag


def as_text(noised: Noised) -> str:
    return json.dumps([list(noised.text.documents), make_manifest_rows(noised)])


@pytest.mark.parametrize("options", KINDS, ids=by_tag)
def test_the_manifest_gives_back_the_clean_text(options: NoiseOptions) -> None:
    clean = texts(60)
    noised = add_noise(clean, options)
    assert sum(bool(each.pieces) for each in noised) > 30
    for before, each in zip(clean, noised, strict=True):
        assert each.clean.documents == before.documents
        assert (each.text.documents == before.documents) == (not each.pieces)


@pytest.mark.parametrize("options", KINDS, ids=by_tag)
def test_no_piece_holds_an_answer(options: NoiseOptions) -> None:
    for each in add_noise(texts(60), options):
        answers = list(each.text.answers)
        for piece in each.injected:
            assert par(piece, answers, "token") == 0
            assert par(piece, answers, "normalized") == 0


@pytest.mark.parametrize("options", KINDS, ids=by_tag)
def test_order_and_workers_change_nothing(options: NoiseOptions) -> None:
    clean = texts(1100)  # more than one part for the workers
    expected = {each.text.id: as_text(each) for each in add_noise(clean, options)}
    shuffled = random.Random(4).sample(clean, len(clean))
    for order, threads in ((clean, 4), (shuffled, 1), (shuffled, 4)):
        found = {each.text.id: as_text(each) for each in add_noise(order, options, threads=threads)}
        assert found == expected


@pytest.mark.parametrize("options", KINDS, ids=by_tag)
def test_another_seed_is_other_noise(options: NoiseOptions) -> None:
    clean = texts(20)
    first, second = (
        [as_text(each) for each in add_noise(clean, replace(options, seed=seed))] for seed in (1, 2)
    )
    assert first != second


D058 = {
    "id": ["a", "b"],
    "documents": [["Alpha was built in 1901. Beta followed in 1950."]] * 2,
    "question": ["When was Alpha built?"] * 2,
    "answers": [["1901"]] * 2,
}
POOL = ["Birds migrate south.", "Glass is made from sand.", "Tea is grown on hills."]

SCRIPT = """
import json, sys
from odqa_fast.noise.add import add_noise
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.texts.text import make_texts
data, pool = json.load(sys.stdin)
noised = add_noise(make_texts(data), NoiseOptions(kind="sentences", count=2, seed=7), pool=pool)
print(json.dumps([each.text.texts for each in noised]))
"""


def test_D058_the_same_noise_in_every_process() -> None:
    here = [
        list(each.text.texts)
        for each in add_noise(
            make_texts(D058), NoiseOptions(kind="sentences", count=2, seed=7), pool=POOL
        )
    ]
    for hash_seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-P", "-c", SCRIPT],
            input=json.dumps([D058, POOL]),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )
        assert json.loads(done.stdout) == here


def test_D058_base_sentences_keep_their_order_and_the_caller_his_random_state() -> None:
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    noised = add_noise(make_texts(D058), NoiseOptions(kind="sentences", count=2, seed=7), pool=POOL)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    for each in noised:
        (text,) = each.text.texts
        assert len(each.injected) == 2
        assert set(each.injected) <= set(POOL)
        assert text.index("Alpha was built in 1901.") < text.index("Beta followed in 1950.")
        assert "1901" not in " ".join(each.injected)


def test_D058_equal_texts_with_other_ids_get_other_noise() -> None:
    twins = make_texts(
        {name: values[:1] * 20 for name, values in D058.items() if name != "id"}
        | {"id": [str(n) for n in range(20)]}
    )
    noised = add_noise(twins, NoiseOptions(kind="sentences", count=2, seed=7), pool=POOL)
    assert len({each.text.texts for each in noised}) > 1


def test_sentences_are_put_between_sentences() -> None:
    (text,) = make_texts({"documents": [["One is. Two is."]], "answers": [["x"]]})
    pool = pool_lines(["New."])
    seen = {insert_sentences(text, pool[:1], Draws(seed, b"")).text.texts[0] for seed in range(40)}
    assert seen == {"New. One is. Two is.", "One is. New. Two is.", "One is. Two is. New."}


def test_no_border_inside_an_answer() -> None:
    # A splitter may take the abbreviation for the end of a sentence; the answer stays whole.
    (text,) = make_texts(
        {
            "documents": [["It was Mr. No. Everyone knew. U. S. Grant came."]],
            "answers": [["No. Everyone", "U. S. Grant"]],
        }
    )
    pool = pool_lines(["New."])
    for seed in range(60):
        noisy = insert_sentences(text, pool[:1], Draws(seed, b"")).text.texts[0]
        assert "U. S. Grant" in noisy
        assert "No. Everyone" in noisy


@given(
    st.lists(st.text(max_size=12), min_size=1, max_size=3),
    st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=6),
    st.integers(0, 5),
)
def test_any_text_comes_back(
    documents: list[str], pieces: list[str], chosen: list[int], seed: int
) -> None:
    (text,) = make_texts([{"documents": documents, "answers": ["x"]}])
    pool = pool_lines(pieces)
    if not len(pool):
        return
    drawn = [pool[piece % len(pool)] for piece in chosen]
    noised = insert_sentences(text, drawn, Draws(seed, b"any"))
    assert noised.clean.documents == text.documents
    assert sorted(noised.injected) == sorted(piece.text for piece in drawn)


def chosen(text: Text, pieces: list[str], rare: float, count: int = 1) -> tuple[list[str], Choice]:
    pool = pool_lines(pieces)
    choice = Choice(text, Draws(1, b"x"), lambda taken: len(taken) >= count)
    asked = {word for question in text.questions for word in split_words([question.text])[0]}
    choose([choice], pool, pool.rare(asked, rare), get_profile("squad"))
    return [piece.text for piece in choice.chosen], choice


def test_guards_refuse_what_helps() -> None:
    (text,) = make_texts(
        {
            "documents": [["The kiln stands in Marel. Nobody uses it."]],
            "question": ["Who fired the kiln at Marel?"],
            "answers": [["Beyonc\u00e9 Ames", "the U.S. potter"]],
        }
    )
    refused = [
        "It was BEYONCE\u0301 ames again.",  # whole tokens, decomposed, in any case
        "Once a us potter lived.",  # only once normalized
        "Nobody uses it.",  # stands in the text already
        "Kilns are hot, but this kiln is cold.",  # shares a word that few have
    ]
    taken, choice = chosen(text, [*refused, "Rain fell."], rare=0.5, count=5)
    assert taken == ["Rain fell."]
    assert len(choice.tried) == 5
    # Without the last guard that piece may come; the others never.
    taken, _ = chosen(text, [*refused, "Rain fell."], rare=0, count=5)
    assert sorted(taken) == [refused[3], "Rain fell."]


def test_a_word_that_many_pieces_have_is_not_rare() -> None:
    (text,) = make_texts(
        {"documents": [["x"]], "question": ["Which song won?"], "answers": [["none"]]}
    )
    pieces = [f"Song number {n} was long." for n in range(6)] + ["Rain fell.", "Sun shone."]
    # Six of eight pieces have it: not rare at half of them, rare at 80 %.
    assert len(chosen(text, pieces, rare=0.5, count=8)[0]) == 8
    assert len(chosen(text, pieces, rare=0.8, count=8)[0]) == 2


def test_sentences_of_other_rows_are_whole() -> None:
    cut_off = [
        "and so it ended there, said the mayor. Then the long winter came to Marel. It was of"
    ]
    pool = pool_sentences(make_texts({"documents": [cut_off], "answers": [["x"]]}))
    assert list(pool) == [Pooled("Then the long winter came to Marel.", Source("0", 0))]


def test_a_share_of_the_characters_is_reached_and_not_by_much() -> None:
    for each in add_noise(texts(60), NoiseOptions(kind="sentences", share=0.3, rare=0)):
        own = sum(map(len, each.clean.texts))
        injected = [len(piece) for piece in each.injected]
        assert sum(injected) >= 0.3 * own > sum(injected) - max(injected)


def test_documents_swapped_in_leave_those_with_an_answer() -> None:
    options = NoiseOptions(kind="documents", count=3, swap=True, rare=0)
    for before, each in zip(texts(40), add_noise(texts(40), options), strict=True):
        assert len(each.text.documents) == 3
        assert each.text.documents[:2] == before.documents[:2]
        assert each.text.documents[2] != before.documents[2]
        assert [piece.document for piece in each.pieces] == [2]
        assert each.unplaced == 2


def test_documents_are_added_among_the_first() -> None:
    options = NoiseOptions(kind="documents", count=1, top_k=2, rare=0)
    places = {each.pieces[0].document for each in add_noise(texts(60), options)}
    assert places == {0, 1}
    anywhere = add_noise(texts(60), replace(options, top_k=None))
    assert {each.pieces[0].document for each in anywhere} == {0, 1, 2, 3}
    each = anywhere[0]
    added = each.text.documents[each.pieces[0].document]
    assert added["score"] is None
    assert added["title"] in {f"t{row}-{rank}" for row in range(60) for rank in range(3)}
    # Of a document every sentence counts by itself.
    assert len(each.injected) == 3


@pytest.mark.parametrize("n", [2, 3, 5])
def test_factual_errors_come_as_often_as_they_should(n: int) -> None:
    rounds = 10_000
    drawn = [draw_document(range(n), Draws(seed, b"rate")) for seed in range(rounds)]
    share = 1 / (n + 1)
    within = 4 * math.sqrt(rounds * share * (1 - share))
    for document in (None, *range(n)):
        assert abs(drawn.count(document) - rounds * share) < within
    assert draw_document([4], Draws(1, b"")) is None
    assert draw_document([], Draws(1, b"")) is None


def test_factual_errors_of_rows_come_as_often_as_they_should() -> None:
    # Each row has two documents with an answer: one of them becomes wrong in 2 of 3 rows.
    noised = add_noise(texts(10_000), NoiseOptions(kind="factual", seed=11))
    assert sum(each.unplaced for each in noised) == 0
    wrong = sum(bool(each.pieces) for each in noised)
    assert abs(wrong - 20_000 / 3) < 4 * math.sqrt(10_000 * 2 / 9)
    first = sum(bool(each.pieces) and each.pieces[0].document == 0 for each in noised)
    assert abs(first - 10_000 / 3) < 4 * math.sqrt(10_000 * 2 / 9)


def test_a_factual_error_leaves_one_document_right_and_none_half_right() -> None:
    for each in add_noise(texts(200), NoiseOptions(kind="factual", seed=3)):
        answers = list(each.text.answers)
        right = [par(text, answers, "token") == 1 for text in each.text.texts]
        wrong = {piece.document for piece in each.pieces}
        assert right == [at not in wrong for at in (0, 1)] + [False]
        assert len(wrong) <= 1


def test_a_replaced_answer_is_written_as_the_one_it_replaces() -> None:
    (text,) = make_texts(
        {
            "documents": [["ADA BRINK came. Then ada brink left; Brink's boat sank. Brinks? No."]],
            "answers": [["Ada Brink", "Brink"]],
        }
    )
    noised = replace_answer(text, 0, "Otto Fenn", Source("r9", 0))
    (written,) = noised.text.texts
    assert written == "OTTO FENN came. Then otto fenn left; Otto Fenn's boat sank. Brinks? No."
    assert noised.pieces[0] == Piece("factual", 0, 0, 9, "r9", 0, {"text": "ADA BRINK"})
    assert noised.injected == ["OTTO FENN", "otto fenn", "Otto Fenn"]
    assert noised.clean.texts == text.texts


@pytest.mark.parametrize(
    ("answers", "text", "found"),
    [
        (["U.S."], "The U.S. and the U. S. and u.s. but not US.", ["U.S.", "U. S.", "u.s."]),
        (["New York", "York"], "New\nYork, York and Yorkshire", ["New\nYork", "York"]),
        (["Beyonc\u00e9"], "Beyonce\u0301 and BEYONC\u00c9", ["Beyonce\u0301", "BEYONC\u00c9"]),
        (["art"], "Art is not party.", ["Art"]),
        (["$7.2 million"], "for $7.2 million or $ 7.2 million", ["$7.2 million", "$ 7.2 million"]),
        (["C++"], "C++ and C+", ["C++"]),
        (["(a|b)*"], "literally (a|b)* here, aab", ["(a|b)*"]),
    ],
)
def test_answers_are_found_as_whole_words(answers: list[str], text: str, found: list[str]) -> None:
    pattern = compile_answers(answers)
    assert pattern is not None
    assert pattern.findall(text) == found


def test_answers_without_a_word_are_found_nowhere() -> None:
    assert compile_answers([]) is None
    assert compile_answers(["", " "]) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("1867", "year"), ("May 29, 1932", "date"), ("20 June 1837", "date"), ("1,000", "number"),
        ("7:30", "number"), ("$7.2 million", "quantity"), ("18-year-old", "quantity"),
        ("Yes", "yes-no"), ("Paris", "name-1"), ("Lake Geneva", "name-2"),
        ("The Lord of the Rings", "name-3"), ("Leonardo da Vinci", "name-3"),
        ("dark red", "words-2"), ("湖", "name-1"), ("3456", "number"),
    ],
)  # fmt: skip
def test_kinds_of_answers(answer: str, kind: str) -> None:
    assert tell_shape(answer) == kind


def test_kinds_of_questions() -> None:
    asked = ["Who built it?", "In what year was it?", "the city where he lived", "Is it old?"]
    assert [find_asking_word(question) for question in asked] == ["who", "what year", "where", ""]


def test_the_other_answer_is_of_the_same_kind() -> None:
    people = {row["answers"][0].lower() for row in rows(6)}
    mixed = rows(40)
    for at in range(0, 40, 2):
        mixed[at]["question"] = "When was it built?"
        mixed[at]["answers"] = [str(1700 + at)]
    for each in add_noise(make_texts(mixed), NoiseOptions(kind="factual", seed=3)):
        for piece in each.injected:
            is_year = each.text.answers[0].isdigit()
            assert piece.isdigit() == is_year
            assert is_year or piece.lower() in people


def test_several_questions_of_one_text_get_one_noise() -> None:
    shared = [
        {**row, "id": f"{row['id']}-{at}", "text_id": row["id"]}
        for row in rows(10)
        for at in range(3)
    ]
    noised = add_noise(make_texts(shared), NoiseOptions(kind="sentences", count=1, rare=0))
    assert len(noised) == 10
    assert [row["id"] for row in make_manifest_rows(noised[0])] == ["r0-0", "r0-1", "r0-2"]


def test_evidence_is_what_still_holds_an_answer() -> None:
    (each,) = add_noise(texts(1), NoiseOptions(kind="sentences", count=1), pool=["Rain fell."])
    assert each.evidence == (
        "It was built by Ada Brink in 1700.",
        "In 1700 ADA BRINK finished it all the same.",
    )
    wrong = [each for each in add_noise(texts(40), NoiseOptions(kind="factual")) if each.pieces]
    assert wrong
    assert all(len(each.evidence) == 1 for each in wrong)


def test_what_finds_no_place_is_counted() -> None:
    (each,) = add_noise(
        texts(1),
        NoiseOptions(kind="sentences", count=3, rare=0),
        pool=["Rain fell.", "Ada Brink sang."],
    )
    assert (each.injected, each.unplaced) == (["Rain fell."], 2)


def written(noised: list[Noised]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(
        json.dumps([row for each in noised for row in make_manifest_rows(each)])
    )
    return rows


@pytest.mark.parametrize("options", KINDS, ids=by_tag)
def test_a_manifest_is_read_as_it_was_written(options: NoiseOptions) -> None:
    noised = add_noise(texts(12), options)
    noisy = [each.text for each in noised]
    for manifest in (written(noised), written(noised)[::-1]):
        found = join_manifest(noisy, manifest, "m")
        assert [each.clean.documents for each in found] == [t.documents for t in texts(12)]
        assert [each.injected for each in found] == [each.injected for each in noised]


def test_a_manifest_of_other_rows_is_refused() -> None:
    noised = add_noise(texts(3), NoiseOptions(kind="sentences", count=1, rare=0))
    noisy = [each.text for each in noised]
    manifest = written(noised)
    with pytest.raises(DataError, match="has no row 'r2'"):
        join_manifest(noisy, manifest[:2], "m")
    manifest[1]["pieces"][0]["end"] = 10_000
    with pytest.raises(DataError, match="row 'r1' does not say"):
        join_manifest(noisy, manifest, "m")
    del manifest[1]["pieces"]
    with pytest.raises(DataError, match="row 'r1' does not say"):
        join_manifest(noisy, manifest, "m")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "words"}, "--kind has to be one of sentences, documents, factual"),
        ({"kind": "sentences", "count": 1, "share": 0.1}, "exclude each other"),
        ({"kind": "sentences", "count": 0}, "--count has to be 1 or more"),
        ({"kind": "sentences", "share": 0.0}, "--share has to be above 0"),
        ({"kind": "sentences", "rare": 2.0}, "--rare has to be 0 or more and at most 1"),
        ({"kind": "sentences", "swap": True}, "for documents"),
        ({"kind": "factual", "count": 1}, "probability"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OdqaError, match=says):
        NoiseOptions(**options)


def test_restoring_nothing_changes_nothing() -> None:
    documents = texts(1)[0].documents
    assert restore(documents, []) == list(documents)

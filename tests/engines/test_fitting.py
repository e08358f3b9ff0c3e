"""Covers: prompts of readers and compressors, and how over-long ones are cut.

Compared against: an engine whose tokens are words, counted by hand.
Run: pytest tests/engines/test_fitting.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from odqa_fast.engines.base import Prepared, Query, Reply, Request, Task
from odqa_fast.engines.context import NO_CONTEXT, Context
from odqa_fast.engines.fitting import fit
from odqa_fast.engines.prompts import load_prompt
from odqa_fast.errors import OdqaError
from odqa_fast.steps.prompted import PromptedCompressor, PromptedReader


class Words:
    """An engine that counts words and repeats the prompt."""

    id = "words"
    signature = "words/1"

    def __init__(self, limit: int | None, counts: bool = True) -> None:
        self.max_input_tokens = limit
        self._counts = counts

    def count_tokens(self, request: Request) -> int | None:
        return len(request.user.split()) if self._counts else None

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        for index, request in enumerate(requests):
            yield index, Reply(request.user, "stop")

    def close(self) -> None:
        pass


TEXTS = ["a b c", "d e f g", "h i"]


def fill(kept: Sequence[str]) -> Request:
    return Request(f"{' '.join(kept)} ?")


@pytest.mark.parametrize(
    ("limit", "prompt", "documents", "chars"),
    [
        (None, "a b c d e f g h i ?", 0, 0),
        (10, "a b c d e f g h i ?", 0, 0),
        (9, "a b c d e f g ?", 1, 3),
        (8, "a b c d e f g ?", 1, 3),
        (7, "a b c ?", 2, 10),
        (4, "a b c ?", 2, 10),
        # Of the first, its end: up to the white space after "a b", or after "a".
        (3, "a b ?", 2, 12),
        (2, "a ?", 2, 14),
        # Not even a word of it: the engine will say what is too long.
        (1, " ?", 3, 15),
        (0, " ?", 3, 15),
    ],
)
def test_whole_texts_go_from_the_end_then_the_end_of_the_first(
    limit: int | None, prompt: str, documents: int, chars: int
) -> None:
    prepared = fit(Words(limit), fill, TEXTS)
    assert prepared.request == Request(prompt)
    assert (prepared.documents_left_out, prepared.chars_left_out) == (documents, chars)
    assert prepared.seconds > 0


def test_nothing_is_cut_where_nobody_counts() -> None:
    assert fit(Words(1, counts=False), fill, TEXTS).chars_left_out == 0


def test_one_long_word_is_cut_within() -> None:
    prepared = fit(Letters(7), fill, ["abcdefghij"])
    assert prepared.request == Request("abcde ?")
    assert (prepared.documents_left_out, prepared.chars_left_out) == (0, 5)


class Letters(Words):
    """Counts code points."""

    def count_tokens(self, request: Request) -> int:
        return len(request.user)


CHINESE = "尼罗河流经十一个国家。" * 1000
DNA = "ACGT" * 3000


@pytest.mark.parametrize("text", [CHINESE, DNA, f"[1] Nile: {DNA}", f"尼罗 河{CHINESE}"])
def test_a_text_without_spaces_is_cut_at_the_limit(text: str) -> None:
    prepared = fit(Letters(8002), fill, [text])
    assert prepared.request == Request(f"{text[:8000]} ?")
    assert (prepared.documents_left_out, prepared.chars_left_out) == (0, len(text) - 8000)


def test_a_long_word_is_left_out_whole_up_to_a_length() -> None:
    # 64 characters: no word of a script with spaces is longer.
    text = f"ab {'x' * 99}"
    for fits, kept in ((64, 0), (65, 65)):
        piece = f"ab {'x' * kept}".strip()
        limit = len("ab ") + fits + len(" ?")
        assert fit(Letters(limit), fill, [text]).request == Request(f"{piece} ?")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ไ" * 8 + "ก\u0e49" + "ข" * 9, "ไ" * 8),  # a Thai tone mark
        ("x" * 8 + "e\u0301" + "y" * 9, "x" * 8),
        ("x" * 8 + "👩\u200d🚀" + "y" * 9, "x" * 8),
        ("x" * 8 + "👍🏽" + "y" * 9, "x" * 8),
        ("x" * 7 + "👩\u200d🚀" + "y" * 9, "x" * 7),
    ],
)
def test_no_cut_parts_a_mark_from_its_character(text: str, kept: str) -> None:
    assert fit(Letters(9 + 2), fill, [text]).request == Request(f"{kept} ?")


def user(prepared: Prepared) -> str:
    assert isinstance(prepared.request, Request)
    return prepared.request.user


DOCUMENTS = Context("documents", (("Nile", "A river."), ("", "A mountain.")))
SUMMARY = Context("summary", (("", "Short."),))


def task(*questions: str) -> Task:
    return Task(tuple(DOCUMENTS.plain()), questions, titles=tuple(t for t, _ in DOCUMENTS.texts))


def test_documents_are_numbered_in_their_order_and_titled() -> None:
    assert DOCUMENTS.shown() == ["[1] Nile: A river.", "[2] A mountain."]
    assert DOCUMENTS.plain() == ["A river.", "A mountain."]
    assert SUMMARY.shown() == SUMMARY.shown("<{text}>") == ["Short."]


def test_a_reader_asks_with_and_without_a_context() -> None:
    asked = load_prompt("answer", "answer")
    closed = load_prompt("answer-closed", "answer-closed")
    reader = PromptedReader(Words(None), asked, closed)
    assert reader.needs_question
    assert reader.signature == f"words/1|{asked.signature}|{closed.signature}"
    request = reader.prepare(Query("Where?", DOCUMENTS)).request
    assert request == asked.fill(question="Where?", context="[1] Nile: A river.\n[2] A mountain.")
    assert reader.prepare(Query("Where?", SUMMARY)).request == asked.fill(
        question="Where?", context="Short."
    )
    assert reader.prepare(Query("Where?", NO_CONTEXT)).request == closed.fill(question="Where?")
    # Nothing is left of the context: the question alone, as if there had been none.
    cut = PromptedReader(Words(7), asked, closed).prepare(Query("Where?", SUMMARY))
    assert cut.request == closed.fill(question="Where?")
    assert (cut.documents_left_out, cut.chars_left_out) == (1, 6)


def test_a_compressor_asks_for_two_sentences() -> None:
    prompt = load_prompt("compress", "compress")
    request = prompt.fill(question="Where?", documents="[1] A river.")
    assert "[1] A river." in request.user
    assert "Where?" in request.user
    assert "two sentences" in request.user
    assert request.max_new_tokens >= 100
    compressor = PromptedCompressor(Words(None), prompt)
    assert compressor.signature == f"words/1|{prompt.signature}"


def test_a_prompt_may_show_documents_in_its_own_way(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    head = 'id = "mine"\nversion = 1\nuser = "{documents}"\n'
    path.write_text(head + 'document = "<{title}|{text}|{rank}>"\n')
    compressor = PromptedCompressor(Words(None), load_prompt(str(path), "compress"))
    assert user(compressor.prepare(task())) == "<Nile|A river.|1>\n<|A mountain.|2>"
    path.write_text(head + 'document = "{question}"\n')
    with pytest.raises(OdqaError, match=r"nothing is filled in for \{question\}"):
        load_prompt(str(path), "compress")


def test_the_prompt_of_acorns_weights() -> None:
    # inference/prompt.py of SinGonKim/ACoRN, misprint included: what its weights were asked.
    prompt = load_prompt("compress-acorn", "compress")
    compressor = PromptedCompressor(Words(None), prompt)
    request = compressor.prepare(task("Where?")).request
    assert isinstance(request, Request)
    first, *rest = request.user.split("\n")
    assert first.startswith("Instruction: Compress the imformation in the retrieved documents")
    assert rest == ["Question: Where?", "[Document1]: A river.", "[Document2]: A mountain.", "",
                    "Summary: "]  # fmt: skip
    assert (request.stop, request.max_new_tokens) == ((), 512)


def test_a_prompt_without_a_question_needs_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('id = "mine"\nversion = 1\nuser = "Shorten: {documents}"\n')
    prompt = load_prompt(str(path), "compress")
    compressor = PromptedCompressor(Words(None), prompt)
    assert not compressor.needs_question
    assert user(compressor.prepare(Task(("Short.",), ()))) == "Shorten: [1] Short."

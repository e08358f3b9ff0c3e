"""Covers: models as readers and compressors, whatever runs them. Compared against: the prompts that
a scripted engine is handed, written by hand. Run: pytest tests/steps/test_model_parts.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from odqa_fast.engines.base import Compressor, Query, Reply, Request, Task, ask
from odqa_fast.engines.context import NO_INFORMATION, read_summary
from odqa_fast.engines.prompts import load_prompt
from odqa_fast.errors import ModelError, OdqaError
from odqa_fast.steps.compressors import CompressorOptions, open_compressor
from odqa_fast.steps.prompted import PromptedLevelCompressor, PromptedReader
from odqa_fast.steps.readers import open_reader
from odqa_fast.texts.length import make_length


class ScriptedEngine:
    """Counts a word as a token, plus three for the frame; replies with the prompt's last line."""

    id = "scripted:engine"
    signature = "scripted|engine"
    facts: Mapping[str, object] = {}

    def __init__(self, max_input_tokens: int | None = None, *, counts: bool = True) -> None:
        self.max_input_tokens = max_input_tokens
        self.requests: list[Request] = []
        self._counts = counts

    def count_tokens(self, request: Request) -> int | None:
        return len(request.user.split()) + 3 if self._counts else None

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        self.requests += requests
        for at, request in reversed(list(enumerate(requests))):
            if "fail" in request.user:
                yield at, Reply("", "error", error="too long")
            else:
                yield at, Reply(request.user.splitlines()[-1], "stop", seconds=0.5)

    def close(self) -> None:
        """Nothing is open."""


def prompt(folder: Path, name: str, user: str, kind: str) -> str:
    path = folder / f"{name}.toml"
    path.write_text(f'id = "{name}"\nversion = 2\nuser = """{user}"""\n', encoding="utf-8")
    assert load_prompt(str(path), kind)
    return str(path)


@pytest.fixture
def reader(tmp_path: Path) -> tuple[PromptedReader, ScriptedEngine]:
    engine = ScriptedEngine(max_input_tokens=12)
    opened = load_prompt(
        prompt(tmp_path, "mine", "T: {context}\nQ: {question}", "answer"), "answer"
    )
    closed = load_prompt(
        prompt(tmp_path, "shut", "Only: {question}", "answer-closed"), "answer-closed"
    )
    return PromptedReader(engine, opened, closed), engine


def test_a_reader_is_told_the_compressed_text_and_the_question(
    reader: tuple[PromptedReader, ScriptedEngine],
) -> None:
    model, engine = reader
    asked = [
        Query("Who {x}?", read_summary("Ada did.")),
        Query("fail?", read_summary("Text.")),
    ]
    found = {at: reply for at, _, reply in ask(model, asked)}
    assert [request.user for request in engine.requests] == [
        "T: Ada did.\nQ: Who {x}?",
        "T: Text.\nQ: fail?",
    ]
    assert (found[0].result, found[0].seconds, found[0].error) == ("Q: Who {x}?", 0.5, "")
    assert (found[1].result, found[1].error) == (None, "too long")
    assert "mine/2@" in model.signature
    assert "shut/2@" in model.signature


@pytest.mark.parametrize("context", [NO_INFORMATION, f" {NO_INFORMATION}\n", "", " \n"])
def test_without_information_the_question_is_asked_alone(
    reader: tuple[PromptedReader, ScriptedEngine], context: str
) -> None:
    model, engine = reader
    ((_, _, reply),) = ask(model, [Query("Who?", read_summary(context))])
    assert engine.requests[0].user == "Only: Who?"
    assert reply.text == "Only: Who?"


def test_what_a_reader_cannot_take_is_left_out_and_told(
    reader: tuple[PromptedReader, ScriptedEngine],
) -> None:
    # Three tokens for the frame, "T:", "Q:" and two words of the question: five words fit at most.
    model, engine = reader
    text = "one two three four five six seven"
    ((_, prepared, _),) = ask(model, [Query("Who here?", read_summary(text))])
    (request,) = engine.requests
    shown = request.user.removeprefix("T: ").removesuffix("\nQ: Who here?")
    assert text.startswith(shown)
    assert 4 <= len(shown.split()) <= 5
    assert prepared.chars_left_out == len(text) - len(shown)


DOCUMENTS = ("Ada Brink built the old mill by herself.", "It rained.")


def task(level: float, *questions: str) -> Task:
    return Task(DOCUMENTS, questions, level, make_length("chars"))


def to_level(engine: ScriptedEngine, name: str = "compress-level") -> Compressor:
    prompt = load_prompt(name, "compress-level")
    return PromptedLevelCompressor(engine, prompt, prompt)


def test_a_compressor_is_told_its_budget_in_words_and_in_tokens(tmp_path: Path) -> None:
    engine = ScriptedEngine()
    short = prompt(tmp_path, "short", "{documents}|{question}|{words}", "compress-level")
    compressor = to_level(engine, short)
    tasks = [task(0.5, "Who built it?", "When?"), task(0.21)]
    found = {at: reply for at, _, reply in ask(compressor, tasks)}
    first, second = engine.requests
    # Ten words, which the engine counts as ten tokens: 5 of them, and 2.
    assert first.user == f"[1] {DOCUMENTS[0]}\n[2] {DOCUMENTS[1]}|Who built it?\nWhen?|5"
    assert first.max_new_tokens == 5
    assert second.user.endswith("||2")
    assert second.max_new_tokens == 2
    assert found[0].text == "When?|5"
    assert "short/2@" in compressor.signature


def test_a_compressor_that_fails_says_why() -> None:
    ((_, _, compressed),) = ask(to_level(ScriptedEngine()), [task(0.5, "fail?")])
    assert (compressed.result, compressed.error) == (None, "too long")


def test_where_nobody_counts_tokens_they_are_guessed_from_characters() -> None:
    engine = ScriptedEngine(counts=False)
    list(ask(to_level(engine), [task(0.5, "Who?")]))
    # 50 characters at four a token are 12.5 tokens; half of them 6.25.
    assert [len(text) for text in DOCUMENTS] == [40, 10]
    assert engine.requests[0].max_new_tokens == 6


def test_a_folder_without_a_model_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        open_reader(f"onnx:{tmp_path}")
    with pytest.raises(ModelError):
        open_compressor(f"onnx:{tmp_path}")


def test_a_prompt_may_not_ask_for_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('id = "p"\nversion = 1\nuser = "{answers}"\n')
    options = CompressorOptions(prompt=str(path))
    with pytest.raises(OdqaError, match=r"nothing is filled in for \{answers\}"):
        open_compressor("onnx:none", options)

"""Covers: the extractive reader and its span search. Compared against: every span there is, and
the model's forward pass in plain numpy.

Run: pytest tests/engines/test_extractive.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tiny
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from oracles import transformers as oracle
from tokenizers import processors

from odqa_fast._kernels.spans import best_spans
from odqa_fast.engines import extractive
from odqa_fast.engines.base import Query, Reply
from odqa_fast.engines.context import NO_CONTEXT, Context
from odqa_fast.engines.extractive import ExtractiveReader
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.session import DeviceMemoryError
from odqa_fast.errors import ModelError, OdqaWarning
from odqa_fast.export import export
from odqa_fast.steps.readers import ReaderOptions, open_reader

Floats = npt.NDArray[np.float32]


def kernel(starts: Floats, ends: Floats, lo: int, hi: int, longest: int) -> tuple[int, int, float]:
    first, last, score = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
    ranges = (np.array([each], np.int64) for each in (lo, hi))
    best_spans(starts[None], ends[None], *ranges, longest, first, last, score)
    return int(first[0]), int(last[0]), float(score[0])


def every_span(
    starts: Floats, ends: Floats, lo: int, hi: int, longest: int
) -> tuple[int, int, float] | None:
    """The best span by looking at all; the first to start, then the shortest, among equals."""
    spans = [
        (float(starts[i]) + float(ends[j]), -i, -j)
        for i in range(lo, hi)
        for j in range(i, min(hi, i + longest))
    ]
    known = [span for span in spans if span[0] == span[0]]
    if not known:
        return None
    score, i, j = max(known)
    return -i, -j, score


LOGITS = st.floats(-4, 4, width=16) | st.sampled_from([float("nan"), float("-inf")])


@given(st.data())
def test_the_best_span_is_the_best_of_all(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    starts, ends = (
        np.array(data.draw(st.lists(LOGITS, min_size=n, max_size=n)), np.float32) for _ in "se"
    )
    lo = data.draw(st.integers(0, n))
    hi = data.draw(st.integers(lo, n))
    longest = data.draw(st.integers(1, 5))
    expected = every_span(starts, ends, lo, hi, longest)
    found = kernel(starts, ends, lo, hi, longest)
    assert (found[0] == -1) == (expected is None)
    assert expected is None or found == expected


def test_spans_by_hand() -> None:
    starts = np.array([0, 5, 1, 0], np.float32)
    ends = np.array([9, 0, 2, 3], np.float32)
    # The end before the start is no span; the longest allowed ends at 2.
    assert kernel(starts, ends, 1, 4, 2) == (1, 2, 7)
    assert kernel(starts, ends, 1, 4, 3) == (1, 3, 8)
    assert kernel(starts, ends, 0, 4, 1) == (0, 0, 9)
    assert kernel(starts, ends, 2, 2, 3)[0] == -1


@pytest.mark.parametrize(("lo", "hi"), [(-1, 2), (2, 1), (0, 5)])
def test_a_range_beyond_the_tokens_is_refused(lo: int, hi: int) -> None:
    with pytest.raises(ValueError, match="range"):
        kernel(np.zeros(4, np.float32), np.zeros(4, np.float32), lo, hi, 3)
    with pytest.raises(ValueError, match="one shape"):
        kernel(np.zeros(4, np.float32), np.zeros(3, np.float32), 0, 2, 3)


# The reader

CONFIG = tiny.bert_config(architectures=["BertForQuestionAnswering"])
WEIGHTS = {
    **tiny.bert_weights(CONFIG, "bert."),
    **tiny.linear_head("qa_outputs", 2, CONFIG["hidden_size"]),
}
#: Tokens of the tiny model's positions.
LIMIT = CONFIG["max_position_embeddings"]


def tokenizer() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer.from_str(tiny.tokenizer("bert"))
    made.post_processor = processors.TemplateProcessing(
        "<pad> $A </s>", "<pad> $A </s> $B:1 </s>:1", [("<pad>", 0), ("</s>", 1)]
    )
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("qa")
    hf = tiny.write(path / "hf", CONFIG, WEIGHTS)
    tokenizer().save(str(hf / "tokenizer.json"))
    export(hf, path / "model")
    return path / "model"


def logits(question: str, text: str) -> tuple[Floats, Any]:
    """The logits [S, 2] of a window, by plain numpy."""
    encoding = tokenizer().encode(question, text)
    hidden = oracle.bert(CONFIG, WEIGHTS, encoding.ids, encoding.type_ids, 3)
    w, b = (WEIGHTS[f"qa_outputs.{part}"] for part in ("weight", "bias"))
    return (hidden @ w.T + b).astype(np.float32), encoding


def answered(question: str, texts: list[str]) -> str:
    """The best span of all texts, each of which fits into one window."""
    best: list[tuple[float, str]] = []
    for text in texts:
        found, encoding = logits(question, text)
        places = [at for at, part in enumerate(encoding.sequence_ids) if part == 1]
        span = every_span(
            found[:, 0].copy(),
            found[:, 1].copy(),
            places[0],
            places[-1] + 1,
            extractive.LONGEST_ANSWER,
        )
        assert span is not None
        start, end, score = span
        best.append((score, text[encoding.offsets[start][0] : encoding.offsets[end][1]]))
    return max(best)[1]


QUESTIONS = ["Which river?", "In which year?", "Who?"]
TEXTS = tiny.CORPUS


def read(folder: Path, rows: list[tuple[str, list[str]]], timing: Any = "batch") -> list[Reply]:
    reader = ExtractiveReader(folder, EngineOptions(device="cpu", threads=1, timing=timing))
    asked = [
        reader.prepare(Query(question, Context("documents", tuple(("", text) for text in texts))))
        for question, texts in rows
    ]
    found = dict(reader.run([each.request for each in asked]))
    return [found[index] for index in range(len(rows))]


@pytest.mark.parametrize("timing", ["batch", "each"])
def test_the_answer_is_the_best_span_of_all_texts(folder: Path, timing: str) -> None:
    rows = [(question, texts) for question in QUESTIONS for texts in (TEXTS, TEXTS[:1], TEXTS[2:])]
    found = read(folder, rows, timing)
    expected = [answered(*row) for row in rows]
    assert [reply.text for reply in found] == expected
    assert len(set(expected)) > 3
    for reply, (question, texts) in zip(found, rows, strict=True):
        assert reply.finish == "stop"
        assert any(reply.text in text for text in texts)
        windows = [len(tokenizer().encode(question, text).ids) for text in texts]
        assert reply.tokens_in == sum(windows)
        assert reply.seconds > 0


def test_a_long_text_is_looked_at_in_windows(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(extractive, "STRIDE", 12)
    text = " ".join(TEXTS * 4)
    question = "Which river?"
    asked = len(tokenizer().encode(question, add_special_tokens=False).ids)
    tokens = tokenizer().encode(text, add_special_tokens=False)
    room = LIMIT - 3 - asked
    assert len(tokens.ids) > 3 * room
    best: list[tuple[float, str]] = []
    first = 0
    while True:
        last = min(first + room, len(tokens.ids)) - 1
        ids = tokens.ids[first : last + 1]
        whole = [0, *tokenizer().encode(question, add_special_tokens=False).ids, 1, *ids, 1]
        segments = [0] * (asked + 2) + [1] * (len(ids) + 1)
        hidden = oracle.bert(CONFIG, WEIGHTS, whole, segments, 3)
        found = hidden @ WEIGHTS["qa_outputs.weight"].T + WEIGHTS["qa_outputs.bias"]
        lo = asked + 2
        starts, ends = (found[:, side].astype(np.float32).copy() for side in (0, 1))
        span = every_span(starts, ends, lo, lo + len(ids), extractive.LONGEST_ANSWER)
        assert span is not None
        begin, end = (tokens.offsets[first + at - lo] for at in span[:2])
        best.append((span[2], text[begin[0] : end[1]]))
        if last == len(tokens.ids) - 1:
            break
        first += room - 12
    (reply,) = read(folder, [(question, [text])])
    assert reply.text == max(best)[1]
    assert reply.tokens_in > len(tokens.ids)


def test_too_little_memory_halves_the_batch_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(question, TEXTS) for question in QUESTIONS]
    expected = read(folder, rows)
    run = ExtractiveReader._logits
    tried: list[int] = []

    def logits(self: ExtractiveReader, batch: list[Any]) -> Any:
        tried.append(len(batch))
        if len(batch) > 4:
            raise DeviceMemoryError("the memory of the device does not suffice.")
        return run(self, batch)

    monkeypatch.setattr(ExtractiveReader, "_logits", logits)
    with pytest.warns(OdqaWarning, match="did not suffice for 12 windows at once") as notes:
        found = read(folder, rows)
    assert [reply.text for reply in found] == [reply.text for reply in expected]
    assert len(notes) == 3
    assert tried == [1, 12, 6, 3, 3, 6, 3, 3]  # 1: the warm-up


def test_offsets_are_of_characters(folder: Path) -> None:
    text = "Ὀδυσσεύς 🇳🇴 e\u0301 Łódź"
    (reply,) = read(folder, [("Who?", [text])])
    assert reply.text
    assert reply.text in text


def test_no_context_and_too_long_a_question_are_errors_of_their_rows(folder: Path) -> None:
    reader = ExtractiveReader(folder, EngineOptions(device="cpu", threads=1))
    rows = [
        reader.prepare(Query("Who?", NO_CONTEXT)),
        reader.prepare(Query("Who? " * 100, Context("summary", (("", TEXTS[0]),)))),
        reader.prepare(Query("Who?", Context("summary", (("", TEXTS[0]),)))),
    ]
    found = dict(reader.run([row.request for row in rows]))
    assert found[0].error.startswith("no context: ")
    assert found[1].error.startswith("too long: ")
    assert found[2].text


def test_the_task_of_a_model_makes_the_reader(folder: Path, tmp_path: Path) -> None:
    options = ReaderOptions(engine=EngineOptions(device="cpu"))
    reader = open_reader(f"onnx:{folder}", options)
    assert isinstance(reader, ExtractiveReader)
    assert reader.signature.endswith("|stride:128,longest:30")
    config = tiny.bert_config()
    export(tiny.write(tmp_path / "hf", config, tiny.bert_weights(config)), tmp_path / "bert")
    with pytest.raises(ModelError, match="is a model for token-embeddings"):
        open_reader(f"onnx:{tmp_path / 'bert'}", options)

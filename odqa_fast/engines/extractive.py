"""An extractive reader: the answer is a piece of the context.

A span's score is its start logit plus its end logit, and the best span of all windows of all texts
is the answer (BERT, arXiv 1810.04805, section 4.2). A text longer than the model is looked at in
windows that overlap.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from odqa_fast._kernels.spans import best_spans
from odqa_fast.engines.base import Prepared, Query, Reply
from odqa_fast.engines.card import load_card
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.session import DeviceMemoryError, open_runtime
from odqa_fast.engines.tokens import load_tokenizer
from odqa_fast.errors import OdqaWarning

#: As in BERT's own SQuAD code: tokens that two windows share, and the longest answer.
STRIDE, LONGEST_ANSWER = 128, 30

#: The options that it makes use of.
HONOURS = frozenset({"device", "threads", "timing"})

#: Tokens of windows that are run together.
_BATCH_TOKENS = {"cpu": 2048, "cuda": 32768}


@dataclass(frozen=True, slots=True)
class Extraction:
    """What is asked of an extractive reader."""

    question: str
    texts: tuple[str, ...]


@dataclass(slots=True)
class _Window:
    """Some tokens of a question and a text.

    Attributes:
        request: whose it is.
        lo, hi: the tokens of the text among its tokens.
        offsets: where each token stands in the text, in code points.
    """

    request: int
    text: str
    ids: list[int]
    type_ids: list[int]
    lo: int
    hi: int
    offsets: list[tuple[int, int]]


@dataclass(slots=True)
class _Progress:
    """What is known of one request so far."""

    windows: int
    tokens_in: int
    tokenize_seconds: float
    ready: float
    started: float = 0.0
    seconds: float = 0.0
    best: float = -np.inf
    answer: str | None = None
    tokens_out: int = 0


class ExtractiveReader:
    """Answers with spans; see `base.Reader`.

    Raises:
        OdqaError: an option is of no use to it.
        ModelError, EngineError: the model cannot be opened.
    """

    needs_question = True

    def __init__(self, folder: Path, options: EngineOptions | None = None) -> None:
        options = options or EngineOptions()
        options.require(HONOURS, f"the extractive reader {folder}")
        self.card = load_card(folder, "question-answering")
        self.runtime = open_runtime(options.device, options.threads)
        self._session = self.runtime.session(self.card.path(self.card.graphs["encoder"].file))
        self._tokenizer = load_tokenizer(self.card)
        self._one_by_one = options.timing == "each"
        self._budget = _BATCH_TOKENS[self.runtime.device]
        self._is_warm = False
        self.id = model = f"onnx:{self.card.id}"
        self.signature = "|".join(
            [
                f"{model}@{self.card.sha256[:8]}",
                self.card.dtype,
                self.runtime.signature,
                f"stride:{STRIDE},longest:{LONGEST_ANSWER}",
            ]
        )
        self.facts: dict[str, object] = {"model": model, **self.runtime.facts}

    def prepare(self, query: Query) -> Prepared:
        """See `base.Component`; nothing of a text is left out, for there are windows."""
        return Prepared(Extraction(query.question, tuple(query.context.plain())))

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, in the order in which they get done."""
        progress: dict[int, _Progress] = {}
        windows: list[_Window] = []
        for index, request in enumerate(requests):
            begun = perf_counter()
            found, error = self._windows(index, request)
            if error:
                yield index, Reply("", "error", error=error)
                continue
            now = perf_counter()
            tokens = sum(len(window.ids) for window in found)
            progress[index] = _Progress(len(found), tokens, now - begun, now)
            windows += found
        for batch in self._batches(windows):
            yield from self._run(batch, progress)

    def _windows(self, index: int, request: Extraction) -> tuple[list[_Window], str]:
        """The windows of a request, or why there are none."""
        self._tokenizer.no_truncation()
        question_ids = self._tokenizer.encode(request.question, add_special_tokens=False).ids
        special = self._tokenizer.num_special_tokens_to_add(is_pair=True)
        room = self.card.max_input - special - len(question_ids)
        if room <= 0:
            return [], (
                f"too long: the question has {len(question_ids):,} tokens; the model takes "
                f"{self.card.max_input:,} with its text."
            )
        self._tokenizer.enable_truncation(
            self.card.max_input, stride=min(STRIDE, room // 2), strategy="only_second"
        )
        windows = []
        for text in request.texts:
            first = self._tokenizer.encode(request.question, text)
            for encoding in [first, *first.overflowing]:
                of_text = [at for at, part in enumerate(encoding.sequence_ids) if part == 1]
                if of_text:
                    windows.append(
                        _Window(
                            index,
                            text,
                            encoding.ids,
                            encoding.type_ids,
                            of_text[0],
                            of_text[-1] + 1,
                            encoding.offsets,
                        )
                    )
        return windows, "" if windows else "no context: an extractive reader needs one."

    def _batches(self, windows: list[_Window]) -> Iterator[list[_Window]]:
        """Windows of about one length; under `each` those of one request, one by one."""
        if not self._one_by_one:
            windows = sorted(windows, key=lambda window: -len(window.ids))
        if windows and not self._is_warm:
            self._is_warm = True
            self._logits(windows[:1])
        while windows:
            rows = 1 if self._one_by_one else max(1, self._budget // len(windows[0].ids))
            yield windows[:rows]
            windows = windows[rows:]

    def _run(
        self, batch: list[_Window], progress: dict[int, _Progress]
    ) -> Iterator[tuple[int, Reply]]:
        begun = perf_counter()
        try:
            spans = self._spans(batch)
        except DeviceMemoryError:
            if len(batch) == 1:
                raise
            self._budget //= 2
            warnings.warn(
                f"the memory of the device did not suffice for {len(batch)} windows at once; "
                f"now {self._budget:,} tokens run together.",
                OdqaWarning,
                2,
            )
            half = len(batch) // 2
            yield from self._run(batch[:half], progress)
            yield from self._run(batch[half:], progress)
            return
        share = (perf_counter() - begun) / sum(len(window.ids) for window in batch)
        for window, (start, end, score) in zip(batch, spans, strict=True):
            state = progress[window.request]
            state.started = state.started or begun
            state.seconds += share * len(window.ids)
            state.windows -= 1
            if start >= 0 and score > state.best:
                state.best, state.tokens_out = score, end - start + 1
                state.answer = window.text[window.offsets[start][0] : window.offsets[end][1]]
            if not state.windows:
                yield window.request, _reply(state)

    def _spans(self, batch: list[_Window]) -> list[tuple[int, int, float]]:
        """The best span of each window: first and last token, and its score; see `best_spans`."""
        logits = self._logits(batch)
        n = len(batch)
        starts, ends, scores = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
        best_spans(
            np.ascontiguousarray(logits["start_logits"], np.float32),
            np.ascontiguousarray(logits["end_logits"], np.float32),
            np.array([window.lo for window in batch], np.int64),
            np.array([window.hi for window in batch], np.int64),
            LONGEST_ANSWER,
            starts,
            ends,
            scores,
        )
        return list(zip(starts.tolist(), ends.tolist(), scores.tolist(), strict=True))

    def _logits(self, batch: list[_Window]) -> dict[str, Any]:
        longest = max(len(window.ids) for window in batch)
        inputs = {
            "input_ids": np.full((len(batch), longest), self.card.pad_id, np.int64),
            "attention_mask": np.zeros((len(batch), longest), np.int64),
            "token_type_ids": np.zeros((len(batch), longest), np.int64),
        }
        for row, window in enumerate(batch):
            n = len(window.ids)
            inputs["input_ids"][row, :n] = window.ids
            inputs["attention_mask"][row, :n] = 1
            inputs["token_type_ids"][row, :n] = window.type_ids
        known = {name: array for name, array in inputs.items() if name in self._session.inputs}
        return self._session.run(known)

    def close(self) -> None:
        """Let go of the model."""
        del self._session


def _reply(state: _Progress) -> Reply:
    error = "" if state.answer is not None else "not a number: the model's logits are none."
    return Reply(
        text=state.answer or "",
        finish="error" if error else "stop",
        tokens_in=state.tokens_in,
        tokens_out=state.tokens_out,
        seconds=state.seconds,
        error=error,
        tokenize_seconds=state.tokenize_seconds,
        queue_seconds=state.started - state.ready,
    )

"""What BERTScore makes of pairs of texts and an encoder, as bert-score 0.3.13 does.

[CLS] and [SEP] are matched with like any token and weigh nothing in the means; a text without any
other token scores 0. A value depends on its pair alone. (In bert-score a pair is padded to the
longest of its batch and a token matches the padding with 0 where all its cosines are negative. Any
text but a batch's longest is padded, so here no token's best is below 0.)
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from odqa_fast._kernels.bertscore import match

if TYPE_CHECKING:
    from odqa_fast.engines.base import Encoder
    from odqa_fast.engines.session import Device

Ids = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
#: Precision, recall and F of each pair.
Scores = npt.NDArray[np.float64]

#: Token vectors that one step holds, and that are kept for texts that come again.
STEP_BYTES = 64 << 20
CACHE_BYTES = 256 << 20


@dataclass(frozen=True)
class Idf:
    """What each token counts: log((N + 1) / (df + 1)) over N reference texts, df of which have it
    (Zhang et al. 2020, section 3; bert-score adds one to both)."""

    documents: int | None
    weights: Mapping[int, float]

    @property
    def signature(self) -> str:
        """Over how many texts, and which."""
        told = json.dumps(sorted(self.weights.items())).encode()
        return f"{self.documents}@{hashlib.sha256(told).hexdigest()[:8]}"

    @classmethod
    def of(cls, texts: Iterable[Ids]) -> Idf:
        """The weights over tokenized reference texts; each text counts, repeated ones too."""
        documents, found = 0, Counter[int]()
        for ids in texts:
            documents += 1
            found.update(set(ids.tolist()))
        weights = {token: math.log((documents + 1) / (df + 1)) for token, df in found.items()}
        return cls(documents, weights)

    def __getitem__(self, token: int) -> float:
        """The weight of a token; one that no text has weighs most, or nothing where it is not known
        how many texts there were."""
        unseen = 0.0 if self.documents is None else math.log(self.documents + 1)
        return self.weights.get(token, unseen)


@dataclass
class Seen:
    """What was odd about the texts of some pairs.

    Attributes:
        cut: those that are longer than the encoder takes.
        bare: those without any token but special ones.
    """

    cut: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)


class Matcher:
    """Scores pairs with one encoder; threads may share it.

    A text that comes again, within a run or in the next one over the same references, is found in
    a cache of `cache_bytes`: what this run put there stays, what only earlier runs used may go.
    """

    def __init__(
        self, encoder: Encoder, step_bytes: int = STEP_BYTES, cache_bytes: int = CACHE_BYTES
    ) -> None:
        self.encoder = encoder
        self._step_tokens = max(1, step_bytes // (4 * encoder.dimension))
        self._free = cache_bytes
        self._kept: OrderedDict[str, tuple[Vectors, int]] = OrderedDict()
        self._run = 0
        self._lock = threading.Lock()

    def start_run(self) -> None:
        """From here on what earlier runs kept makes way when room is needed."""
        self._run += 1

    def idf(self, references: Iterable[str]) -> Idf:
        """The weights over reference texts, taken in turn."""

        def tokenized() -> Iterator[Ids]:
            rest = iter(references)
            while texts := list(islice(rest, 1024)):
                yield from self._tokens(texts)[0]

        return Idf.of(tokenized())

    def scores(
        self,
        hypotheses: Sequence[str],
        references: Sequence[str],
        idf: Idf | None,
        seen: Seen,
    ) -> Scores:
        """Precision, recall and F of each hypothesis against its reference.

        Args:
            hypotheses: n texts.
            references: n texts.
            idf: the tokens' weights; None weighs them alike.
            seen: grows.

        Returns:
            An array of n rows; NaN for the precision or recall of a text whose tokens all weigh 0.
        """
        out = np.empty((len(hypotheses), 3))
        for lo, hi, texts in self._steps(hypotheses, references, seen):
            special = self.encoder.special_ids
            seen.bare.update(text for text, ids in texts.items() if special.issuperset(ids))
            self._score(texts, hypotheses[lo:hi], references[lo:hi], idf, out[lo:hi])
        return out

    def _steps(
        self, hypotheses: Sequence[str], references: Sequence[str], seen: Seen
    ) -> Iterator[tuple[int, int, dict[str, Ids]]]:
        """Runs of pairs [lo, hi) whose distinct texts, with their tokens, fit in a step."""
        lo, tokens = 0, 0
        texts: dict[str, Ids] = {}
        # Few enough pairs at a time that a step never holds much more than it should.
        some = max(1, self._step_tokens // (2 * 512))
        for at in range(0, len(hypotheses), some):
            pairs = (hypotheses[at : at + some], references[at : at + some])
            new = [text for text in dict.fromkeys([*pairs[0], *pairs[1]]) if text not in texts]
            ids, were_cut = self._tokens(new)
            seen.cut.update(text for text, was in zip(new, were_cut, strict=True) if was)
            tokens += sum(map(len, ids))
            texts.update(zip(new, ids, strict=True))
            if tokens >= self._step_tokens:
                yield lo, min(at + some, len(hypotheses)), texts
                lo, tokens, texts = at + some, 0, {}
        if lo < len(hypotheses):
            yield lo, len(hypotheses), texts

    def _tokens(self, texts: list[str]) -> tuple[list[Ids], list[bool]]:
        return self.encoder.tokenize([text.strip() for text in texts])

    def _score(
        self,
        texts: dict[str, Ids],
        hypotheses: Sequence[str],
        references: Sequence[str],
        idf: Idf | None,
        out: Scores,
    ) -> None:
        sizes = np.array([len(ids) for ids in texts.values()], np.int64)
        edges = np.concatenate([[0], np.cumsum(sizes)])
        vectors = self._vectors(texts, edges)
        number = {text: at for at, text in enumerate(texts)}
        hyps = np.array([number[text] for text in hypotheses], np.int64)
        refs = np.array([number[text] for text in references], np.int64)
        tokens = np.concatenate(list(texts.values()))
        match(vectors, self._weights(tokens, idf), edges, hyps, refs, out[:, :2], floor=0)
        bare = len(self.encoder.special_ids)
        finish(out, (sizes[hyps] <= bare) | (sizes[refs] <= bare))

    def _weights(self, tokens: Ids, idf: Idf | None) -> Vectors:
        if idf is None:
            return (~np.isin(tokens, list(self.encoder.special_ids))).astype(np.float32)
        distinct, where = np.unique(tokens, return_inverse=True)
        return np.array([idf[token] for token in distinct.tolist()], np.float32)[where]

    def _vectors(self, texts: dict[str, Ids], edges: Ids) -> Vectors:
        vectors = np.empty((int(edges[-1]), self.encoder.dimension), np.float32)
        spans = {text: slice(edges[at], edges[at + 1]) for at, text in enumerate(texts)}
        missing = []
        with self._lock:
            for text, span in spans.items():
                if text in self._kept:
                    kept, _ = self._kept.pop(text)
                    vectors[span] = kept
                    self._kept[text] = kept, self._run
                else:
                    missing.append(text)
            if missing:
                new = np.empty(
                    (sum(len(texts[text]) for text in missing), vectors.shape[1]), np.float32
                )
                self.encoder.embed([texts[text] for text in missing], new)
                at = 0
                for text in missing:
                    part = new[at : at + len(texts[text])]
                    at += len(part)
                    vectors[spans[text]] = part
                    self._keep(text, part)
        return vectors

    def _keep(self, text: str, vectors: Vectors) -> None:
        while self._free < vectors.nbytes and self._kept:
            oldest, (gone, run) = next(iter(self._kept.items()))
            if run == self._run:
                return
            del self._kept[oldest]
            self._free += gone.nbytes
        if vectors.nbytes <= self._free:
            self._free -= vectors.nbytes
            self._kept[text] = vectors.copy(), self._run


@cache
def _matcher(folder: str, device: Device) -> Matcher:
    from odqa_fast.engines.encoder import open_encoder

    return Matcher(open_encoder(folder, device))


def shared_matcher(folder: str, device: Device) -> Matcher:
    """The matcher of a model; later runs of this process find its cache filled."""
    matcher = _matcher(folder, device)
    matcher.start_run()
    return matcher


def finish(scores: Scores, bare: npt.NDArray[np.bool_]) -> None:
    """Adds F to precision and recall, in place: 2PR / (P + R), 0 where that is not defined.

    Pairs with a `bare` side, a text without a token of its own, have precision and recall 0. Their
    F stays what the formula gives: with weights on the special tokens it need not be 0.
    """
    p, r = scores[:, 0], scores[:, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        f = 2 * p * r / (p + r)
    scores[:, 2] = np.where(np.isnan(f), 0, f)
    scores[bare, :2] = 0


def rescaled(scores: Scores, baseline: Sequence[float]) -> Scores:
    """(x - b) / (1 - b) for precision, recall and F with a baseline each; may be negative."""
    b = np.asarray(baseline, np.float64)
    return np.asarray((scores - b) / (1 - b))

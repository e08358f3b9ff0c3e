"""Encoders: texts to token vectors, for BERTScore."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast._kernels.bertscore import normalize
from odqa_fast.engines.card import ModelCard, load_card
from odqa_fast.engines.session import Device, Runtime, open_runtime
from odqa_fast.engines.tokens import load_tokenizer
from odqa_fast.errors import EngineError, ModelError

Ids = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

#: Tokens of one batch, padding included. On a CPU a small batch stays in its cache.
BATCH_TOKENS = {"cpu": 1024, "cuda": 1 << 15}


class OnnxEncoder:
    """An exported encoder.

    Attributes:
        signature: the model, its layer, its numbers' type, where it runs.
        dimension: of a token's vector.
        layer: after which the vectors are taken.
        max_tokens: of a text, special ones included; the rest is cut.
        special_ids: of the tokens that start and end a text.
    """

    def __init__(self, card: ModelCard, runtime: Runtime) -> None:
        if card.layer is None:
            raise ModelError("names no layer.", where=str(card.folder), hint="Export it again.")
        self._session = runtime.session(card.path(card.graphs["encoder"].file))
        self._tokenizer = load_tokenizer(card)
        self.max_tokens = card.max_input
        self._tokenizer.enable_truncation(self.max_tokens)
        self._pad = card.pad_id
        # To bytes a word has a space in front (RoBERTa); bert-score gives the first one its space.
        by_bytes = type(self._tokenizer.pre_tokenizer).__name__ == "ByteLevel"
        self._prefix = " " if by_bytes else ""
        self._batch_tokens = BATCH_TOKENS[runtime.device]
        self.layer = card.layer
        self.signature = (
            f"{card.id}@{card.sha256[:8]},layer-{card.layer},{card.dtype},{runtime.device}"
        )
        self.special_ids = frozenset(self._tokenizer.encode("").ids)
        self.dimension = self._run([np.array([card.pad_id])]).shape[2]

    def tokenize(self, texts: Sequence[str]) -> tuple[list[Ids], list[bool]]:
        """The token ids of each text with the special ones, and whether the text was cut."""
        whole = [self._prefix + text if text else text for text in texts]
        found = self._tokenizer.encode_batch_fast(whole)
        return [np.array(each.ids, np.int64) for each in found], [
            bool(e.overflowing) for e in found
        ]

    def embed(self, ids: Sequence[Ids], vectors: Vectors) -> None:
        """Writes the vectors of all tokens, text after text, each of length 1.

        Raises:
            EngineError: a vector is not a number.
        """
        ends = np.cumsum([len(each) for each in ids])
        # The longest first: what memory is needed is needed at once.
        order = sorted((k for k in range(len(ids)) if len(ids[k])), key=lambda k: -len(ids[k]))
        while order:
            rows = max(1, self._batch_tokens // len(ids[order[0]]))
            batch, order = order[:rows], order[rows:]
            found = self._run([ids[k] for k in batch])
            for row, k in enumerate(batch):
                vectors[ends[k] - len(ids[k]) : ends[k]] = found[row, : len(ids[k])]
        if not np.isfinite(vectors).all():
            raise EngineError(
                "the encoder gave vectors that are no numbers.",
                hint="If it is an fp16 export, export it with --dtype fp32.",
            )
        normalize(vectors)

    def _run(self, ids: Sequence[Ids]) -> npt.NDArray[Any]:
        shape = (len(ids), max(map(len, ids)))
        tokens, mask = np.full(shape, self._pad, np.int64), np.zeros(shape, np.int64)
        for row, each in enumerate(ids):
            tokens[row, : len(each)], mask[row, : len(each)] = each, 1
        return self._session.run({"input_ids": tokens, "attention_mask": mask})["embeddings"]


def open_encoder(folder: str, device: Device = "auto") -> OnnxEncoder:
    """The encoder of a model folder.

    Raises:
        ModelError: it is none, or its files are not those of its card.
        EngineError: a library is missing, or the device.
    """
    card = load_card(Path(folder), "token-embeddings")
    return OnnxEncoder(card, open_runtime(device))

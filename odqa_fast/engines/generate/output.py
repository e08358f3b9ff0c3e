"""What one run of a decoder gives: a next token for each row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.generate.decoding import NOT_A_NUMBER, Decoding
from odqa_fast.engines.session import Value

Floats = npt.NDArray[np.float32]


class Output:
    """The next token of each row, and the logits it came from, which are fetched only if needed.

    Args:
        values: `next_token` [B] where the graph has it, `logits` [B, V] or [B, S, V].
        last: of logits of all positions: where each row's last token stands.
    """

    def __init__(self, values: Mapping[str, Value], last: npt.NDArray[np.int64]) -> None:
        self._values = values
        self._last = last
        self._logits: Floats | None = None

    def logits(self) -> Floats:
        """[B, V], as float32."""
        if self._logits is None:
            logits = self._values["logits"].numpy()
            if logits.ndim == 3:
                logits = logits[np.arange(len(logits)), self._last]
            self._logits = logits.astype(np.float32, copy=False)
        return self._logits

    def tokens(self) -> npt.NDArray[np.int64]:
        """The likeliest token of each row [B]."""
        if "next_token" in self._values:
            return self._values["next_token"].numpy()
        tokens: npt.NDArray[np.int64] = self.logits().argmax(axis=-1)
        return tokens

    def give(self, decodings: Mapping[int, Decoding]) -> list[int]:
        """Take each decoding on by one token; the rows of those that are done now.

        Args:
            decodings: by row.
        """
        tokens = self.tokens()
        done = []
        for row, decoding in decodings.items():
            if decoding.take(
                int(tokens[row]), self.logits()[row] if decoding.wants_logits else None
            ):
                done.append(row)
                # What is no number stays so in the cache: to look at the end is to look always.
                if np.isnan(self.logits()[row]).any():
                    decoding.fail(NOT_A_NUMBER)
        return done

"""The next token: the likeliest one, or one drawn with a seed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.tokens import Ids
from odqa_fast.errors import OdqaError


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen.

    Args:
        temperature: logits are divided by it; at 0 the likeliest token is taken.
        top_p: only the likeliest tokens that together have this probability can be drawn.
        seed: of the draws. A prompt's draws depend on it and on the prompt alone, so that neither
            batch nor order changes them.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not (self.temperature >= 0 and 0 < self.top_p <= 1):
            raise OdqaError("the temperature has to be 0 or more, and top-p above 0 and at most 1.")

    def __str__(self) -> str:
        if not self.temperature:
            return "greedy"
        return f"temperature:{self.temperature:g},top_p:{self.top_p:g},seed:{self.seed}"

    def draws(self, ids: Ids) -> Draws | None:
        """The draws for a prompt; None where there is nothing to draw."""
        return Draws(self, ids) if self.temperature else None


class Draws:
    """A prompt's tokens, drawn one by one."""

    def __init__(self, sampling: Sampling, ids: Ids) -> None:
        digest = hashlib.sha256(f"{sampling.seed}:".encode() + ids.tobytes()).digest()
        self._random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))
        self._sampling = sampling

    def next(self, logits: npt.NDArray[np.float32]) -> int:
        """Draw a token.

        Args:
            logits: [vocabulary].
        """
        scaled = logits.astype(np.float64) / self._sampling.temperature
        # Stable, so that equal logits keep the order of their tokens.
        order = np.argsort(-scaled, kind="stable")
        weights = np.exp(scaled[order] - scaled[order[0]])
        total = np.cumsum(weights)
        # The first token that reaches top_p is the last that can be drawn.
        last = int(np.searchsorted(total[:-1], self._sampling.top_p * total[-1]))
        drawn = self._random.random() * total[last]
        return int(order[np.searchsorted(total[:last], drawn, side="right")])

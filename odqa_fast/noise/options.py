"""`NoiseOptions`: what noise to add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from odqa_fast.errors import OdqaError
from odqa_fast.option import Option, Options, as_share
from odqa_fast.profiles import DEFAULT_PROFILE
from odqa_fast.scoring.job import ProfileName

Kind = Literal["sentences", "documents", "factual"]


@dataclass(frozen=True, kw_only=True)
class NoiseOptions(Options):
    """What noise to add.

    Raises:
        OdqaError: an option out of its range, or one that this kind does not have.
    """

    kind: Annotated[
        Kind,
        Option(
            "Irrelevant sentences at sentence borders; irrelevant documents among the retrieved "
            "ones; wrong answers in documents that hold one (of texts with one question)."
        ),
    ] = "sentences"
    count: Annotated[
        int | None, Option("Pieces a text; 1 by default. Not for factual.", unit="pieces", low=1)
    ] = None
    share: Annotated[
        float | None,
        Option(
            "Pieces until they have this share of the text's characters: 0.2 or 20%.",
            above=0,
            read=as_share,
            metavar="SHARE",
        ),
    ] = None
    swap: Annotated[bool, Option("Documents take the place of others that hold no answer.")] = False
    top_k: Annotated[
        int | None, Option("Documents go among the first so many; anywhere.", low=1)
    ] = None
    rare: Annotated[
        float,
        Option(
            "A piece shares no word with the questions that at most this share of all pieces has "
            "(or one piece); 0 lets it.",
            low=0,
            high=1,
        ),
    ] = 0.01
    seed: Annotated[int | None, Option("Another seed is other noise; 0 by default.", low=0)] = None
    profile: ProfileName = DEFAULT_PROFILE

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        if self.count is not None and self.share is not None:
            raise OdqaError("a count and a share of noise exclude each other.")
        if self.kind == "factual" and (self.count is not None or self.share is not None):
            raise OdqaError(
                "factual noise takes no count or share: of N documents with an answer each "
                "becomes wrong with probability 1/(N + 1)."
            )
        if self.kind != "documents" and (self.swap or self.top_k is not None):
            raise OdqaError(f"--swap and --top-k are for documents, not for {self.kind}.")

    @property
    def tag(self) -> str:
        """What makes it this noise, for signatures."""
        amount = f"share={self.share:g}" if self.share else f"count={self.count or 1}"
        parts = [self.kind, *([] if self.kind == "factual" else [amount, f"rare={self.rare:g}"])]
        parts += ["swap"] * self.swap + ([] if self.top_k is None else [f"top_k={self.top_k}"])
        return ",".join([*parts, f"seed={self.seed or 0}"])

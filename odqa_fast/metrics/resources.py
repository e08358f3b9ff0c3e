"""What some metrics need beside the data: models, tokenizers, times."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.errors import OdqaError

if TYPE_CHECKING:
    from odqa_fast.engines.session import Device


@dataclass(frozen=True)
class Resources:
    """What some metrics need beside the data.

    Attributes:
        bertscore_model: folder of an exported encoder.
        bertscore_idf: the reference texts that `bertscore:idf` counts tokens in.
        bertscore_baseline: precision, recall and F that `bertscore:rescaled` calls 0.
        regex_seconds: how long an answer that is a regular expression may look at one text before
            it is given up for the run, counted and named.
        tokenizer: the `tokenizer.json` that `cr:tokens` counts with.
        device: where models run: auto, cuda or cpu.

    Raises:
        OdqaError: a time that is none.
    """

    bertscore_model: str | None = None
    bertscore_idf: Iterable[str] | None = None
    bertscore_baseline: tuple[float, float, float] | None = None
    regex_seconds: float = 1.0
    tokenizer: str | None = None
    device: Device = "auto"

    def __post_init__(self) -> None:
        if not 0 < self.regex_seconds < math.inf:
            raise OdqaError(f"regex_seconds must be a number above 0, not {self.regex_seconds}.")

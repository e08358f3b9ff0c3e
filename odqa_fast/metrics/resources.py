"""What some metrics need beside the data: models, tokenizers, times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from odqa_fast.errors import OdqaError
from odqa_fast.option import Option, Options


def _as_baseline(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise OdqaError(
            f"--bertscore-baseline {text!r} is not three numbers.", hint="E.g. 0.83,0.83,0.83"
        ) from None


@dataclass(frozen=True, kw_only=True)
class Resources(Options):
    """What some metrics need beside the data.

    Attributes:
        bertscore_idf: an iterable of the reference texts that `bertscore:idf` counts tokens in.

    Raises:
        OdqaError: a value is none.
    """

    regex_seconds: Annotated[
        float,
        Option(
            "How long an answer that is a regular expression may look at one text.",
            unit="seconds",
            above=0,
        ),
    ] = 1.0
    bertscore_model: Annotated[
        str | None, Option("Folder of an encoder; see 'odqa-fast models'.")
    ] = None
    bertscore_baseline: Annotated[
        tuple[float, float, float] | None,
        Option(
            "What bertscore:rescaled calls 0: P,R,F, e.g. 0.83,0.83,0.83.",
            read=_as_baseline,
            metavar="P,R,F",
        ),
    ] = None
    tokenizer: Annotated[str | None, Option("The tokenizer.json that cr:tokens counts with.")] = (
        None
    )
    device: Annotated[
        Literal["auto", "cuda", "cpu"],
        Option("Where models run; auto is cuda where it works, else cpu, and says so."),
    ] = "auto"
    bertscore_idf: Any = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        if not all(value < 1 for value in self.bertscore_baseline or ()):
            raise OdqaError("--bertscore-baseline has to be below 1.")

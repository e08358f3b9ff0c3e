"""`LevelsOptions`: the levels, when a text passes one, and how its answers are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from odqa_fast.levels.weights import DEFAULT_LEVELS
from odqa_fast.option import Option, Options
from odqa_fast.profiles import DEFAULT_PROFILE
from odqa_fast.scoring.job import ProfileName
from odqa_fast.shares import parse_levels

#: What S(b) is the mean of.
Weight = Literal["texts", "questions"]


@dataclass(frozen=True, kw_only=True)
class LevelsOptions(Options):
    """How compressed texts are checked and scored.

    Raises:
        OdqaError: no level, or one that is none; see `odqa_fast.shares.parse_levels`.
    """

    levels: Annotated[
        str | Sequence[str | float],
        Option(
            "Largest ratios of compressed to original: fractions, or percent; 0.2,0.4,0.6 by "
            "default.",
            commas=True,
            metavar="LEVELS",
        ),
    ] = DEFAULT_LEVELS
    metric: Annotated[str, Option("Of an answer; see 'odqa-fast metrics'.")] = "f1"
    profile: ProfileName = DEFAULT_PROFILE
    weight: Annotated[
        Weight,
        Option("A level's score: mean over texts of a text's mean, or over questions."),
    ] = "texts"
    blind: Annotated[bool, Option("The compressor does not see the questions.")] = False
    unit: Annotated[
        Literal["chars", "words", "tokens"] | None,
        Option("What lengths are counted in; chars, with --preset soma tokens."),
    ] = None
    tokenizer: Annotated[
        str | None, Option("With --unit tokens: the tokenizer.json to count with.")
    ] = None
    preset: Annotated[
        Literal["soma"] | None,
        Option(
            "soma: count tokens, and fail a text whose tokens have more than 1.8 times the "
            "characters of the original's."
        ),
    ] = None
    enforce: Annotated[
        Literal["truncate"] | None,
        Option("truncate: cut what is too long behind the last sentence that fits."),
    ] = None
    clean: Annotated[
        bool | None,
        Option("With noise: run on the clean texts as well; by default."),
    ] = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        _ = self.ratios

    @property
    def ratios(self) -> list[float]:
        """The levels as fractions, in the order given."""
        return parse_levels([str(level) for level in self.levels])

"""The row function of every metric that holds one text against the gold answers of its row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from odqa_fast.errors import ProfileError
from odqa_fast.metrics.spec import Work
from odqa_fast.profiles import Profile, check_kernels, get_steps

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast._kernels.match import MatchRule
    from odqa_fast.metrics.spec import Outputs

TextColumn = Literal["prediction", "summary"]

# Counts of a kernel that are about the text are named after the column.
_COUNT_NAMES = {
    "prediction": {"null_texts": "null_predictions", "empty_texts": "empty_predictions"},
    "summary": {"null_texts": "null_summaries", "empty_texts": "empty_summaries"},
}


@dataclass(frozen=True)
class MatchSettings:
    """The rules of one kernel call; see the tables in profiles.py."""

    text: TextColumn
    steps: tuple[str, ...]
    cut: str
    pair_rule: str
    combine: str
    no_gold: str
    contains_rule: str
    empty_needle: bool
    #: By which steps an answer or a text is counted as empty.
    emptiness: tuple[str, ...]
    blank_is_nothing: bool = False


def match_rule(settings: MatchSettings) -> MatchRule:
    """The settings as the kernels take them.

    Raises:
        ProfileError: steps that make no normalizer, or a rule that there is not.
    """
    from odqa_fast._kernels.match import MatchRule

    check_kernels()
    try:
        return MatchRule(
            settings.steps,
            settings.cut,
            settings.pair_rule,
            settings.combine,
            settings.no_gold,
            settings.contains_rule,
            settings.empty_needle,
            settings.emptiness,
            settings.blank_is_nothing,
        )
    except ValueError as why:
        raise ProfileError(
            f"the rules of the profile cannot be followed: {why}.",
            hint="See STEPS and the tables below it in odqa_fast/profiles.py.",
        ) from why


def match_rows(
    settings: MatchSettings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    """Scores the rows [lo, hi) into `outputs`; returns the counts by name."""
    from odqa_fast._kernels.match import match

    rule = match_rule(settings)
    counts = match(columns[settings.text], columns["answers"], rule, lo, hi, dict(outputs))
    return named_after(settings.text, counts)


def named_after(text: TextColumn, counts: Mapping[str, int]) -> Mapping[str, int]:
    """A kernel's counts, those of the text named after its column."""
    names = _COUNT_NAMES[text]
    return {names.get(name, name): n for name, n in counts.items()}


def match_work(
    output: str,
    profile: Profile,
    *,
    text: TextColumn = "prediction",
    normalizer: str | None = None,
    no_gold: str | None = None,
) -> Work:
    """The work for one output under a profile; the arguments override single rules of it.

    Outputs of one profile that can share a normalized text get equal settings, hence one call.
    """
    settings = match_settings(output, profile, text=text, normalizer=normalizer, no_gold=no_gold)
    return Work(match_rows, (text, "answers"), settings, output)


def match_settings(
    output: str,
    profile: Profile,
    *,
    text: TextColumn = "prediction",
    normalizer: str | None = None,
    no_gold: str | None = None,
) -> MatchSettings:
    """The rules of that work; arguments as there."""
    contains_rule = profile.contains_rule
    if normalizer is not None:
        contains_rule = "normalized"
    elif contains_rule in ("raw", "popqa"):
        if output == "contains":
            normalizer = "raw"
        if output != "contains" or contains_rule == "raw":
            contains_rule = "normalized"
    return MatchSettings(
        text=text,
        steps=get_steps(normalizer) if normalizer else profile.steps,
        cut=profile.cut if text == "prediction" else "none",
        pair_rule=profile.pair_rule,
        combine=profile.combine,
        no_gold=no_gold or profile.no_gold,
        contains_rule=contains_rule,
        empty_needle=profile.empty_needle,
        emptiness=profile.steps,
        blank_is_nothing=profile.blank_is_nothing,
    )


def answer_tags(metric: str, profile: Profile, *, golds: str = "max") -> dict[str, str]:
    """The rules of a profile that can change a metric, for its signature."""
    tags = {"golds": golds, "empty": profile.pair_rule, "null": "zero"}
    if metric not in profile.defines:
        # The profile's reference has no such metric: SQuAD's rule on the profile's normalizer.
        tags["rule"] = "squad-v1.1"
    return tags


def needle_tag(profile: Profile) -> str:
    """Whether an answer of nothing stands inside every text."""
    return "hit" if profile.empty_needle else "miss"

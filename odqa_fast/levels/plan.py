"""What a run over levels checks and scores by, made of its options before any text is read."""

from __future__ import annotations

from dataclasses import dataclass

from odqa_fast.errors import MetricError
from odqa_fast.levels.options import LevelsOptions
from odqa_fast.levels.ratio import SOMA_GROWTH, RatioRule
from odqa_fast.metrics import all_specs
from odqa_fast.metrics.request import parse_request
from odqa_fast.metrics.resources import Resources
from odqa_fast.profiles import Profile, get_profile
from odqa_fast.texts.length import make_length

_METRICS = "E.g. f1 or em."


@dataclass(frozen=True)
class Plan:
    """How to check and score.

    Attributes:
        options: what was asked for.
        levels: the largest ratios of compressed to original, each 0 < b <= 1.
        rule: when a compressed text passes.
        profile: which reference scorer the metric equals.
    """

    options: LevelsOptions
    levels: tuple[float, ...]
    rule: RatioRule
    profile: Profile


def make_plan(options: LevelsOptions) -> Plan:
    """Opens what options name.

    Raises:
        MetricError, ProfileError: there is no such metric or profile, or the metric is not of a
            prediction and answers alone.
        OdqaError: the unit needs a tokenizer, or has no use for one.
        EngineError, ModelError: the tokenizer cannot be opened.
    """
    profile = get_profile(options.profile)
    request = parse_request(options.metric, all_specs(), profile)
    if request.spec.inputs != ("prediction", "answers"):
        raise MetricError(
            f"{options.metric!r} is no metric of a prediction and answers.", hint=_METRICS
        )
    try:
        request.spec.work(request.option, request.profile).opened(Resources())
    except MetricError as error:
        raise MetricError(f"levels cannot score by it: {error.what}", hint=_METRICS) from None
    unit = options.unit or ("tokens" if options.preset else "chars")
    rule = RatioRule(
        make_length(unit, options.tokenizer),
        max_growth=SOMA_GROWTH if options.preset else None,
        truncate=options.enforce is not None,
    )
    return Plan(options, tuple(options.ratios), rule, profile)

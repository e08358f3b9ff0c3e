"""A metric as a user asks for it: `id[:option]*`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from odqa_fast.errors import MetricError
from odqa_fast.metrics.spec import MetricSpec
from odqa_fast.plugins import unknown
from odqa_fast.profiles import PROFILES, Profile, get_profile


@dataclass(frozen=True)
class Request:
    """A metric as it was asked for, e.g. `par:token` or `f1:triviaqa`."""

    asked: str
    spec: MetricSpec
    option: str
    profile: Profile

    @property
    def name(self) -> str:
        """The metric with the options that are not the default, without a profile."""
        words = [word for word in self.option.split(":") if word != self.spec.default_option]
        return ":".join([self.spec.id, *words])


def parse_request(asked: str, specs: Mapping[str, MetricSpec], profile: Profile) -> Request:
    """Reads `id[:option]*`, where an option is one of the metric's own or a profile.

    An id may itself have a colon (`mrr:ids`) or end in a cut-off (`hit@5`).

    Raises:
        MetricError: no such metric or option, or two of a kind.
    """
    metric, *words = asked.split(":")
    spec = find_spec(metric, specs)
    if words and (longer := find_spec(f"{metric}:{words[0]}", specs)):
        metric, spec, words = f"{metric}:{words[0]}", longer, words[1:]
    if spec is None:
        what, hint = unknown("metric", metric, specs, "List all: odqa-fast metrics")
        family = f"{metric.partition('@')[0]}@k"
        if family in specs:
            cut = f"{metric.partition('@')[0]}@5"
            hint = f"In {family}, k is a number from 1 to 999999999: {cut}."
        raise MetricError(what, hint=_cut_first(asked, specs, profile) or hint)
    known = spec.all_options
    groups = (spec.options, *spec.more_options)
    chosen: dict[int, str] = {0: spec.default_option}
    taken: set[int] = set()
    own_profile: Profile | None = None
    for word in words:
        group = next((at for at, each in enumerate(groups) if word in each), None)
        if group is not None and group not in taken:
            chosen[group] = word
            taken.add(group)
        elif word in PROFILES and own_profile is None and spec.uses_profile:
            own_profile = get_profile(word)
        elif group is not None or word in PROFILES:
            raise MetricError(f"{asked!r} has an option too many: {word!r}.")
        else:
            what, hint = unknown(
                f"option of {metric}",
                word,
                [*known, *(PROFILES if spec.uses_profile else ())],
                f"Options of {metric}: {', '.join(known) or 'none'}"
                + ("; or a profile." if spec.uses_profile else "."),
            )
            raise MetricError(what, hint=_cut_first(asked, specs, profile) or hint)
    option = ":".join(chosen[at] for at in sorted(chosen))
    return Request(asked, spec, option, own_profile or profile)


def _cut_first(asked: str, specs: Mapping[str, MetricSpec], profile: Profile) -> str:
    """What would work where a cut-off stands behind the options (`mrr:ids@10`), as elsewhere."""
    metric, colon, options = asked.partition(":")
    options, at, cut = options.rpartition("@")
    meant = f"{metric}@{cut}:{options}"
    if colon and at and "@" not in metric + options:
        with suppress(MetricError):
            parse_request(meant, specs, profile)
            return f"The cut-off stands before the options: {meant}."
    return ""


_CUT = re.compile(r"@([1-9][0-9]{0,8})(?=:|$)")


def find_spec(metric: str, specs: Mapping[str, MetricSpec]) -> MetricSpec | None:
    """The metric of that id, where `@5` is the `@k` of the list; the same object each time."""
    if metric in specs:
        spec = specs[metric]
        # `hit@k` itself is the name of a family.
        return None if spec.at is not None else spec
    cut = _CUT.search(metric)
    family = specs.get(_CUT.sub("@k", metric, count=1))
    return None if cut is None or family is None or family.at is None else family.at(int(cut[1]))

"""What a metric is: the facts the documentation, the command line and the signature print, and the
work it asks of a kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from odqa_fast.errors import MetricError, OdqaError
from odqa_fast.profiles import PROFILES, Profile, get_profile, unknown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from odqa_fast._kernels.columns import Column
    from odqa_fast.inference.session import Device

    Outputs = Mapping[str, npt.NDArray[np.float64]]
    #: Scores the rows [lo, hi) of a batch into the outputs and returns its counts by name.
    #: Arguments: settings, the columns by canonical name, lo, hi, outputs.
    RowFunction = Callable[[Any, Mapping[str, Column], int, int, Outputs], dict[str, int]]


#: A count whose name starts so is a sentence for the reader of the numbers, not a number.
NOTE = "note: "
#: One whose name starts so is an example of what a sentence says: `example: <sentence>\n<example>`.
EXAMPLE = "example: "
#: So many examples, the first in the order of the rows, are shown.
SHOWN_EXAMPLES = 3


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


@runtime_checkable
class Tagged(Protocol):
    """Settings that know more for the signature once they are open: which model, say."""

    def tags(self, output: str) -> Mapping[str, str]:
        """What this adds to the signature of an output."""


@dataclass(frozen=True)
class Work:
    """One output of a kernel call. Works that agree in all but the output share one call.

    A column may be one field of a column's items: `documents.id`. Settings are hashable; where
    there is `open`, it makes of them and a run's resources what the row function gets instead.
    """

    rows: RowFunction
    columns: tuple[str, ...]
    settings: Any
    output: str
    open: Callable[[Any, Resources], Any] | None = None

    def opened(self, resources: Resources) -> Work:
        """The same, ready to run."""
        if self.open is None:
            return self
        return replace(self, settings=self.open(self.settings, resources), open=None)


@dataclass(frozen=True)
class MetricSpec:
    """A metric, by its id.

    Attributes:
        version: raised by every change that can move a number.
        inputs: canonical columns it reads.
        options: the options it takes (`id:option`) and what each means; the first is the default.
        more_options: further groups of options; one of each group may be given, none is by default.
        range: lowest and highest value; None where open.
        empty_rule: what an empty or null side scores, in words.
        source: where the definition comes from.
        work: what it asks of a kernel, given the option and profile. The option is one of
            `options` ("" where there are none) and those of `more_options`, joined by ":".
        tags: its part of the signature, likewise.
        uses_profile: whether the profile can change the number.
        at: of a metric `id@k`, what makes the metric of one cut-off, whose id is e.g. `hit@5`; of
            one cut-off always the same object.
    """

    id: str
    about: str
    version: int
    inputs: tuple[str, ...]
    range: tuple[float, float | None]
    higher_is_better: bool
    empty_rule: str
    source: str
    work: Callable[[str, Profile], Work]
    tags: Callable[[str, Profile], Mapping[str, str]]
    options: Mapping[str, str] = field(default_factory=dict)
    more_options: tuple[Mapping[str, str], ...] = ()
    aggregate: Literal["mean"] = "mean"
    uses_profile: bool = True
    at: Callable[[int], MetricSpec] | None = None

    @property
    def default_option(self) -> str:
        """The option of the bare id, "" where it takes none."""
        return next(iter(self.options), "")

    @property
    def all_options(self) -> dict[str, str]:
        """The options of every group and what each means."""
        return {
            word: about
            for group in (self.options, *self.more_options)
            for word, about in group.items()
        }


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

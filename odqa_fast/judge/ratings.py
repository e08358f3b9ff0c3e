"""What one judge, or the majority of several, made of the rows by one rubric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast._kernels.sums import ExactSum
from odqa_fast.engines.base import Engine
from odqa_fast.judge.ask import take_majority
from odqa_fast.judge.families import family
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.verdict import Verdict
from odqa_fast.stats import intervals


@dataclass(frozen=True)
class Ratings:
    """The verdicts of one judge by one rubric, one a row.

    Attributes:
        column: what its scores are called, e.g. `judge`, `judge[qwen2.5-7b]`.
        judge: the judge's name; empty for the majority.
        signature: of the engine, or of those whose majority it is.
        rubric: what was asked.
        verdicts: None where nothing was asked.
    """

    column: str
    judge: str
    signature: str
    rubric: Rubric
    verdicts: Sequence[Verdict | None]

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """NaN where there is no verdict."""
        scores = [np.nan if v is None or v.score is None else v.score for v in self.verdicts]
        return np.array(scores, np.float64)

    @cached_property
    def codes(self) -> npt.NDArray[np.int64]:
        """Each row's label as its place in `rubric.labels`; -1 where there is none."""
        places = {label: code for code, label in enumerate(self.rubric.labels)}
        codes = [-1 if v is None else places.get(v.label, -1) for v in self.verdicts]
        return np.array(codes, np.int64)

    @property
    def failures(self) -> Counter[str]:
        """The rows that were asked about in vain, by reason."""
        return Counter(v.failure for v in self.verdicts if v is not None and v.failure)

    @property
    def mean(self) -> float | None:
        """The exact mean of the scored rows."""
        total = ExactSum()
        total.add(self.scores)
        return total.mean()

    def as_dict(self) -> dict[str, Any]:
        """The mean with its interval, what it would be if every failure were 0 or 1, verdicts and
        failures by kind."""
        scored = self.scores[~np.isnan(self.scores)]
        failed = self.failures.total()
        total = len(scored) + failed
        interval = intervals.mean(scored)
        return {
            "low": interval.low,
            "high": interval.high,
            "n_failed": failed,
            "if_failed_0": float(scored.sum()) / total if total else None,
            "if_failed_1": (float(scored.sum()) + failed) / total if total else None,
            "verdicts": {
                label: int((self.codes == code).sum())
                for code, label in enumerate(self.rubric.labels)
            },
            "failures": dict(sorted(self.failures.items())),
        }


def judge_names(engines: Sequence[Engine]) -> list[str]:
    """Short names of judges: the model of each where they differ, else the whole of how it was
    asked for."""
    short = [engine.id.rpartition("#")[2].rstrip("/").rpartition("/")[2] for engine in engines]
    return short if len(set(short)) == len(short) else [engine.id for engine in engines]


def columns_of(rubric: Rubric, names: Sequence[str]) -> list[str]:
    """What the scores of judges are called: of several, first the majority's."""
    if len(names) == 1:
        return [rubric.metric]
    return [rubric.metric, *(f"{rubric.metric}[{name}]" for name in names)]


def rate(
    rubric: Rubric,
    engines: Sequence[Engine],
    said: Sequence[Sequence[Verdict | None]],
) -> list[Ratings]:
    """The ratings of the majority and those of all judges; of one judge, those alone.

    Args:
        rubric: what was asked.
        engines: the judges.
        said: each judge's verdicts, one a row.
    """
    names = judge_names(engines)
    signatures = [engine.signature for engine in engines]
    columns, judges, verdicts = columns_of(rubric, names), list(names), [*said]
    if len(engines) > 1:
        signatures.insert(0, f"majority({'+'.join(signatures)})")
        judges.insert(0, "")
        verdicts.insert(0, take_majority(said))
    made = zip(columns, judges, signatures, verdicts, strict=True)
    return [Ratings(column, judge, by, rubric, each) for column, judge, by, each in made]


def describe_judges(engines: Sequence[Engine]) -> list[dict[str, str]]:
    """Each judge's name and family."""
    return [{"name": name, "family": family(name)} for name in judge_names(engines)]


def kin_notes(engines: Sequence[Engine], systems: Iterable[str | None]) -> list[str]:
    """A warning for every judge that is kin to a system it judges."""
    judged = {each for each in systems if each}
    return [
        f"the judge {name!r} is of the family of {kin}: it may prefer its own kin's answers."
        for name in judge_names(engines)
        if (kin := ", ".join(sorted(repr(s) for s in judged if family(s) == family(name))))
    ]

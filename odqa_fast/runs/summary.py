"""`RunSummary`: what is to be known of a run, the same for every command and report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odqa_fast.version import __version__

if TYPE_CHECKING:
    from odqa_fast.scores import ScoreTable

#: Raised when a key of `as_dict` changes its meaning.
FORMAT = 2


@dataclass(frozen=True)
class MetricSummary:
    """One number of a run.

    Attributes:
        mean: over the rows that are scored; None where none is.
        n_scored: how many these are.
        n_null: how many rows are not scored.
        signature: all that could have made it another number.
        more: what only some metrics have, by name.
    """

    mean: float | None
    n_scored: int
    n_null: int
    signature: str
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "mean": self.mean,
            "n_scored": self.n_scored,
            "n_null": self.n_null,
            "signature": self.signature,
            **self.more,
        }


@dataclass(frozen=True)
class RunSummary:
    """What is to be known of a run.

    Attributes:
        metrics: its numbers, by the metric as it was asked for.
        counts: the rows, and how many were null, empty, rejected and so on.
        notes: what a reader of the numbers should know, one sentence each.
        inputs: what was read, as `runs.provenance.list_inputs` says it.
        extras: what one command adds, by name: `levels`, `judge`, `diagnosis`, `seconds`, ...
        job: the options, as `Job.record` has them; `odqa-fast rerun` makes the run again of it.
    """

    metrics: Mapping[str, MetricSummary]
    counts: Mapping[str, int]
    notes: Sequence[str] = ()
    inputs: Sequence[Mapping[str, Any]] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    job: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, scores: ScoreTable, job: Mapping[str, Any] | None = None, **extras: Any
    ) -> RunSummary:
        """The summary of scores.

        Args:
            scores: the numbers.
            job: the options of the run.
            extras: see above.
        """
        rows = scores.counts["rows"]
        metrics = {
            asked: MetricSummary(
                mean,
                scores.scored[asked],
                rows - scores.scored[asked],
                str(scores.signatures[asked]),
            )
            for asked, mean in scores.means.items()
        }
        if scores.diagnosis is not None:
            extras = {"diagnosis": scores.diagnosis.as_dict(), **extras}
        return cls(metrics, scores.counts, scores.notes, scores.identities, extras, job or {})

    def as_dict(self) -> dict[str, Any]:
        """What `summary.json` and `--format json` hold; no NaN, no infinity."""
        return {
            "format": FORMAT,
            "odqa_fast": __version__,
            "inputs": list(self.inputs),
            "metrics": {asked: each.as_dict() for asked, each in self.metrics.items()},
            "counts": dict(self.counts),
            "notes": list(self.notes),
            **self.extras,
            **({"job": dict(self.job)} if self.job else {}),
        }


def as_text(path: str | os.PathLike[str]) -> str:
    """A file's name as text: bytes in it that are no text would be no JSON either."""
    return os.fsencode(path).decode(errors="replace")

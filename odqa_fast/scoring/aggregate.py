"""Means, counts and signatures of a run, row by row exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from odqa_fast._kernels.normalize import UNICODE_VERSION
from odqa_fast._kernels.sums import ExactSum
from odqa_fast.diagnosis import Diagnosis
from odqa_fast.metrics.spec import Tally
from odqa_fast.scoring.diagnose import Cells
from odqa_fast.scoring.failed import FailedCounts
from odqa_fast.signature import Signature
from odqa_fast.version import __version__

if TYPE_CHECKING:
    from odqa_fast.metrics.request import Request
    from odqa_fast.scoring.executor import ScoredBatch
    from odqa_fast.scoring.plan import Plan


#: Why a row has no ratio of compression.
_NO_RATIO = {
    "null_summaries": "without a summary",
    "null_documents": "without documents",
    "empty_documents": "with empty documents",
}


class Aggregate:
    """Grows batch by batch; any batching of the same rows gives the same bits."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sums = {request.asked: ExactSum() for request in plan.requests}
        self._seen = [Tally() for _ in plan.tasks]
        self._absent: Counter[str] = Counter()
        self._failed = FailedCounts()
        self.rows = 0
        self._cells = Cells(plan.diagnosis) if plan.diagnosis is not None else None

    def add(self, scored: ScoredBatch) -> None:
        """Adds one batch."""
        self.rows += scored.batch.num_rows
        for column in self._plan.needed.keys() - set(scored.batch.schema.names):
            self._absent[f"rows_without_{column}"] += scored.batch.num_rows
        self._failed.add(scored.batch, scored.failed)
        for asked, values in scored.scores.items():
            self._sums[asked].add(values)
        for total, seen in zip(self._seen, scored.seen, strict=True):
            total.add(seen)
        if self._cells is not None:
            self._cells.add(scored.steps)

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Where the rows went wrong, if that was asked for."""
        return None if self._cells is None else self._cells.diagnosis

    @property
    def means(self) -> dict[str, float | None]:
        """The correctly rounded mean of each metric over its scored rows."""
        return {asked: total.mean() for asked, total in self._sums.items()}

    @property
    def scored(self) -> dict[str, int]:
        """How many rows each metric scored."""
        return {asked: total.count for asked, total in self._sums.items()}

    @property
    def counts(self) -> dict[str, int]:
        """The rows and what was odd about them.

        Several tasks may count the same thing, a stricter normalizer finding more of it (empty
        golds): the largest count holds the others.
        """
        merged: dict[str, int] = {"rows": self.rows}
        for counts in self._seen:
            for name, n in counts.items():
                merged[name] = max(merged.get(name, 0), n)
        return {**merged, **self._failed.counts, **dict(sorted(self._absent.items()))}

    @property
    def notes(self) -> list[str]:
        """What the row functions have to say, each sentence once, and what failed."""
        notes = sorted({note for seen in self._seen for note in seen.notes})
        together = Tally()
        for seen in self._seen:
            together.add_words(seen)
        for sentence, shown in sorted(together.examples.items()):
            notes.append(f"{sentence} (the first: {', '.join(shown)}).")
        return [*self._failed.notes(self._plan.failed), *self._partial(), *notes]

    def _partial(self) -> Iterator[str]:
        """Of ratios, over how many rows they are, where that is not all."""
        for task, counts in zip(self._plan.tasks, self._seen, strict=True):
            for asked in (asked for each in task.outputs.values() for asked in each):
                n = self._sums[asked].count if asked in self._sums else self.rows
                if asked.partition(":")[0] == "cr" and n < self.rows:
                    reasons = [f"{counts[name]} {why}" for name, why in _NO_RATIO.items()]
                    shown = ", ".join(reason for reason in reasons if not reason.startswith("0 "))
                    yield f"{asked} is over {n} of {self.rows} rows ({shown})."

    def signatures(self, tags: Mapping[str, object]) -> dict[str, Signature]:
        """One signature per metric, with further tags."""
        return {request.asked: self._signature(request, tags) for request in self._plan.requests}

    def _signature(self, request: Request, tags: Mapping[str, object]) -> Signature:
        spec, profile = request.spec, request.profile
        return Signature.make(
            request.name,
            spec.version,
            profile.signed_id if spec.uses_profile else None,
            profile.version if spec.uses_profile else None,
            {
                **spec.tags(request.option, profile),
                **self._plan.tags.get(request.asked, {}),
                **self._failed.tags(self._plan.failed, spec.inputs),
                **tags,
                "unicode": UNICODE_VERSION,
                "n": self._sums[request.asked].count,
                "odqa_fast": __version__,
            },
        )

"""Means, counts and signatures of a run, row by row exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from odqa_fast import __version__
from odqa_fast._kernels.normalize import UNICODE_VERSION
from odqa_fast._kernels.sums import ExactSum
from odqa_fast.diagnosis import Diagnosis
from odqa_fast.scoring.diagnose import Cells
from odqa_fast.signature import Signature
from odqa_fast.spec import EXAMPLE, NOTE, SHOWN_EXAMPLES

if TYPE_CHECKING:
    from odqa_fast.scoring.plan import Plan
    from odqa_fast.scoring.run import ScoredBatch
    from odqa_fast.spec import Request


class Aggregate:
    """Grows batch by batch; any batching of the same rows gives the same bits."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sums = {request.asked: ExactSum() for request in plan.requests}
        self._task_counts: list[Counter[str]] = [Counter() for _ in plan.tasks]
        self._absent: Counter[str] = Counter()
        self.rows = 0
        self._cells = Cells(plan.diagnosis) if plan.diagnosis is not None else None

    def add(self, scored: ScoredBatch) -> None:
        """Adds one batch."""
        self.rows += scored.batch.num_rows
        for column in self._plan.needed.keys() - set(scored.batch.schema.names):
            self._absent[f"rows_without_{column}"] += scored.batch.num_rows
        for asked, values in scored.scores.items():
            self._sums[asked].add(values)
        for total, counts in zip(self._task_counts, scored.task_counts, strict=True):
            total.update(counts)
        if self._cells is not None:
            self._cells.add(scored)

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
        for counts in self._task_counts:
            for name, n in counts.items():
                if not name.startswith((NOTE, EXAMPLE)):
                    merged[name] = max(merged.get(name, 0), n)
        return {**merged, **dict(sorted(self._absent.items()))}

    @property
    def notes(self) -> list[str]:
        """What the row functions have to say, each sentence once."""
        # In the order of the rows, however they were cut.
        names = list(dict.fromkeys(name for counts in self._task_counts for name in counts))
        notes = sorted(name.removeprefix(NOTE) for name in names if name.startswith(NOTE))
        examples: dict[str, list[str]] = {}
        for name in names:
            if name.startswith(EXAMPLE):
                sentence, _, example = name.removeprefix(EXAMPLE).partition("\n")
                examples.setdefault(sentence, []).append(example)
        for sentence, shown in sorted(examples.items()):
            notes.append(f"{sentence} (the first: {', '.join(shown[:SHOWN_EXAMPLES])}).")
        return notes

    def signatures(self, tags: Mapping[str, object]) -> dict[str, Signature]:
        """One signature per metric, with further tags."""
        return {request.asked: self._signature(request, tags) for request in self._plan.requests}

    def _signature(self, request: Request, tags: Mapping[str, object]) -> Signature:
        spec, profile = request.spec, request.profile
        return Signature.make(
            request.name,
            spec.version,
            profile.id if spec.uses_profile else None,
            profile.version if spec.uses_profile else None,
            {
                **spec.tags(request.option, profile),
                **self._plan.tags.get(request.asked, {}),
                **tags,
                "unicode": UNICODE_VERSION,
                "n": self._sums[request.asked].count,
                "odqa_fast": __version__,
            },
        )

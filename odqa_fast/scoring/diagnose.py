"""The diagnosis of a run: the outputs it looks at, the label of each row, and the cells."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odqa_fast._kernels.sums import ExactSum
from odqa_fast.diagnosis import Cell, DiagnoseOptions, Diagnosis, label_of
from odqa_fast.errors import OdqaError
from odqa_fast.metrics import all_specs
from odqa_fast.metrics._evidence import PLACES, evidence_work
from odqa_fast.metrics.request import parse_request
from odqa_fast.metrics.spec import Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.intp]
    #: What is known of each row of a batch, by the names of `step_works` and `diagnosis.summary`.
    Steps = Mapping[str, npt.NDArray[np.float64]]

#: What a row says beside its scores. `evidence_*` is the first of the documents that holds an
#: answer, which answer that is (from 0; the first is the canonical one), and where in the text it
#: stands, in code points; null where it was found in a normalized copy.
FOUND = [
    pa.field("diagnosis", pa.string()),
    pa.field("evidence_document", pa.int32()),
    pa.field("evidence_answer", pa.int32()),
    pa.field("evidence_gold", pa.string()),
    pa.field("evidence_position", pa.int64()),
]

#: Outcomes by their code: best first. With a summary there are eight, without one four.
_OUTCOMES: list[tuple[bool, bool | None, bool]] = [
    *((r, k, a) for r, k, a in product((True, False), repeat=3)),
    *((r, None, a) for r, a in product((True, False), repeat=2)),
]
_NOT_TOLD = -1


def step_works(options: DiagnoseOptions, profile: Profile) -> dict[str, Work]:
    """What a diagnosis must know of each row: a name, and the work that tells it."""
    if options.top_k is not None and options.top_k < 1:
        raise OdqaError(f"top_k must be 1 or more, not {options.top_k}.")
    cut = "" if options.top_k is None else f"@{options.top_k}"
    asked = {"kept": f"par:{options.evidence}", "answered": options.answered, "f1": "f1"}
    works = {}
    for step, metric in asked.items():
        request = parse_request(metric, all_specs(), profile)
        works[f"diagnosis.{step}"] = request.spec.work(request.option, profile)
    for step in (f"hit{cut}", *PLACES):
        name = "retrieved" if step.startswith("hit") else step
        works[f"diagnosis.{name}"] = evidence_work(step, options.evidence, profile)
    return works


def has_summary(batch: pa.RecordBatch) -> npt.NDArray[np.float64]:
    """1 for each row with a summary, else 0.

    By row, not by column: which part of a file lacks a field depends on how it was cut.
    """
    if "summary" not in batch.schema.names:
        return np.zeros(batch.num_rows)
    summaries = batch.column("summary")
    if summaries.null_count == 0:
        return np.ones(batch.num_rows)
    return np.asarray(summaries.is_valid().to_numpy(zero_copy_only=False), dtype=np.float64)


def _codes(steps: Steps) -> Codes:
    """The outcome of each row of a batch, `_NOT_TOLD` where there is none."""
    wrong = 1 - steps["diagnosis.answered"]
    missed = 1 - steps["diagnosis.retrieved"]
    codes = 4 * missed + 2 * (1 - steps["diagnosis.kept"]) + wrong
    codes = np.where(steps["diagnosis.summary"] == 1, codes, 8 + 2 * missed + wrong)
    return np.where(np.isnan(codes), _NOT_TOLD, codes).astype(np.intp)


def found_columns(steps: Steps, top_k: int | None) -> dict[str, pa.Array]:
    """The columns of FOUND for one batch."""
    codes = _codes(steps)
    places = {place: steps[f"diagnosis.{place}"] for place in PLACES}
    # Another metric of the same pass may have looked further down the list.
    beyond = places["document"] >= (np.inf if top_k is None else top_k)
    integers = {}
    for place, values in places.items():
        hidden = beyond | np.isnan(values)
        width = np.int64 if place == "position" else np.int32
        integers[place] = pa.array(np.where(hidden, 0, values).astype(width), mask=hidden)
    is_alias = pc.cast(pc.greater(integers["answer"], 0), pa.int8())
    untold = codes == _NOT_TOLD
    labels = pa.array([label_of(*outcome) for outcome in _OUTCOMES])
    return {
        "diagnosis": labels.take(pa.array(np.where(untold, 0, codes), mask=untold)),
        "evidence_document": integers["document"],
        "evidence_answer": integers["answer"],
        "evidence_gold": pa.array(["canonical", "alias"]).take(is_alias),
        "evidence_position": integers["position"],
    }


class Cells:
    """The outcomes of the batches so far."""

    def __init__(self, options: DiagnoseOptions) -> None:
        self._options = options
        self._rows = np.zeros(len(_OUTCOMES), dtype=np.int64)
        self._f1 = [ExactSum() for _ in _OUTCOMES]
        self._unlabelled = 0

    def add(self, steps: Steps) -> None:
        """Adds what the steps of one batch came to."""
        codes, f1 = _codes(steps), steps["diagnosis.f1"]
        self._unlabelled += int((codes == _NOT_TOLD).sum())
        rows = np.bincount(codes[codes >= 0], minlength=len(_OUTCOMES))
        self._rows += rows
        for code in np.flatnonzero(rows):
            self._f1[code].add(np.ascontiguousarray(f1[codes == code]))

    @property
    def diagnosis(self) -> Diagnosis:
        """The cells: those of rows with a summary, and of rows without one, as there are any."""
        total = int(self._rows.sum())
        with_summary, without = bool(self._rows[:8].sum()), bool(self._rows[8:].sum())
        cells = tuple(
            Cell(*outcome, int(rows), int(rows) / total if total else None, f1.mean())
            for outcome, rows, f1 in zip(_OUTCOMES, self._rows, self._f1, strict=True)
            if (without if outcome[1] is None else with_summary)
        )
        return Diagnosis(self._options, cells, self._unlabelled)

"""The record that a run keeps of its job, read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from odqa_fast.errors import DataError
from odqa_fast.runs.job import Job
from odqa_fast.runs.registry import jobs
from odqa_fast.runs.summary import RunSummary

#: Under this key the schema of a Parquet file holds the summary of the run that wrote it.
METADATA = b"odqa_fast"


def read_summary(run: Path) -> dict[str, Any]:
    """The summary of a run.

    Args:
        run: its folder, its summary.json, or its Parquet file.

    Raises:
        DataError: there is none.
    """
    path = run / "summary.json" if run.is_dir() else run
    try:
        if path.suffix == ".json":
            found = json.loads(path.read_bytes())
        else:
            metadata = pq.read_schema(path).metadata or {}
            found = json.loads(metadata[METADATA])
    except (OSError, ValueError, KeyError):
        found = None
    if not isinstance(found, dict):
        raise DataError(
            "holds no summary of a run.",
            where=str(path),
            hint="Name the folder of a run (--out), or a Parquet file of compress or answer.",
        )
    return found


def list_changes(recorded: Mapping[str, Any], summary: RunSummary) -> list[str]:
    """Sentences on inputs that are not what they were when a run was made.

    Args:
        recorded: the summary of that run.
        summary: of the same job, run again.
    """
    before = {each.get("path"): each.get("hash") for each in recorded.get("inputs", ())}
    return [
        f"{each['path']} is not what it was when the run was made: its content has another hash."
        for each in summary.inputs
        if before.get(each["path"]) and each.get("hash") not in (None, before[each["path"]])
    ]


def read_record(run: Path, out: str | None = None) -> Job[Any]:
    """The job that made a run.

    Args:
        run: see `read_summary`.
        out: in the place of the run's own.

    Raises:
        DataError: it has no record, or one of a job that there is not.
        OdqaError: an option of it is none any more.
    """
    record = read_summary(run).get("job")
    kind = jobs().get(record.pop("command", "")) if isinstance(record, dict) else None
    if kind is None or record is None:
        raise DataError(
            "holds no record of a job.",
            where=str(run),
            hint="Runs whose summary has `format` 2 or more have one.",
        )
    return kind.from_table(record if out is None else {**record, "out": out})

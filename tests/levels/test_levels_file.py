"""Covers: levels_file and its job: noise added, results checked, what is refused and recorded.

Compared against: the same by way of a noisy dump and its manifest, exit codes of the README.
Run: pytest tests/levels/test_levels_file.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from island import rows
from program import write_jsonl

from odqa_fast.errors import EngineError, GateError, OdqaError
from odqa_fast.levels.job import LevelsJob, levels_file
from odqa_fast.noise.job import noise_file
from odqa_fast.noise.written import manifest_path
from odqa_fast.runs.progress import Progress
from odqa_fast.runs.summary import RunSummary


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "dump.jsonl", rows(12))


@pytest.mark.parametrize(
    ("of_noise", "of_levels"),
    [
        ({"kind": "sentences", "count": 2}, {"noise": "sentences", "noise_count": 2}),
        ({"kind": "documents", "share": 0.2}, {"noise": "documents"}),
        ({"kind": "factual"}, {"noise": "factual"}),
    ],
)
def test_noise_that_is_added_is_that_of_the_command(
    of_noise: dict[str, Any], of_levels: dict[str, Any], dump: Path, tmp_path: Path
) -> None:
    noisy = tmp_path / "noisy.jsonl"
    made = noise_file(dump, noisy, seed=4, **of_noise)
    by_manifest = levels_file(noisy, manifest=manifest_path(noisy), seed=4)
    added = levels_file(dump, seed=4, **of_levels)
    assert added.extras["levels"] == by_manifest.extras["levels"]
    assert list(added.extras["levels"]) == ["noisy", "clean"]
    assert added.extras["noise"] == made.extras["noise"]


def test_the_record_makes_the_same_run_again(dump: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    out = tmp_path / "run"
    done = levels_file(
        dump,
        levels="20,40%",
        compressor="random",
        seed=3,
        noise="sentences",
        noise_share="30%",
        clean=False,
        out=out,
        progress=told.append,
    )
    # A compression and an answer of each of 12 texts, at 2 levels.
    assert (told[-1].done, told[-1].total) == (48, 48)
    summary = json.loads((out / "summary.json").read_text())
    assert summary == json.loads(json.dumps(done.as_dict()))
    record = summary["job"]
    assert (record.pop("command"), record["noise_share"]) == ("levels", 0.3)
    assert LevelsJob.from_table(record).run() == done


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"noise": "sentences", "manifest": "m"}, "--manifest and --noise exclude each other"),
        ({"noise_share": 0.1}, "--noise-share goes with --noise KIND"),
        ({"noise_count": 1}, "--noise-count goes with --noise KIND"),
        ({"noise": "sentences", "noise_share": 0.1, "noise_count": 1}, "exclude each other"),
        ({"noise": "factual", "noise_share": 0.1}, "probability"),
        ({"clean": True}, "--clean goes with --noise or --manifest"),
        ({"clean": False}, "--no-clean goes with"),
        ({"levels": ["0.2", "40"]}, "mix fractions and percent"),
        ({"weight": "rows"}, "--weight has to be one of texts, questions"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OdqaError, match=says):
        LevelsJob("dump.jsonl", **options)


@pytest.mark.parametrize(
    ("compressions", "answers", "strict", "error"),
    [
        ((0, 4), (0, 4), True, None),
        ((0, 4), (0, 0), True, None),
        ((1, 4), (1, 3), False, None),
        ((1, 4), (0, 3), True, GateError),
        ((0, 4), (1, 4), True, GateError),
        ((4, 4), (0, 0), False, EngineError),
        # Nothing came of the answers: that counts before one compression that failed.
        ((1, 4), (3, 3), True, EngineError),
    ],
)
def test_what_failures_mean(
    compressions: tuple[int, int],
    answers: tuple[int, int],
    strict: bool,
    error: type[OdqaError] | None,
) -> None:
    counts = {
        "failed_compressions": compressions[0],
        "compressions": compressions[1],
        "failed_answers": answers[0],
        "asked": answers[1],
    }
    result = RunSummary({}, {name: n for name, n in counts.items() if n})
    job = LevelsJob("dump.jsonl", strict=strict)
    if error is None:
        job.check_result(result)
    else:
        with pytest.raises(error):
            job.check_result(result)

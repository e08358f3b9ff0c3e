"""Covers: what a run's record must not lose: an option that is None, a profile of one's own, and
inputs that have changed since.

Compared against: the options that were given; hashes of other content.
Run: pytest tests/runs/test_record.py
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from program import odqa_fast, write_jsonl

import odqa_fast as oq
from odqa_fast.profiles import PROFILES, get_profile
from odqa_fast.steps.job import AnswerJob

ROW = {"id": "1", "prediction": "", "answers": [""]}


def test_what_is_none_stays_none() -> None:
    """None leaves the temperature to the endpoint; the default is 0."""
    job = AnswerJob("dump.jsonl", "http:http://a/v1#m", "out.parquet", temperature=None)
    record = json.loads(json.dumps(job.record()))
    assert record.pop("command") == "answer"
    assert AnswerJob.from_table(record).temperature is None


def test_a_profile_of_ones_own_is_recorded_with_its_rules(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "dump.jsonl", [ROW])
    own = dataclasses.replace(PROFILES["squad"], pair_rule="v2", no_gold="zero")
    made = oq.score_file(dump, "f1", own, out=str(tmp_path / "run"))
    # Two empty sides: 1 by v2, 0 by squad.
    assert made.means == {"f1": 1.0}
    record = json.loads((tmp_path / "run" / "summary.json").read_text())["job"]
    assert get_profile(record["profile"]) == own
    done = odqa_fast("rerun", tmp_path / "run", "--format", "json")
    again = json.loads(done.stdout)["metrics"]["f1"]
    assert (again["mean"], again["signature"]) == (1.0, str(made.signatures["f1"]))


def test_an_input_that_has_changed_is_said(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "dump.jsonl", [ROW])
    odqa_fast("score", dump, "--out", tmp_path / "run")
    same = odqa_fast("rerun", tmp_path / "run", "--out", tmp_path / "same")
    assert (same.returncode, "another hash" in same.stderr) == (0, False)
    write_jsonl(dump, [{**ROW, "prediction": "x"}])
    other = odqa_fast("rerun", tmp_path / "run", "--out", tmp_path / "other")
    assert other.returncode == 0
    assert f"note: {dump} is not what it was when the run was made" in other.stderr


def test_what_is_handed_over_beside_a_job_leaves_no_record(tmp_path: Path) -> None:
    dump = write_jsonl(tmp_path / "dump.jsonl", [ROW])
    oq.score_file(dump, out=str(tmp_path / "run"), resources=oq.Resources(regex_seconds=9.0))
    done = odqa_fast("rerun", tmp_path / "run")
    assert (done.returncode, "no record of a job" in done.stderr) == (3, True)

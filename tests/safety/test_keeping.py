"""Covers: kill -9 and damaged stores, over every command that keeps replies.

Compared against: what an undisturbed run writes; what the endpoint was asked.
Run: ODQA_FAST_FUZZ=100000 pytest tests/safety/test_keeping.py (a few of each without)
"""

from __future__ import annotations

import os

import pytest
from fuzzing import tried
from keeping import COMMANDS

FUZZ = int(os.environ.get("ODQA_FAST_FUZZ", "2000"))


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_runs_end_as_an_undisturbed_one(command: str) -> None:
    assert tried("keeping.py", f"kill {command}", max(FUZZ // 1000, 2))[1] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_damaged_stores_cost_only_what_was_lost(command: str) -> None:
    # Each kind of damage to what two kinds of runs leave.
    assert tried("keeping.py", f"damage {command}", max(FUZZ // 200, 10))[1] == []

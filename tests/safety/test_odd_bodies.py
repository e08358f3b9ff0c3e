"""Covers: bodies of any kind where replies are expected, through every command that asks a model.

Compared against: what the endpoint said where it was sound; elsewhere that every row has a text or
a counted reason. Run: ODQA_FAST_FUZZ=10000 pytest tests/safety/test_odd_bodies.py
"""

from __future__ import annotations

import os

import pytest
from fuzzing import tried
from odd_bodies import COMMANDS

N_INPUTS = int(os.environ.get("ODQA_FAST_FUZZ", "2000")) // 100


@pytest.mark.parametrize("command", COMMANDS)
def test_any_body(command: str) -> None:
    assert tried("odd_bodies.py", command, N_INPUTS)[1] == []

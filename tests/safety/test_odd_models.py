"""Covers: models and prompts whose fields are of other types, nested without end, or cut off.

Compared against: nothing but models that run and errors of ours.
Run: ODQA_FAST_FUZZ=10000 pytest tests/safety/test_odd_models.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fuzzing import tried
from odd_models import KINDS, made

N_INPUTS = int(os.environ.get("ODQA_FAST_FUZZ", "2000")) // 60


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("kind", KINDS)
def test_odd_models(kind: str, models: Path) -> None:
    found, failures = tried("odd_models.py", kind, N_INPUTS, str(models))
    assert failures == []
    assert found["refused"] > N_INPUTS // 10

"""Covers: Arrow buffers whose offsets lie. Compared against: a DataError that names the column.

Each case runs in its own interpreter, for a wrong one may end it.
Run: pytest tests/safety
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from broken import ANSWERS, PREDICTIONS


@pytest.mark.parametrize("name", [*PREDICTIONS, *ANSWERS])
def test_a_lying_buffer_is_bad_data(name: str) -> None:
    script = Path(__file__).parent / "broken.py"
    done = subprocess.run(
        [sys.executable, str(script), name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("DataError: ")
    assert ("prediction" if name in PREDICTIONS else "answers") in done.stdout

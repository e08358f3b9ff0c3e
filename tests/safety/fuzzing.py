"""Runs a script that tries numbered inputs, each able to end its process, and counts what came."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent

#: What counts as survived: a result, or an error of ours.
SURVIVED = {"scored", "taken", "refused"}


def tried(script: str, kind: str, n_inputs: int, *more: str) -> tuple[Counter[str], list[str]]:
    """What came of the inputs 0 to `n_inputs` of a kind, and the failures in words.

    Args:
        script: takes a kind, a first and a last number, and `more`; writes `NUMBER outcome` lines.
    """
    found: Counter[str] = Counter()
    failures: list[str] = []
    first = 0
    paths = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    while first < n_inputs:
        done = subprocess.run(
            [sys.executable, str(HERE / script), kind, str(first), str(n_inputs), *more],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONPATH": paths, "ORT_DISABLE_TELEMETRY": "1"},
            check=False,
        )
        lines = done.stdout.splitlines()
        for line in lines:
            outcome = line.partition(" ")[2]
            if outcome in SURVIVED:
                found[outcome] += 1
            elif outcome:
                found["traceback"] += 1
                failures.append(f"{kind} {line}")
        if done.returncode == 0:
            break
        last = lines[-1].split()[0] if lines else str(first)
        found["death"] += 1
        failures.append(f"{kind} {last} ends the process: {done.stderr[-300:]}")
        first = int(last) + 1
    return found, failures

"""Inputs by number, each of which may end its process: scripts that try them, and what came of all.

A script is told a kind, a first and a last number. It writes a line for each number: `NUMBER
taken` where a result came of it, `NUMBER refused` where an error of ours did. What is neither is a
failure, or the end of the process, which the last number then belongs to.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from odqa_fast.errors import OdqaError

HERE = Path(__file__).parent

#: What counts as survived: a result, or an error of ours.
SURVIVED = {"taken", "refused"}

#: An input that takes longer is a failure.
SECONDS = 60


def _ring(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def each(attempt: Callable[[int], object], first: int, last: int) -> None:
    """Tries the inputs from `first` up to `last`, and writes what came of each."""
    signal.signal(signal.SIGALRM, _ring)
    for number in range(first, last):
        sys.stdout.write(f"{number} ")
        sys.stdout.flush()
        signal.alarm(SECONDS)
        try:
            attempt(number)
        except OdqaError as error:
            lines = str(error).splitlines()
            found = "refused" if len(lines) == 1 else f"says {lines}"
        except MemoryError:
            found = "refused"
        except Exception as error:
            found = _named(error)
        else:
            found = "taken"
        signal.alarm(0)
        sys.stdout.write(f"{found}\n")
        sys.stdout.flush()


def _named(error: Exception) -> str:
    """An error in one line, with its place."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
    return f"{type(error).__name__} {' '.join(str(error).split())[:300]} {where}"


def tried(script: str, kind: str, n_inputs: int, *more: str) -> tuple[Counter[str], list[str]]:
    """What came of the inputs 0 to `n_inputs` of a kind, and the failures in words.

    Args:
        script: one of this folder; `more` is handed to it as well.
    """
    found: Counter[str] = Counter()
    failures: list[str] = []
    first = 0
    # An empty entry would be the working directory, and with it the sources for an installed wheel.
    places = [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH")]
    paths = os.pathsep.join(filter(None, places))
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

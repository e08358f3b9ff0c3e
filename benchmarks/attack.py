"""Attacks by class, tries and survivals: `python benchmarks/attack.py`, or `make attack`.

An attack is survived where a result comes of it, for kills and damage the undisturbed run's, or one
of our errors; not by a traceback, a dead process or a hang. Everything happens in temporary folders
of this machine, and with an endpoint on it. The classes are those of tests/safety, which hold what
each consists of.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("", "safety")]

import flipped  # noqa: E402
import keeping  # noqa: E402
import odd_bodies  # noqa: E402
import odd_models  # noqa: E402
from fuzzing import SURVIVED, tried  # noqa: E402


def main() -> int:
    """Attack; returns how many attacks were not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number, about in (
        ("tries", 1000, "inputs of each kind of Arrow data; a fifth of each model's file"),
        ("bodies", 100, "of an endpoint, for each command"),
        ("kills", 100, "over all commands that keep replies"),
        ("damages", 200, "of kept replies, over all commands that keep them"),
        ("seconds", 600, "no class is begun later; 0 tries are shown for the others"),
    ):
        parser.add_argument(f"--{name}", type=int, default=number, help=f"{about} ({number})")
    asked = parser.parse_args()
    end = time.monotonic() + asked.seconds
    lost: list[str] = []

    def show(what: str, script: str, kind: str, tries: int, *more: str) -> None:
        if time.monotonic() > end:
            tries = 0
        found, failures = tried(script, kind, tries, *more)
        lost.extend(failures)
        survived = sum(found[outcome] for outcome in SURVIVED)
        print(f"{f'{what} {kind}':<32}{found.total():>8} tries{survived:>8} survived", flush=True)

    each = len(keeping.COMMANDS)
    for kind in keeping.KINDS:
        way, _ = kind.split()
        number = asked.kills if way == "kill" else asked.damages
        show("replies,", "keeping.py", kind, -(-number // each))
    for command in odd_bodies.COMMANDS:
        show("endpoint,", "odd_bodies.py", command, asked.bodies)
    for kind in flipped.KINDS:
        show("Arrow,", "flipped.py", kind, asked.tries)
    with tempfile.TemporaryDirectory() as folder:
        odd_models.made(Path(folder))
        for kind in odd_models.KINDS:
            show("model,", "odd_models.py", kind, asked.tries // 5, folder)
    for line in lost:
        print(f"not survived: {line}")
    return len(lost)


if __name__ == "__main__":
    sys.exit(min(1, main()))

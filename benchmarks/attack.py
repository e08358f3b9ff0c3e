"""Attacks by class, tries and survivals: `python benchmarks/attack.py [TRIES]`, or `make attack`.

An attack is survived where a result comes of it or one of our errors; not by a traceback, a dead
process or a hang. Everything happens in temporary folders of this machine; no network is used. The
classes are those of tests/safety, which hold what each consists of.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / part) for part in ("", "safety")]

import flipped  # noqa: E402
import odd_models  # noqa: E402
from fuzzing import SURVIVED, tried  # noqa: E402


def main(tries: int) -> int:
    """Attack; returns how many were not survived."""
    lost: list[str] = []

    def show(kind: str, script: str, *more: str, share: int = 1) -> None:
        found, failures = tried(script, kind, max(1, tries // share), *more)
        lost.extend(failures)
        survived = sum(found[outcome] for outcome in SURVIVED)
        sys.stdout.write(f"{kind:<24}{found.total():>8} tries{survived:>8} survived\n")
        sys.stdout.flush()

    for kind in flipped.KINDS:
        show(kind, "flipped.py")
    with tempfile.TemporaryDirectory() as folder:
        odd_models.made(Path(folder))
        for kind in odd_models.KINDS:
            show(kind, "odd_models.py", folder, share=5)
    for line in lost:
        sys.stdout.write(f"not survived: {line}\n")
    return len(lost)


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))

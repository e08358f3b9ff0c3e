"""Writes the project's reference records from the shared folder, or checks them against it.

Run in tests/: python -m reference write, or python -m reference check
"""

from __future__ import annotations

import sys

from reference.selection import differences, is_real, quoted, select, shared, stored
from reference.store import FOLDER, SHARED, write


def write_all() -> None:
    """Writes each file and prints its line for the table of README.md."""
    given = shared()
    held = select(given, quoted(given))
    for file, found in held.items():
        write(FOLDER / f"{file}.parquet", found)
        real = sum(map(is_real, given[file]))
        quoting = len(given[file]) - real - len(found)
        sys.stdout.write(f"| `{file}` | {len(found)} | {real} | {quoting} |\n")


def check() -> None:
    held = stored()
    wrong = differences(held, shared())
    n_records = sum(map(len, held.values()))
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    sys.stdout.write(f"{len(wrong)} faults in {n_records} records\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    verbs = {"write": write_all, "check": check}
    if sys.argv[1:] not in [["write"], ["check"]]:
        sys.exit(__doc__)
    for needed in (SHARED / "data", SHARED / "reference" / "vectors"):
        if not needed.is_dir():
            sys.exit(f"{needed} is missing: name the shared folder in ODQA_FAST_SHARED")
    verbs[sys.argv[1]]()

"""Instruction counts of the row functions, by callgrind: what a change costs, whatever the machine.

    make count              # compares with benchmarks/baselines/instructions.json, fails above +2 %
    make count UPDATE=1     # writes the baseline: in the commit that explains why

Each family is run once in a process of its own, for each instruction set that valgrind knows, and
only what happens inside the kernel's function is counted. The same binary and rows give the same
count to a few parts in a million.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BASELINE = Path(__file__).parent / "baselines" / "instructions.json"
TOLERANCE = 0.02
ISAS = ("scalar", "avx2")
ROWS = 2_000


def em_f1() -> Callable[[], object]:
    return _match("prediction", "squad", ("em", "f1", "precision", "recall"))


def par_raw() -> Callable[[], object]:
    return _match("summary", "raw", ("contains",))


def par_token() -> Callable[[], object]:
    return _match("summary", "dpr", ("contains",))


def cr_chars() -> Callable[[], object]:
    import numpy as np

    from odqa_fast._kernels.cr import cr

    columns = _columns("summary", "documents")
    return lambda: cr(*columns, "chars", False, 0, ROWS, np.empty(ROWS))


def rouge() -> Callable[[], object]:
    """Short texts and, every tenth, one of some 500 words, against the like of ten rows before."""
    import corpus
    import numpy as np
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column
    from odqa_fast._kernels.rouge import rouge

    texts = [
        row["summary"] if at % 10 else " ".join(document["text"] for document in row["documents"])
        for at, row in enumerate(corpus.rows(ROWS))
    ]
    answers = Column("answers", pa.array([[text] for text in texts[-10:] + texts[:-10]]))
    outputs = {(kind, "f"): np.empty(ROWS) for kind in ("rouge1", "rouge2", "rougeL")}
    return lambda: rouge(
        Column("texts", pa.array(texts)), answers, "ascii", False, 0, ROWS, outputs
    )


#: Family -> the function of the compiled module that is counted, and what runs it.
FAMILIES: dict[str, tuple[str, Callable[[], Callable[[], object]]]] = {
    "em_f1": ("match", em_f1),
    "par_raw": ("match", par_raw),
    "par_token": ("match", par_token),
    "cr_chars": ("cr", cr_chars),
    "rouge": ("rouge", rouge),
}


def _columns(*names: str) -> list[object]:
    import corpus
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column

    table = pa.Table.from_pylist(list(corpus.rows(ROWS)))
    return [Column(name, table[name].combine_chunks()) for name in names]


def _match(text: str, normalizer: str, outputs: tuple[str, ...]) -> Callable[[], object]:
    import numpy as np

    from odqa_fast._kernels.match import MatchRule, match

    columns = _columns(text, "answers")
    rule = MatchRule(normalizer, "none", "v1", "best_by_f1", "null", "normalized", False, "squad")
    return lambda: match(*columns, rule, 0, ROWS, {name: np.empty(ROWS) for name in outputs})


def count(family: str, isa: str) -> int:
    """Instructions of one run of a family's kernel."""
    module, _ = FAMILIES[family]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--toggle-collect=*_kernels*{module}*_1{module}*",
            f"--callgrind-out-file={folder}/out",
            sys.executable,
            __file__,
            "--run",
            family,
        ]
        # numpy's own threads would only slow valgrind down.
        environment = {**os.environ, "ODQA_FAST_ISA": isa, "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        found = re.search(r"^(?:summary|totals): (\d+)", Path(folder, "out").read_text(), re.M)
        if found is None or int(found[1]) == 0:
            sys.exit(f"callgrind saw nothing of {family}: {done.stderr[-500:]}")
        return int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", choices=FAMILIES)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if arguments.run:
        FAMILIES[arguments.run][1]()()
        return
    counts = {f"{family}/{isa}": count(family, isa) for family in FAMILIES for isa in ISAS}
    if arguments.update:
        BASELINE.parent.mkdir(exist_ok=True)
        BASELINE.write_text(json.dumps(counts, indent=2) + "\n")
    baseline = json.loads(BASELINE.read_text())
    worse = []
    for name, instructions in counts.items():
        change = instructions / baseline[name] - 1
        print(f"{name:<18} {instructions / ROWS:>10,.0f} instructions a row  {change:+.2%}")
        if change > TOLERANCE:
            worse.append(name)
    if worse:
        sys.exit(f"more than {TOLERANCE:.0%} above the baseline: {', '.join(worse)}")


if __name__ == "__main__":
    main()

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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odqa_fast._kernels.match import MatchRule

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


def hits() -> Callable[[], object]:
    import corpus
    import numpy as np
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column
    from odqa_fast._kernels.retrieval import by_answers

    rows = list(corpus.rows(ROWS))
    texts = [[document["text"] for document in row["documents"]] for row in rows]
    documents = Column("documents", pa.array(texts))
    answers = Column("answers", pa.array([row["answers"] for row in rows]))
    rule = _rule("dpr")
    outputs = {name: np.empty(ROWS) for name in ("hit@1", "hit@5", "mrr", "share")}
    return lambda: by_answers(documents, answers, rule, 0, ROWS, outputs)


def ranked() -> Callable[[], object]:
    """100 documents with scores for each query, and one to three relevant ids."""
    import random

    import numpy as np
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column
    from odqa_fast._kernels.retrieval import by_ids

    rng = random.Random(6)
    ids = [[f"doc{number}" for number in rng.sample(range(10**6), 100)] for _ in range(ROWS)]
    scores = [sorted((rng.random() for _ in range(100)), reverse=True) for _ in range(ROWS)]
    relevant = [[*rng.sample(row, rng.randint(1, 2)), "elsewhere"] for row in ids]
    columns = (
        Column("ids", pa.array(ids)),
        Column("scores", pa.array(scores)),
        Column("relevant", pa.array(relevant)),
        Column("relevance", pa.array([[1] * len(row) for row in relevant], pa.list_(pa.int32()))),
    )
    outputs = {name: np.empty(ROWS) for name in ("mrr", "recall@5", "recall@20", "ndcg@10", "map")}
    return lambda: by_ids(*columns, 0, ROWS, outputs)


#: Family -> the module and the function of it that is counted, and what runs it.
FAMILIES: dict[str, tuple[str, str, Callable[[], Callable[[], object]]]] = {
    "em_f1": ("match", "match", em_f1),
    "par_raw": ("match", "match", par_raw),
    "par_token": ("match", "match", par_token),
    "cr_chars": ("cr", "cr", cr_chars),
    "rouge": ("rouge", "rouge", rouge),
    "hits": ("retrieval", "by_answers", hits),
    "ranked": ("retrieval", "by_ids", ranked),
}


def _columns(*names: str) -> list[object]:
    import corpus
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column

    table = pa.Table.from_pylist(list(corpus.rows(ROWS)))
    return [Column(name, table[name].combine_chunks()) for name in names]


def _match(text: str, normalizer: str, outputs: tuple[str, ...]) -> Callable[[], object]:
    import numpy as np

    from odqa_fast._kernels.match import match

    columns = _columns(text, "answers")
    rule = _rule(normalizer)
    return lambda: match(*columns, rule, 0, ROWS, {name: np.empty(ROWS) for name in outputs})


def _rule(normalizer: str) -> MatchRule:
    from odqa_fast._kernels.match import MatchRule
    from odqa_fast.profiles import get_steps

    return MatchRule(
        get_steps(normalizer),
        "none",
        "v1",
        "best_by_f1",
        "null",
        "normalized",
        False,
        get_steps("squad"),
    )


def count(family: str, isa: str) -> int:
    """Instructions of one run of a family's kernel."""
    module, function, _ = FAMILIES[family]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--tool=callgrind",
            # The wrapper of the function: Cython numbers those of a module.
            f"--toggle-collect=*__pyx_pw_*_kernels*{module}_?{function}*",
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
        FAMILIES[arguments.run][2]()()
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

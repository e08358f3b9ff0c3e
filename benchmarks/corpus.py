"""Makes dumps of any size from a seed: questions, answers, five documents, a summary, a prediction.

    python benchmarks/corpus.py --rows 1000000 dump.jsonl      # about 3.5 GB
    python benchmarks/corpus.py --rows 1000000 dump.parquet

The texts are drawn words, so nothing in them means anything; their lengths are those of the field:
documents of about 100 words, summaries of about 40, answers and predictions of one to four.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

N_PASSAGES = 5_000
N_DOCUMENTS = 5
ROWS_PER_GROUP = 20_000


def words(rng: random.Random, count: int = 4_000) -> list[str]:
    syllables = [a + b for a in "bcdfghjklmnprstvz" for b in "aeiou"]
    drawn = {"".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(count)}
    return [word.capitalize() if rng.random() < 0.2 else word for word in sorted(drawn)]


def passage(rng: random.Random, pool: list[str]) -> str:
    text = rng.choices(pool, k=rng.randint(80, 120))
    for at in range(7, len(text), 9):
        text[at] += rng.choice([",", ".", ";", " the", " of a"])
    return " ".join(text) + "."


def rows(n_rows: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    rng = random.Random(seed)
    pool = words(rng)
    passages = [passage(rng, pool) for _ in range(N_PASSAGES)]
    titles = [" ".join(rng.choices(pool, k=2)).title() for _ in range(N_PASSAGES)]
    for at in range(n_rows):
        chosen = rng.choices(range(N_PASSAGES), k=N_DOCUMENTS)
        source = passages[chosen[0]].split()
        start = rng.randrange(len(source) - 4)
        answer = " ".join(source[start : start + rng.randint(1, 4)]).strip(",.;")
        answers = [answer, *(" ".join(rng.choices(pool, k=2)) for _ in range(rng.randint(0, 4)))]
        right = rng.random() < 0.5
        yield {
            "id": f"q{at:07d}",
            "question": f"what of {pool[at % len(pool)]}?",
            "answers": answers,
            "prediction": f"the {answer}" if right else " ".join(rng.choices(pool, k=3)),
            "documents": [{"title": titles[k], "text": passages[k]} for k in chosen],
            "summary": " ".join(source[max(0, start - 20) : start + 20]),
        }


def write_jsonl(path: Path, n_rows: int) -> None:
    with path.open("w", encoding="utf-8") as out:
        for row in rows(n_rows):
            out.write(json.dumps(row) + "\n")


def write_parquet(path: Path, n_rows: int) -> None:
    source = rows(n_rows)
    writer: pq.ParquetWriter | None = None
    for lo in range(0, n_rows, ROWS_PER_GROUP):
        group = [next(source) for _ in range(min(ROWS_PER_GROUP, n_rows - lo))]
        table = pa.Table.from_pylist(group)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    write = write_parquet if arguments.path.suffix == ".parquet" else write_jsonl
    write(arguments.path, arguments.rows)

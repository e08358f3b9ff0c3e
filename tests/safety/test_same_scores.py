"""Covers: one dump in every format, packing and cut. The columns of scores.parquet are the same.

Compared against: the scores of the plain JSON lines, byte for byte; their first rows by hand.
Run: pytest tests/safety/test_same_scores.py
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import COMMAND

import odqa_fast as oq

METRICS = ["em", "f1", "precision", "recall", "contains", "par", "par:token", "cr", "cr:words"]

#: Ends of lines, quotes and separators stand in texts too; no blanks at the ends of a cell.
WORDS = (
    'the Lake, victoria\'s 1,000 co-op "quoted" naïve ÉCOLE straße İstanbul οδυσσεύς ΟΔΥΣΣΕΥΣ '
    "中文 東京都 हिन्दी العربية e\u0301 \U0001f600 a\u00a0b x\u2028y \\n {} [1] 007 1e5 null"
).split(" ")


def rows(n: int = 3000) -> list[dict[str, Any]]:
    rng = random.Random(11)

    def text(most: int) -> str:
        words = rng.choices(WORDS, k=rng.randint(1, most))
        return rng.choice([" ", "\n", "\t"]).join(words)

    made: list[dict[str, Any]] = []
    for i in range(n):
        answers = [text(3) for _ in range(rng.randint(0, 3))]
        documents = [{"title": text(2), "text": text(30)} for _ in range(rng.randint(1, 4))]
        right = bool(answers) and rng.random() < 0.5
        made.append(
            {
                "id": f"q{i}",
                "prediction": f"The {answers[0]}" if right else text(4),
                "answers": answers,
                "documents": documents,
                "summary": f"{text(5)} {answers[0]}" if right else text(10),
            }
        )
    for i in range(50, n, 97):
        made[i]["answers"] = None
    for i in range(60, n, 89):
        made[i]["answers"] = [None, *(made[i]["answers"] or [])]
    for i in range(70, n, 83):
        made[i]["documents"] = None
    return made


ROWS = [
    {
        "id": "first",
        "prediction": "The Lake Victoria basin",
        "answers": ["lake victoria", "Oslo"],
        "documents": ["seen at Lake Victoria", "no"],
        "summary": "lake victoria",
    },
    *rows(),
]
for row in ROWS:
    if row["documents"] is not None:
        row["documents"] = [d if isinstance(d, dict) else {"text": d} for d in row["documents"]]
LINES = [json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS]
PLAIN = "".join(LINES).encode()
SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "prediction": pa.string(),
        "answers": pa.list_(pa.string()),
        "documents": pa.list_(pa.struct({"title": pa.string(), "text": pa.string()})),
        "summary": pa.string(),
    }
)
TABLE = pa.Table.from_pylist(ROWS, schema=SCHEMA)


def as_csv(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(SCHEMA.names)
    for row in ROWS:
        writer.writerow(
            "" if v is None else v if isinstance(v, str) else json.dumps(v) for v in row.values()
        )
    return out.getvalue().encode()


def as_parquet(table: pa.Table = TABLE, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def as_arrow(new: Callable[..., Any], table: pa.Table = TABLE) -> bytes:
    sink = io.BytesIO()
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=700)
    return sink.getvalue()


def dictionaries() -> pa.Table:
    """Texts as dictionaries, and texts and lists of the other layouts."""
    answers = TABLE["answers"].combine_chunks()
    return TABLE.set_column(1, "prediction", TABLE["prediction"].dictionary_encode()).set_column(
        2, "answers", answers.cast(pa.large_list(pa.large_string()))
    )


def views() -> pa.Table:
    return TABLE.set_column(1, "prediction", TABLE["prediction"].cast(pa.string_view()))


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


HALF = len("".join(LINES[:1000]).encode())
FORMS: dict[str, Callable[[], bytes]] = {
    "escaped": lambda: "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "CRLF and a mark": lambda: b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n"),
    "other order of keys": lambda: "".join(
        json.dumps(dict(reversed(row.items()))) + "\n" for row in ROWS
    ).encode(),
    "gz": lambda: gzip.compress(PLAIN),
    "gz of two members": lambda: gzip.compress(PLAIN[:HALF]) + gzip.compress(PLAIN[HALF:]),
    "zst": lambda: zstd(PLAIN),
    "zst of two frames": lambda: zstd(PLAIN[:HALF]) + zstd(PLAIN[HALF:]),
    "array": lambda: json.dumps(ROWS, ensure_ascii=False).encode(),
    "array over lines": lambda: json.dumps(ROWS, indent=2).encode(),
    "csv": lambda: as_csv(","),
    "csv.gz": lambda: gzip.compress(as_csv(",")),
    "tsv": lambda: as_csv("\t"),
    "parquet": lambda: as_parquet(row_group_size=400),
    "parquet without dictionaries": lambda: as_parquet(use_dictionary=False, compression="zstd"),
    "parquet of dictionaries": lambda: as_parquet(dictionaries(), row_group_size=900),
    "arrow": lambda: as_arrow(pa.ipc.new_file),
    "arrow of dictionaries": lambda: as_arrow(pa.ipc.new_file, dictionaries().unify_dictionaries()),
    "arrow of views": lambda: as_arrow(pa.ipc.new_file, views()),
    "arrow stream": lambda: as_arrow(pa.ipc.new_stream),
    "arrow stream.gz": lambda: gzip.compress(as_arrow(pa.ipc.new_stream)),
}


def scores_of(paths: Any, folder: Path, **options: Any) -> tuple[pa.Table, oq.ScoreTable]:
    result = oq.score_file(paths, METRICS, out=folder / "run", **options)
    return scores_in(folder / "run"), result


def scores_in(run: Path) -> pa.Table:
    """The rows of a run, but for where they stand in their files."""
    return pq.read_table(run / "scores.parquet").drop_columns(["source", "place"])


def same(one: pa.Table, other: pa.Table) -> bool:
    """Compare bits: equals() takes 0.0 for -0.0. What lies under a null is not looked at."""
    bits = [[c.to_numpy().tobytes() for c in t.columns[1:]] for t in (one, other)]
    return bool(one.equals(other)) and bits[0] == bits[1]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, oq.ScoreTable]:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "dump.jsonl").write_bytes(PLAIN)
    return scores_of(folder / "dump.jsonl", folder)


def test_the_first_row_by_hand(expected: tuple[pa.Table, oq.ScoreTable]) -> None:
    row = expected[0].slice(0, 1).to_pylist()[0]
    # {lake, victoria, basin} against {lake, victoria}.
    assert row["id"] == "first"
    assert (row["em"], row["precision"], row["recall"]) == (0.0, 2 / 3, 1.0)
    assert row["f1"] == pytest.approx(0.8, abs=1e-15)
    assert (row["contains"], row["par"], row["par:token"]) == (1.0, 1.0, 1.0)
    assert row["cr"] == len("lake victoria") / (len("seen at Lake Victoria") + len("no"))
    assert row["cr:words"] == 2 / (4 + 1)


@pytest.mark.parametrize("name", FORMS)
def test_every_form(name: str, expected: tuple[pa.Table, oq.ScoreTable], tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_bytes(FORMS[name]())
    table, result = scores_of(path, tmp_path)
    assert same(table, expected[0])
    assert result.means == expected[1].means
    assert result.counts == expected[1].counts
    assert result.signatures == expected[1].signatures


@pytest.mark.parametrize("threads", [1, 3])
def test_eight_shards_of_eight_forms(
    threads: int, expected: tuple[pa.Table, oq.ScoreTable], tmp_path: Path
) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    edges = [len(ROWS) * k // 8 for k in range(9)]
    for k in range(8):
        part = slice(edges[k], edges[k + 1])
        table = TABLE.slice(edges[k], edges[k + 1] - edges[k])
        lines = "".join(LINES[part]).encode()
        forms = [lines, gzip.compress(lines), zstd(lines), json.dumps(ROWS[part]).encode()]
        forms += [as_parquet(table), as_arrow(pa.ipc.new_file, table)]
        forms += [as_arrow(pa.ipc.new_stream, table), lines]
        (shards / f"part-{k}").write_bytes(forms[k])
    table, result = scores_of(shards, tmp_path, threads=threads)
    assert same(table, expected[0])
    assert result.means == expected[1].means
    assert result.counts == expected[1].counts


@pytest.mark.parametrize("name", ["gz", "csv", "array", "parquet", "arrow", "arrow stream"])
def test_standard_input(
    name: str, expected: tuple[pa.Table, oq.ScoreTable], tmp_path: Path
) -> None:
    command = [*COMMAND, "score", "-", "--metrics", ",".join(METRICS), "--out", tmp_path / "run"]
    done = subprocess.run(command, input=FORMS[name](), capture_output=True, check=True)
    assert same(scores_in(tmp_path / "run"), expected[0])
    means = {m: row["mean"] for m, row in json.loads(done.stdout)["metrics"].items()}
    assert means == expected[1].means

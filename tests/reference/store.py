"""Reads and writes reference records: Parquet in this folder, JSON lines in the shared folder."""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Record = dict[str, Any]

FOLDER = Path(__file__).resolve().parent
#: Holds all records, and the real data that the project may not quote; not part of the project.
SHARED = Path(os.environ.get("ODQA_FAST_SHARED") or FOLDER.parents[2] / "shared")

#: Marks a column whose cells are JSON texts.
JSON = {"encoding": "json"}
TEXT_TYPES = (pa.string(), pa.list_(pa.string()))


@cache
def records(file: str) -> list[Record]:
    """The records of one file of the project, then those that only the shared folder holds."""
    stored = read(FOLDER / f"{file}.parquet")
    ids = {record["id"] for record in stored}
    return stored + [record for record in shared_records(file) if record["id"] not in ids]


def shared_records(file: str) -> list[Record]:
    """All records of one file of the shared folder; none where that is missing."""
    plain = SHARED / "reference" / "vectors" / f"{file}.jsonl"
    packed = plain.with_suffix(".jsonl.gz")
    if plain.exists():
        content = plain.read_bytes()
    elif packed.exists():
        content = gzip.decompress(packed.read_bytes())
    else:
        return []
    return [json.loads(line) for line in content.split(b"\n") if line]


def read(path: Path) -> list[Record]:
    table = pq.read_table(path)
    columns = {}
    for field in table.schema:
        cells = table[field.name].to_pylist()
        if (field.metadata or {}).get(b"encoding") == b"json":
            cells = [None if cell is None else json.loads(cell) for cell in cells]
        columns[field.name] = (table[field.name].is_valid().to_pylist(), cells)
    return [
        {name: cells[row] for name, (there, cells) in columns.items() if there[row]}
        for row in range(table.num_rows)
    ]


def write(path: Path, found: list[Record]) -> None:
    """Writes records with a column for each key; a null cell is a key that the record lacks."""
    names = dict.fromkeys(name for record in found for name in record)
    columns = {
        name: _column([r.get(name) for r in found], [name in r for r in found]) for name in names
    }
    fields = [pa.field(name, c.type, metadata=m) for name, (c, m) in columns.items()]
    table = pa.table([column for column, _ in columns.values()], pa.schema(fields))
    pq.write_table(table, path, compression="zstd", compression_level=19, write_statistics=False)


def _column(cells: list[Any], there: list[bool]) -> tuple[pa.Array, dict[str, str] | None]:
    """Texts and lists of texts as such, if Arrow returns them unchanged; else as JSON.

    JSON keeps what Arrow's types do not: lone surrogates, whole numbers apart from floats, keys
    that some objects lack, values of several types. Python writes a float so that it reads back
    to the same bits.
    """
    for kind in TEXT_TYPES:
        try:
            column = pa.array(cells, kind)
        except (pa.ArrowException, UnicodeEncodeError):
            continue
        if column.to_pylist() == cells and column.is_valid().to_pylist() == there:
            return column, None
    texts = [json.dumps(cell, separators=(",", ":")) for cell in cells]
    return pa.array(texts, pa.string(), mask=[not each for each in there]), JSON

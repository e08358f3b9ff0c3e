"""Which reference records the project holds: none made of the real data sets."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from reference.store import FOLDER, SHARED, Record, read, shared_records

#: Kinds of records that are made of the real data sets.
REAL_KINDS = ("real*", "curated*", "summary", "dpr_topk")
#: Characters from which on a text may not stand in the data: shorter ones are common words.
SHORTEST = 8

Files = dict[str, list[Record]]


def stored() -> Files:
    """All records that the project holds, by file."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.parquet"))}


def shared() -> Files:
    """All records of the shared folder, by file."""
    folder = SHARED / "reference" / "vectors"
    names = sorted(path.name.partition(".")[0] for path in folder.glob("*.jsonl*"))
    return {name: shared_records(name) for name in names}


def is_real(record: Record) -> bool:
    return any(fnmatchcase(record["kind"], pattern) for pattern in REAL_KINDS)


def texts(value: Any) -> Iterator[str]:
    """Every text in a value, at any depth, but for the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def long_texts(record: Record) -> set[str]:
    """Inputs and results of a record that are long enough to be looked for in the data."""
    content = [value for key, value in record.items() if key not in ("id", "kind")]
    return {text for text in texts(content) if len(text) >= SHORTEST}


def data_texts(folder: Path) -> set[str]:
    """Every text of the data sets: questions, answers, passages, predictions."""
    found: set[str] = set()
    for path in sorted(folder.glob("*.parquet")):
        for column in pq.read_table(path).columns:
            found.update(texts(column.to_pylist()))
    return found


def standing_in(data: Iterable[str], candidates: Iterable[str]) -> set[str]:
    """The candidates, each of `SHORTEST` characters or more, that are part of a text of the data.

    One pass over the data: at each place, the candidates with the same first characters are tried.
    """
    by_start = defaultdict(list)
    for candidate in candidates:
        by_start[candidate[:SHORTEST]].append(candidate)
    found: set[str] = set()
    for text in data:
        for place in range(len(text) - SHORTEST + 1):
            for candidate in by_start.get(text[place : place + SHORTEST], ()):
                if text.startswith(candidate, place):
                    found.add(candidate)
    return found


def quoted(*given: Files) -> set[str]:
    """The long texts of these records that stand in the data."""
    found = chain.from_iterable(chain.from_iterable(files.values()) for files in given)
    candidates = {text for record in found if not is_real(record) for text in long_texts(record)}
    return standing_in(data_texts(SHARED / "data"), candidates)


def select(given: Files, quotes: set[str]) -> Files:
    """The records that the project holds of those given."""
    return {
        file: [r for r in found if not is_real(r) and quotes.isdisjoint(long_texts(r))]
        for file, found in given.items()
    }


def differences(held: Files, given: Files) -> list[str]:
    """What is wrong with the project's records, one line each.

    A record of a real kind, one that quotes the data, one that is not the shared folder's to the
    last bit, and one that the project lacks.
    """
    quotes = quoted(held, given)
    wanted = {
        file: {r["id"]: exact(r) for r in found} for file, found in select(given, quotes).items()
    }
    wrong = []
    for file, found in held.items():
        expected = wanted.pop(file, {})
        for record in found:
            if is_real(record):
                wrong.append(f"{record['id']} is of the kind {record['kind']}")
            elif quotes & long_texts(record):
                wrong.append(f"{record['id']} quotes the data: {quotes & long_texts(record)}")
            elif expected.pop(record["id"], None) != exact(record):
                wrong.append(f"{record['id']} is not the record of the shared folder")
        wrong.extend(f"{name} is missing" for name in expected)
    return wrong + [f"{file}.parquet is missing" for file in wanted]


def exact(record: Record) -> dict[str, str]:
    """A record so that equal is equal to the last bit, the type and the order of keys."""
    return {key: json.dumps(value) for key, value in record.items()}

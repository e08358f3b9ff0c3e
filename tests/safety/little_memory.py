"""Scores one long row with little memory left, says what came: `python little_memory.py METRIC`.

`METRIC` may also be `normalize` or `tokenize`: the functions of that name.
"""

from __future__ import annotations

import resource
import sys
from typing import Any

import pyarrow as pa

import odqa_fast as oq

#: Of the text, and of what may be taken beside it: each kernel needs at least twice the text.
TEXT_BYTES, ROOM = 9 << 20, 16 << 20


def address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def dump(words: list[str]) -> dict[str, Any]:
    """One row: the words as one text, and as a list of ids."""
    texts = pa.array([" ".join(words)], pa.large_string())
    lists = pa.LargeListArray.from_arrays(pa.array([0, 1]), texts)
    ids = pa.LargeListArray.from_arrays(pa.array([0, len(words)]), pa.array(words))
    document = pa.StructArray.from_arrays([ids.flatten(), ids.flatten()], ["text", "id"])
    documents = pa.LargeListArray.from_arrays(ids.offsets, document)
    return {
        "prediction": texts, "answers": lists, "documents": documents, "relevant_ids": ids,
        "evidence": pa.LargeListArray.from_arrays(pa.array([0, 1]), ids), "summary": texts,
    }  # fmt: skip


def run(what: str, data: dict[str, Any]) -> None:
    if what in ("normalize", "tokenize"):
        getattr(oq, what)(data["prediction"][0].as_py(), "squad")
    else:
        oq.score(data, metrics=[what], threads=1)


def main(what: str) -> None:
    run(what, dump(["a", "b"]))
    data = dump([f"a{number} é" for number in range(TEXT_BYTES // 11)])
    limit = address_space() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        run(what, data)
    except MemoryError:
        sys.stdout.write("MemoryError\n")
    else:
        sys.stdout.write("scored\n")


if __name__ == "__main__":
    main(sys.argv[1])

"""TREC runs: the documents that were retrieved for a query, one a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from odqa_fast.errors import DataError
from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source
from odqa_fast.io.trec import (
    Form,
    Numbers,
    drop_repeats,
    group_edges,
    make_query_batch,
    number_groups,
    read_lines,
)

NAME = "run"

#: A run up to this size in memory is held, so that the lines of a query may stand anywhere, as
#: trec_eval reads them: about 20 million lines. Of a larger one they must stand together, for
#: only then can it be read at all without holding it.
HELD_BYTES = 1 << 30

#: So many lines of a held run are made into rows at a time.
_LINES_OUT = 1 << 17

_FORM = Form(("query", "Q0", "document", "rank", "score", "tag"), "score", pa.float64(), True)


def sniff(head: Head) -> Fit:
    """Tell the format by its lines: most have a rank and a score in their places."""
    n_lines = sum(map(_is_line, head.lines))
    return Fit.CONTENT if n_lines > len(head.lines) // 2 else Fit.NO


def _is_line(line: bytes) -> bool:
    """Tell whether a line could be one of a run."""
    fields = line.split()
    try:
        int(fields[3]), float(fields[4])
    except (IndexError, ValueError):
        return False
    return len(fields) >= len(_FORM.fields)


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield `id` and `documents` (`id`, `score`; `text` null) of a run, a row for each query.

    Queries stand in the order of their first lines. A run of up to `HELD_BYTES` is held.

    Args:
        source: decompressed bytes, after the byte order mark.
        intake: options, counts, refusals; a row of it is a line.
        found: grows by the names of the columns.

    Raises:
        DataError: in a larger run the lines of a query do not stand together.
    """
    found.update(("id", "documents"))
    seen: set[str] = set()
    for lines in _whole_queries(_bring_together(read_lines(source, intake, _FORM))):
        groups = number_groups(lines)
        _check_new(lines, groups, seen, intake.file)
        lines, groups = drop_repeats(lines, groups, intake)
        fields = {
            "text": pa.nulls(lines.num_rows, pa.string()),
            "id": lines.column("document"),
            "score": lines.column("score"),
        }
        documents = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
        edges = pa.array(group_edges(groups))
        firsts = _take_firsts(lines, groups)
        columns = {
            "id": firsts.column("query"),
            "documents": pa.LargeListArray.from_arrays(edges, documents),
        }
        yield make_query_batch(columns, firsts.column("line"), intake)


def _bring_together(blocks: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass lines on, those of one query together; as they come where the run is too large."""
    held: list[pa.RecordBatch] = []
    size = 0
    for lines in blocks:
        held.append(lines)
        size += lines.nbytes
        if size > HELD_BYTES:
            break
    else:
        if _are_mixed(held):
            lines = pa.concat_batches(held)
            held.clear()
            queries = lines.column("query").dictionary_encode().indices
            order = np.argsort(np.from_dlpack(queries), kind="stable")
            for start in range(0, len(order), _LINES_OUT):
                yield lines.take(pa.array(order[start : start + _LINES_OUT]))
    held.reverse()
    while held:
        yield held.pop()
    yield from blocks


def _are_mixed(blocks: list[pa.RecordBatch]) -> bool:
    """Whether a query comes back after another one."""
    firsts = [_take_firsts(lines, number_groups(lines)).column("query") for lines in blocks]
    # A block may begin with the query that the one before ends with.
    goes_on = sum(a[-1] == b[0] for a, b in pairwise(firsts))
    return bool(firsts) and sum(map(len, firsts)) - goes_on > len(pa.chunked_array(firsts).unique())


def _take_firsts(lines: pa.RecordBatch, groups: Numbers) -> pa.RecordBatch:
    return lines.take(pa.array(group_edges(groups)[:-1]))


def _whole_queries(blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cut between queries instead of blocks."""
    held: list[pa.RecordBatch] = []
    for lines in blocks:
        last = int(group_edges(number_groups(lines))[-2])
        goes_on = held and held[-1].column("query")[-1] == lines.column("query")[0]
        if last or (held and not goes_on):
            yield pa.concat_batches([*held, lines.slice(0, last)])
            held = []
        held.append(lines.slice(last))
    if held:
        yield pa.concat_batches(held)


def _check_new(lines: pa.RecordBatch, groups: Numbers, seen: set[str], file: str) -> None:
    first_lines = _take_firsts(lines, groups)
    for at, query in enumerate(first_lines.column("query").to_pylist()):
        if query in seen:
            raise DataError(
                f"query {query!r} comes back after other queries, and the run takes more than "
                f"{HELD_BYTES >> 20} MiB of memory.",
                where=f"{file}, line {first_lines.column('line')[at]}",
                hint="Bring its lines together, e.g. by sort -s -k1,1.",
            )
        seen.add(query)

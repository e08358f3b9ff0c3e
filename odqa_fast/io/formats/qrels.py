"""TREC judgements: how relevant a document is to a query, one a line; also BEIR's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from odqa_fast.io.formats import Fit, Head
from odqa_fast.io.options import Intake
from odqa_fast.io.source import Source
from odqa_fast.io.trec import Form, concat, drop_repeats, group_edges, make_query_batch, read_lines

NAME = "qrels"

_TREC = Form(("query", "iteration", "document", "relevance"), "relevance", pa.int32())
_BEIR = Form(
    ("query", "document", "relevance"),
    "relevance",
    pa.int32(),
    header=(b"query-id", b"corpus-id", b"score"),
)


def sniff(head: Head) -> Fit:
    """Leave it to be asked for: words and a number at the end may be any text."""
    return Fit.NO


def read(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield `id`, `relevant_ids` and `relevance` of judgements, a row for each query, in any order.

    Arguments as for `run.read`. The whole file is held.
    """
    found.update(("id", "relevant_ids", "relevance"))
    first_line = source.peek(80).partition(b"\n")[0]
    form = _BEIR if tuple(first_line.split()) == _BEIR.header else _TREC
    lines = concat(list(read_lines(source, intake, form)))
    if lines is None:
        return
    queries = lines.column("query").dictionary_encode()
    groups = np.from_dlpack(queries.indices).astype(np.int64)
    lines, groups = drop_repeats(lines, groups, intake)
    order = pa.array(np.argsort(groups, kind="stable"))
    edges = pa.array(group_edges(groups))
    judged = lines.column("document").take(order), lines.column("relevance").take(order)
    yield make_query_batch(
        {
            "id": queries.dictionary,
            "relevant_ids": pa.LargeListArray.from_arrays(edges, judged[0]),
            "relevance": pa.LargeListArray.from_arrays(edges, judged[1]),
        },
        lines.column("line").take(order).take(edges.slice(0, len(edges) - 1)),
        intake,
    )

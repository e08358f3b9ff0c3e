"""TREC runs and judgements (qrels): one line for each document of a query.

Read as trec_eval 9 (NIST) reads them: fields between white space, blank lines and lines that begin
with `#` skipped, the rank field not looked at, a document that stands twice for a query an error.
Judgements may also be BEIR's: three fields under a header (query-id, corpus-id, score).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from odqa_fast.errors import DataError
from odqa_fast.io.canonical import Refusals
from odqa_fast.io.coerce import BadValueError, Values
from odqa_fast.io.ids import hashed
from odqa_fast.io.jsonl import line_blocks
from odqa_fast.io.options import Intake
from odqa_fast.io.prefetch import Promise, ahead
from odqa_fast.io.source import Source

Numbers = npt.NDArray[np.int64]

#: A run up to this size in memory is held, so that the lines of a query may stand anywhere, as
#: trec_eval reads them: about 20 million lines. Of a larger one they must stand together, for
#: only then can it be read at all without holding it.
HELD_BYTES = 1 << 30

#: So many lines of a held run are made into rows at a time.
_LINES_OUT = 1 << 17


@dataclass(frozen=True)
class _Form:
    """What the fields of a line are; `number` is the one that is kept beside query and document."""

    fields: tuple[str, ...]
    number: str
    number_type: pa.DataType
    #: Whether further fields may follow, of which nothing is made.
    may_go_on: bool = False
    #: The fields of the first line, where that is none of data.
    header: tuple[bytes, ...] = ()

    @property
    def kept(self) -> pa.Schema:
        return pa.schema(
            [("line", pa.int64()), *_NAMES.items(), (self.number, self.number_type)]
        )  # fmt: skip


# Large, because a whole file of judgements becomes one array.
_NAMES = {"query": pa.large_string(), "document": pa.large_string()}
_RUN = _Form(("query", "Q0", "document", "rank", "score", "tag"), "score", pa.float64(), True)
_QRELS = _Form(("query", "iteration", "document", "relevance"), "relevance", pa.int32())
_BEIR = _Form(
    ("query", "document", "relevance"),
    "relevance",
    pa.int32(),
    header=(b"query-id", b"corpus-id", b"score"),
)


def is_run_line(line: bytes) -> bool:
    """Tell whether a line could be one of a run."""
    fields = line.split()
    try:
        int(fields[3]), float(fields[4])
    except (IndexError, ValueError):
        return False
    return len(fields) >= len(_RUN.fields)


def read_run(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
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
    for lines in _whole_queries(_brought_together(_lines(source, intake, _RUN))):
        groups = _groups(lines)
        _check_new(lines, groups, seen, intake.file)
        lines, groups = _without_repeats(lines, groups, intake)
        fields = {
            "text": pa.nulls(lines.num_rows, pa.string()),
            "id": lines.column("document"),
            "score": lines.column("score"),
        }
        documents = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
        edges = _edges(groups)
        yield _chosen(
            {
                "id": lines.column("query").take(pa.array(edges[:-1])),
                "documents": pa.LargeListArray.from_arrays(pa.array(edges), documents),
            },
            intake,
        )


def read_qrels(source: Source, intake: Intake, found: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield `id`, `relevant_ids` and `relevance` of judgements, a row for each query, in any order.

    Arguments as for `read_run`. The whole file is held.
    """
    found.update(("id", "relevant_ids", "relevance"))
    first_line = source.peek(80).partition(b"\n")[0]
    form = _BEIR if tuple(first_line.split()) == _BEIR.header else _QRELS
    lines = _one(list(_lines(source, intake, form)))
    if lines is None:
        return
    queries = lines.column("query").dictionary_encode()
    groups = np.from_dlpack(queries.indices).astype(np.int64)
    lines, groups = _without_repeats(lines, groups, intake)
    order = pa.array(np.argsort(groups, kind="stable"))
    edges = pa.array(_edges(groups))
    judged = lines.column("document").take(order), lines.column("relevance").take(order)
    yield _chosen(
        {
            "id": queries.dictionary,
            "relevant_ids": pa.LargeListArray.from_arrays(edges, judged[0]),
            "relevance": pa.LargeListArray.from_arrays(edges, judged[1]),
        },
        intake,
    )


def _chosen(columns: dict[str, pa.Array], intake: Intake) -> pa.RecordBatch:
    wanted = {name: column for name, column in columns.items() if name in intake.options.columns}
    return pa.RecordBatch.from_arrays(list(wanted.values()), names=list(wanted))


def _lines(source: Source, intake: Intake, form: _Form) -> Iterator[pa.RecordBatch]:
    """Yield the good lines, block by block: number in the file, query, document, number."""

    def start(part: tuple[int, bytes]) -> Promise:
        return intake.submit(_parse, *part, form)

    blocks = line_blocks(source, intake)
    for (first, block), parsing in ahead(blocks, start, intake.depth, lambda part: len(part[1])):
        lines = parsing.result() if parsing is not None else None
        if lines is None:
            lines = _slowly(first, block, form, intake)
        else:
            intake.counts.rows_read += lines.num_rows
        if lines.num_rows:
            yield lines


def _parse(first: int, block: bytes, form: _Form) -> pa.RecordBatch | None:
    """Parse a block by pyarrow, which knows one delimiter; None where that might not be all."""
    gap, other = (b"\t", b" ") if b"\t" in block else (b" ", b"\t")
    if any(space in block for space in (other, b"\v", b"\f")):
        return None
    if b"#" in block and (block.startswith(b"#") or b"\n#" in block):
        return None
    kept = {**_NAMES, form.number: form.number_type}
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(block),
            pa.csv.ReadOptions(
                use_threads=False, block_size=len(block) + 1, column_names=form.fields
            ),
            pa.csv.ParseOptions(delimiter=gap.decode(), quote_char=False),
            pa.csv.ConvertOptions(
                column_types={**dict.fromkeys(form.fields, pa.binary()), **kept}, null_values=[]
            ),
        )
    except Refusals:
        return None
    # Blank lines would shift the numbers, and a bare CR ends a line for pyarrow alone.
    if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    texts = (table.column(name) for name in form.fields if name != form.number)
    if any(pc.min(pc.binary_length(column)).as_py() == 0 for column in texts):
        # Two delimiters in a row are one.
        return None
    if form.number == "score" and pc.any(pc.is_nan(table.column("score"))).as_py():
        return None
    numbers = pa.array(np.arange(first, first + table.num_rows))
    return _one(table.select(list(kept)).add_column(0, "line", [numbers]).to_batches())


def _slowly(first: int, block: bytes, form: _Form, intake: Intake) -> pa.RecordBatch:
    """Parse line by line and refuse bad lines."""
    values = Values(replace=intake.options.encoding_errors == "replace")
    rows = []
    for number, line in enumerate(block.split(b"\n"), first):
        line = line.strip()
        if not line or line.startswith(b"#"):
            continue
        if number == 1 and form.header and tuple(line.split()) == form.header:
            continue
        intake.counts.rows_read += 1
        try:
            rows.append((number, *_parse_line(line, form, values)))
        except BadValueError as error:
            intake.refuse(str(error), line=number, text=line)
        intake.counts.replaced_encodings += values.replaced
        values.replaced = False
    columns = zip(*rows, strict=True) if rows else [()] * len(form.kept)
    arrays = [pa.array(column, f.type) for column, f in zip(columns, form.kept, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=form.kept)


def _parse_line(
    line: bytes, form: _Form, values: Values
) -> tuple[str | None, str | None, float | int]:
    fields = line.split(maxsplit=len(form.fields))
    short, long = len(fields) < len(form.fields), len(fields) > len(form.fields)
    if short or (long and not form.may_go_on):
        raise BadValueError(
            f"{len(line.split())} fields, but a line has {len(form.fields)}: "
            f"{', '.join(form.fields)}"
        )
    by_name = dict(zip(form.fields, fields, strict=False))
    names = [values.text(by_name[name]) for name in _NAMES]
    return names[0], names[1], _number(by_name[form.number], form)


def _number(text: bytes, form: _Form) -> float | int:
    """A number as C writes it: no `_`, which Python takes."""
    whole = pa.types.is_integer(form.number_type)
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        number = math.nan
    if b"_" in text or math.isnan(number) or (whole and not -(2**31) <= number < 2**31):
        kind = "a whole number of at most 32 bits" if whole else "a number"
        shown = text[:40].decode(errors="replace")
        raise BadValueError(f"the {form.number} must be {kind}, but is {shown!r}")
    return number


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch | None:
    return pa.concat_batches(batches) if len(batches) > 1 else next(iter(batches), None)


def _brought_together(blocks: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
    firsts = [lines.take(pa.array(_edges(_groups(lines))[:-1])).column("query") for lines in blocks]
    # A block may begin with the query that the one before ends with.
    goes_on = sum(a[-1] == b[0] for a, b in pairwise(firsts))
    return bool(firsts) and sum(map(len, firsts)) - goes_on > len(pa.chunked_array(firsts).unique())


def _whole_queries(blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cut between queries instead of blocks."""
    held: list[pa.RecordBatch] = []
    for lines in blocks:
        last = int(_edges(_groups(lines))[-2])
        goes_on = held and held[-1].column("query")[-1] == lines.column("query")[0]
        if last or (held and not goes_on):
            yield pa.concat_batches([*held, lines.slice(0, last)])
            held = []
        held.append(lines.slice(last))
    if held:
        yield pa.concat_batches(held)


def _groups(lines: pa.RecordBatch) -> Numbers:
    """For each line which query it is of, counted from 0 at the first line."""
    queries = lines.column("query")
    changes = pc.not_equal(queries.slice(1), queries.slice(0, len(queries) - 1))
    groups = np.zeros(len(queries), np.int64)
    np.cumsum(changes.to_numpy(zero_copy_only=False), out=groups[1:])
    return groups


def _check_new(lines: pa.RecordBatch, groups: Numbers, seen: set[str], file: str) -> None:
    first_lines = lines.take(pa.array(_edges(groups)[:-1]))
    for at, query in enumerate(first_lines.column("query").to_pylist()):
        if query in seen:
            raise DataError(
                f"query {query!r} comes back after other queries, and the run takes more than "
                f"{HELD_BYTES >> 20} MiB of memory.",
                where=f"{file}, line {first_lines.column('line')[at]}",
                hint="Bring its lines together, e.g. by sort -s -k1,1.",
            )
        seen.add(query)


def _without_repeats(
    lines: pa.RecordBatch, groups: Numbers, intake: Intake
) -> tuple[pa.RecordBatch, Numbers]:
    """Refuse lines whose document stands in an earlier line of the same group."""
    documents = lines.column("document")
    # An odd factor sends no two groups to one number, so equal keys of one document are repeats.
    keys = hashed(documents) ^ (groups * np.int64(0x9E3779B97F4A7C15 - 2**64))
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return lines, groups
    keep = np.ones(len(groups), bool)
    met: set[tuple[int, str]] = set()
    for row in np.flatnonzero(np.isin(keys, again)).tolist():
        name = documents[row].as_py()
        if (groups[row], name) in met:
            query = lines.column("query")[row].as_py()
            keep[row] = False
            intake.refuse(
                f"document {name!r} stands a second time for query {query!r}",
                line=lines.column("line")[row].as_py(),
            )
        met.add((groups[row], name))
    return lines.filter(pa.array(keep)), groups[keep]


def _edges(groups: Numbers) -> Numbers:
    """Offsets of lists that hold the rows of each group, where these stand together."""
    return np.concatenate([[0], np.cumsum(np.bincount(groups))])

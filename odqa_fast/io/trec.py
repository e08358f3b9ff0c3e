"""Lines of TREC runs and judgements (qrels): one for each document of a query.

Read as trec_eval 9 (NIST) reads them: fields between white space, blank lines and lines that begin
with `#` skipped, the rank field not looked at, a document that stands twice for a query an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from odqa_fast.io.canonical import Refusals
from odqa_fast.io.coerce import BadValueError, Values
from odqa_fast.io.ids import hash_texts
from odqa_fast.io.line_blocks import cut_lines
from odqa_fast.io.options import Intake
from odqa_fast.io.places import place_columns
from odqa_fast.io.prefetch import Promise, work_ahead
from odqa_fast.io.source import Source

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Form:
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
        """What is kept of a line, and its number in the file."""
        return pa.schema(
            [("line", pa.int64()), *_NAMES.items(), (self.number, self.number_type)]
        )  # fmt: skip


# Large, because a whole file of judgements becomes one array.
_NAMES = {"query": pa.large_string(), "document": pa.large_string()}


def make_query_batch(
    columns: dict[str, pa.Array], first_lines: pa.Array, intake: Intake
) -> pa.RecordBatch:
    """Make a batch of those columns that are asked for; the lines are the rows' places."""
    wanted = {name: column for name, column in columns.items() if name in intake.options.columns}
    wanted |= place_columns(first_lines, intake)
    return pa.RecordBatch.from_arrays(list(wanted.values()), names=list(wanted))


def read_lines(source: Source, intake: Intake, form: Form) -> Iterator[pa.RecordBatch]:
    """Yield the good lines, block by block: number in the file, query, document, number."""

    def start(part: tuple[int, bytes]) -> Promise:
        return intake.submit(_parse, *part, form)

    blocks = cut_lines(source, intake)
    for (first, block), parsing in work_ahead(
        blocks, start, intake.depth, lambda part: len(part[1])
    ):
        lines = parsing.result() if parsing is not None else None
        if lines is None:
            lines = _slowly(first, block, form, intake)
        else:
            intake.counts.rows_read += lines.num_rows
        if lines.num_rows:
            yield lines


def _parse(first: int, block: bytes, form: Form) -> pa.RecordBatch | None:
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
    return concat(table.select(list(kept)).add_column(0, "line", [numbers]).to_batches())


def _slowly(first: int, block: bytes, form: Form, intake: Intake) -> pa.RecordBatch:
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
    line: bytes, form: Form, values: Values
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


def _number(text: bytes, form: Form) -> float | int:
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


def concat(batches: list[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Make one batch of several; None of none."""
    return pa.concat_batches(batches) if len(batches) > 1 else next(iter(batches), None)


def number_groups(lines: pa.RecordBatch) -> Numbers:
    """For each line which query it is of, counted from 0 at the first line."""
    queries = lines.column("query")
    changes = pc.not_equal(queries.slice(1), queries.slice(0, len(queries) - 1))
    groups = np.zeros(len(queries), np.int64)
    np.cumsum(changes.to_numpy(zero_copy_only=False), out=groups[1:])
    return groups


def drop_repeats(
    lines: pa.RecordBatch, groups: Numbers, intake: Intake
) -> tuple[pa.RecordBatch, Numbers]:
    """Refuse lines whose document stands in an earlier line of the same group."""
    documents = lines.column("document")
    # An odd factor sends no two groups to one number, so equal keys of one document are repeats.
    keys = hash_texts(documents) ^ (groups * np.int64(0x9E3779B97F4A7C15 - 2**64))
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


def group_edges(groups: Numbers) -> Numbers:
    """Offsets of lists that hold the rows of each group, where these stand together."""
    return np.concatenate([[0], np.cumsum(np.bincount(groups))])

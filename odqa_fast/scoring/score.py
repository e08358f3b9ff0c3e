"""`score` for data in memory, `score_file` for dumps on disk."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import pyarrow as pa

from odqa_fast.diagnosis import DiagnoseOptions
from odqa_fast.errors import OdqaError, OdqaWarning, SchemaError
from odqa_fast.io import Data, Dump, ReadOptions, open_dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.ids import RepeatCounter
from odqa_fast.io.input_paths import Paths
from odqa_fast.io.join import Duplicates, Join, Missing
from odqa_fast.io.names import naming_hint
from odqa_fast.io.output_paths import output_folder
from odqa_fast.io.reading import DumpOptions, Read
from odqa_fast.io.write import RunWriter, summary_of
from odqa_fast.metrics.resources import Resources
from odqa_fast.profiles import DEFAULT_PROFILE, Profile
from odqa_fast.scores import ScoreTable
from odqa_fast.scoring.aggregate import Aggregate
from odqa_fast.scoring.columns import score_rows, scores_schema, scores_table
from odqa_fast.scoring.executor import run
from odqa_fast.scoring.failed import Failed
from odqa_fast.scoring.inputs import Inputs, Joined
from odqa_fast.scoring.notes import notes_on
from odqa_fast.scoring.plan import Plan, make_plan
from odqa_fast.scoring.workers import Workers

DEFAULT_METRICS = ("em", "f1")


def score(
    data: object,
    metrics: Sequence[str] | str = DEFAULT_METRICS,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    mapping: Mapping[str, str] | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    where: Mapping[str, str] | None = None,
    threads: int | None = None,
    failed: Failed = "zero",
    diagnosis: DiagnoseOptions | None = None,
    resources: Resources | None = None,
) -> ScoreTable:
    """Scores data in memory.

    Args:
        data: anything with the Arrow capsule methods (pyarrow, polars, DuckDB, pandas), a data set
            of Hugging Face or pyarrow, a LazyFrame of polars, a dict of columns, a list of rows,
            or an iterable of record batches; the columns are those of `odqa_fast.schema.SAMPLES`
            or their common other names.
        metrics: ids with options, e.g. `"f1"`, `"par:token"`, `"f1:triviaqa"`.
        profile: which reference scorer to equal, unless a metric names its own.
        mapping: canonical name -> name in the data, for any other name.
        on_error: `fail` stops at the first bad row, `skip` leaves bad rows out and counts them.
        where: name in the data -> value: only rows with this value are scored, others are counted.
        threads: how many; by default `ODQA_FAST_THREADS`, else all processors, but no more than
            `OMP_NUM_THREADS`. No more start than there are processors, or 16. The number changes
            no bit.
        failed: what a row counts that lacks a prediction or summary because a model failed
            (`reader_error`, `compressor_error`): as any that lacks it (`zero`), or in no mean.
        diagnosis: also say of each row what was retrieved, kept and answered; see `diagnose`.
        resources: what some metrics need beside the data, e.g. a model.

    Returns:
        A ScoreTable whose table has one row per sample, in order.

    Raises:
        MetricError, ProfileError: an unknown or repeated name.
        SchemaError: a column is missing or of a type that cannot hold what it should; documents
            have no text and a metric looks into them.
        DataError: a value is bad; names row and column.
        ModelError, EngineError: a model that a metric needs cannot be opened.
    """
    plan = make_plan(metrics, profile, diagnosis, resources, failed)
    reading = DumpOptions(dict(mapping or {}), on_error, dict(where or {}))
    aggregate, repeats = Aggregate(plan), RepeatCounter()
    kept = []
    with Workers(threads) as workers:
        source = Data(data, reading.reading({*plan.columns, "id"}), workers.submit, workers.depth)
        batches = _checked(source, plan, [source])
        for scored in run(batches, plan, workers):
            aggregate.add(scored)
            if scored.ids is not None:
                repeats.add(scored.ids)
            kept.append(scored.without_inputs())
    read = Read.of(source)
    counts = {**read.counts, **aggregate.counts, "duplicate_ids": repeats.repeats()}
    notes = [*notes_on(counts, repeated=repeats.first), *read.notes]
    result = _result(aggregate, counts, notes, read.tags)
    _warn(result)
    return replace(result, make_table=lambda: scores_table(kept, plan))


def diagnose(
    data: object,
    metrics: Sequence[str] | str = DEFAULT_METRICS,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    top_k: int | None = None,
    evidence: Literal["token", "raw", "normalized", "regex"] = "token",
    answered: Literal["em", "contains", "em:regex", "contains:regex"] = "em",
    mapping: Mapping[str, str] | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    where: Mapping[str, str] | None = None,
    threads: int | None = None,
    resources: Resources | None = None,
) -> ScoreTable:
    """Scores data in memory and says where rows went wrong: in retrieval, compression or reading.

    Args:
        data: as for `score`; needs `documents`, `answers` and `prediction`. Of a row
            without a `summary` nothing is said of compression.
        metrics: as for `score`.
        profile: as for `score`; also decides what is answered.
        top_k: how many of the documents count as retrieved; all by default.
        evidence: when a document or summary holds an answer; see `hit@k` and `par`.
        answered: the metric that must be 1 for a row to be answered.
        mapping: as for `score`.
        on_error: as for `score`.
        where: as for `score`.
        threads: as for `score`.
        resources: as for `score`.

    Returns:
        A ScoreTable whose `diagnosis` has the cells, and whose table has for each row its label
        and where its first evidence is.

    Raises:
        As `score`.
    """
    options = DiagnoseOptions(top_k, evidence, answered)
    return score(
        data,
        metrics,
        profile,
        mapping=mapping,
        on_error=on_error,
        where=where,
        threads=threads,
        diagnosis=options,
        resources=resources,
    )


def score_file(
    paths: Paths,
    metrics: Sequence[str] | str = DEFAULT_METRICS,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    answers: Paths | None = None,
    qrels: Paths | None = None,
    out: str | os.PathLike[str] | None = None,
    keep: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    on_error: Literal["fail", "skip"] = "fail",
    encoding_errors: Literal["fail", "replace"] = "fail",
    duplicates: Duplicates = "error",
    missing: Missing | None = None,
    join: Join = "auto",
    where: Mapping[str, str] | None = None,
    max_line_bytes: int = 1 << 29,
    threads: int | None = None,
    failed: Failed = "zero",
    diagnosis: DiagnoseOptions | None = None,
    resources: Resources | None = None,
    progress: Callable[[Dump], None] | None = None,
) -> ScoreTable:
    """Scores a dump from disk in batches; memory does not grow with it.

    Args:
        paths: a file, a folder, a glob or several of them; `-` is standard input. A TREC run is a
            dump as well; in one that takes more than 1 GiB of memory (about 20 million lines) the
            lines of a query must stand together.
        metrics: as for `score`.
        profile: as for `score`.
        answers: a second dump with what comes with the questions (gold answers, documents, ...):
            it counts, whatever `paths` has of these. It is held in memory, up to 4 GiB.
        qrels: TREC judgements instead of `answers`: they are the relevant ids, whatever the dump
            has of these.
        out: a folder for `scores.parquet` (per row), `summary.json` and `rejected.jsonl`; it
            appears whole or not at all, and replaces an older run whole.
        keep: canonical columns of the dump to stand in `scores.parquet` beside the scores.
        mapping: as for `score`; with `answers`, a name may be in either dump, but that of the
            prediction is one of `paths`.
        on_error: `fail` stops at the first bad row, `skip` writes it to `rejected.jsonl`.
        encoding_errors: whether bytes that are not UTF-8 are bad or become U+FFFD.
        duplicates: an id that stands twice with other content in a join: `error`, `keep-first`,
            `keep-last` or `all`; `merge` puts the golds of several rows together.
        missing: whether answers or judgements whose id no row of `paths` has count 0 (`zero`, the
            default) or in no mean (`null`).
        join: what rows are joined by: `id`, `question` (its exact text) or `order`; `auto` takes
            the first that both sides have, and no order of the files of a folder or glob.
        where: field of the dump -> value: only rows with this value are scored, of `answers` as
            well where these have the field. The others are counted.
        max_line_bytes: a longer line is bad; this bounds the memory.
        threads: as for `score`.
        failed: as for `score`.
        diagnosis: as for `score`.
        resources: as for `score`.
        progress: called after each batch with the dump, whose `counts` have grown.

    Returns:
        A ScoreTable without a table: the per-row scores are in `out`.

    Raises:
        As `score`, with file and line; OdqaError: `out` would replace an input; OutputError: it
        could not be written.
    """
    plan = make_plan(metrics, profile, diagnosis, resources, failed)
    joined = Joined(answers, qrels, duplicates, missing, join)
    options = ReadOptions(
        columns=plan.columns | {"id"} | set(keep),
        mapping=dict(mapping or {}),
        on_error=on_error,
        encoding_errors=encoding_errors,
        max_line_bytes=max_line_bytes,
        where=dict(where or {}),
    )
    if keep and out is None:
        raise OdqaError("there is nowhere to keep columns.", hint="Give --out (in Python out=).")
    aggregate, repeats = Aggregate(plan), RepeatCounter()
    schema = scores_schema(plan, keep)
    with (
        Workers(threads) as workers,
        RunWriter(output_folder(out, paths, answers, qrels), schema) as writer,
    ):
        opened = partial(
            open_dump, reject=writer.reject, submit=workers.submit, depth=workers.depth
        )
        inputs = Inputs(paths, joined, options, opened)
        batches = _checked(inputs, plan, inputs.sources, keep)
        for scored in run(batches, plan, workers):
            aggregate.add(scored)
            if scored.ids is not None and not inputs.is_joined:
                repeats.add(scored.ids)
            if out is not None:
                writer.write(score_rows(scored, schema, plan))
            if progress is not None:
                progress(inputs.dump)
        read = Read.of(*inputs.sources)
        counts = {
            **read.counts,
            **aggregate.counts,
            "duplicate_ids": repeats.repeats(),
            **inputs.join_counts,
        }
        notes = [*inputs.notes(counts, plan, repeats.first), *read.notes]
        result = _result(aggregate, counts, notes, {**read.tags, **inputs.tags(counts)})
        result = replace(result, inputs=inputs.paths)
        writer.commit(summary_of(result))
    _warn(result)
    return result


def _result(
    aggregate: Aggregate,
    counts: dict[str, int],
    notes: Iterable[str],
    tags: Mapping[str, object] | None = None,
) -> ScoreTable:
    return ScoreTable(
        means=aggregate.means,
        scored=aggregate.scored,
        counts=counts,
        signatures=aggregate.signatures(tags or {}),
        notes=[*notes, *aggregate.notes],
        diagnosis=aggregate.diagnosis,
    )


def _warn(result: ScoreTable) -> None:
    for note in result.notes:
        warnings.warn(note, OdqaWarning, stacklevel=3)


def _checked(
    batches: Iterable[pa.RecordBatch],
    plan: Plan,
    sources: Sequence[Data | Dump],
    keep: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """The batches; an error where a column that was asked for is in none of them, where those of a
    metric are nowhere together, or where texts of documents are asked for, and no document has one.

    The first batch decides of columns, unless later ones may have some that it lacks.
    """
    if "documents" in plan.parts:
        batches = with_texts(batches, sources)
    missing = _asked_by(plan, keep)
    apart = {each.asked: plan.needed.keys() & set(each.spec.inputs) for each in plan.requests}
    n_batches = 0
    for batch in batches:
        n_batches += 1
        names = set(batch.schema.names)
        apart = {asked: columns for asked, columns in apart.items() if not columns <= names}
        missing = {c: asked for c, asked in missing.items() if c not in batch.schema.names}
        if missing and not any(each.may_widen for each in sources):
            break
        yield batch
    found = sorted({name for each in sources for name in each.found})
    for column, asked in missing.items() if n_batches else ():
        raise SchemaError(
            f"{asked!r} needs a column {column!r}, and there is none.",
            hint=naming_hint(column, found, sources[0].options.mapping, _ELSEWHERE.get(column, "")),
        )
    for asked, columns in apart.items() if n_batches else ():
        raise SchemaError(
            f"{asked!r} needs {' and '.join(sorted(columns))} of one row, and no input has them "
            "together.",
            hint="Inputs of one dump are read one after the other; gold answers in a file of their "
            "own are joined by --answers FILE, judgements by --qrels FILE.",
        )


def _asked_by(plan: Plan, keep: Sequence[str] = ()) -> dict[str, str]:
    """The columns that are needed, each with who asks for it."""
    kept = {column: f"--keep {column}" for column in keep if column != "id"}
    return {**kept, **plan.needed}


#: Options that bring a column from another file.
_ELSEWHERE = {"answers": "join --answers FILE", "relevant_ids": "join --qrels FILE"}

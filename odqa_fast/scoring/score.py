"""`score` for data in memory, `score_file` for dumps on disk."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Literal

import pyarrow as pa

from odqa_fast.diagnosis import DiagnoseOptions
from odqa_fast.errors import OdqaError, OdqaWarning, SchemaError
from odqa_fast.io import AnswerTable, Dump, ReadCounts, ReadOptions, canonical_batches, open_dump
from odqa_fast.io.ids import RepeatCounter
from odqa_fast.io.join import Duplicates, Missing
from odqa_fast.io.names import listed
from odqa_fast.io.targets import output_folder
from odqa_fast.io.write import RunWriter, summary_of
from odqa_fast.profiles import DEFAULT_PROFILE, Profile
from odqa_fast.scoring.aggregate import Aggregate
from odqa_fast.scoring.failed import Failed
from odqa_fast.scoring.notes import ignored_names, notes_on
from odqa_fast.scoring.plan import Plan, make_plan
from odqa_fast.scoring.rows import score_rows, scores_schema, scores_table
from odqa_fast.scoring.run import run
from odqa_fast.scoring.workers import Workers, default_threads
from odqa_fast.spec import Resources
from odqa_fast.table import ScoreTable

DEFAULT_METRICS = ("em", "f1")

#: What qrels say of a query.
_JUDGED = {"relevant_ids", "relevance"}

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def score(
    data: object,
    metrics: Sequence[str] | str = DEFAULT_METRICS,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    mapping: Mapping[str, str] | None = None,
    threads: int | None = None,
    failed: Failed = "zero",
    diagnosis: DiagnoseOptions | None = None,
    resources: Resources | None = None,
) -> ScoreTable:
    """Scores data in memory.

    Args:
        data: anything with the Arrow capsule methods (pyarrow, polars, DuckDB, pandas), a dict of
            columns, a list of rows, or an iterable of record batches; the columns are those of
            `odqa_fast.schema.SAMPLES` or their common other names.
        metrics: ids with options, e.g. `"f1"`, `"par:token"`, `"f1:triviaqa"`.
        profile: which reference scorer to equal, unless a metric names its own.
        mapping: canonical name -> name in the data, for any other name.
        threads: how many; all processors by default. The number changes no bit.
        failed: what a row counts that lacks a prediction or summary because a model failed
            (`reader_error`, `compressor_error`): as any that lacks it (`zero`), or in no mean.
        diagnosis: also say of each row what was retrieved, kept and answered; see `diagnose`.
        resources: what some metrics need beside the data, e.g. a model.

    Returns:
        A ScoreTable whose table has one row per sample, in order.

    Raises:
        MetricError, ProfileError: an unknown or repeated name.
        SchemaError: a column is missing or of a type that cannot hold what it should.
        DataError: a value is bad; names row and column.
        ModelError, EngineError: a model that a metric needs cannot be opened.
    """
    plan = make_plan(metrics, profile, diagnosis, resources, failed)
    mapping = mapping or {}
    aggregate, repeats, reading = Aggregate(plan), RepeatCounter(), ReadCounts()
    kept = []
    with Workers(_threads(threads)) as workers:
        batches = canonical_batches(
            data,
            plan.columns | {"id"},
            mapping,
            counts=reading,
            submit=workers.submit,
            depth=workers.depth,
        )
        batches = _checked(batches, _asked_by(plan), lambda: _names(data))
        for scored in run(batches, plan, workers):
            aggregate.add(scored)
            if scored.ids is not None:
                repeats.add(scored.ids)
            kept.append(scored.without_inputs())
    counts = {
        **aggregate.counts,
        "duplicate_ids": repeats.repeats(),
        "pointed_numbers": reading.pointed_numbers,
    }
    notes = [*notes_on(counts, {}), *ignored_names(plan.columns, _names(data), mapping)]
    result = _result(aggregate, counts, notes)
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
            dump as well, whose lines of one query stand together.
        metrics: as for `score`.
        profile: as for `score`.
        answers: a second dump with what `paths` lacks (gold answers, documents, ...), joined by
            id, or row by row where neither has ids. It is held in memory, up to 4 GiB.
        qrels: TREC judgements instead of `answers`: they are the relevant ids, whatever the dump
            has of these.
        out: a folder for `scores.parquet` (per row), `summary.json` and `rejected.jsonl`; it
            appears whole or not at all, and replaces an older run whole.
        keep: canonical columns of the dump to stand in `scores.parquet` beside the scores.
        mapping: as for `score`; with `answers`, a name may be in either dump.
        on_error: `fail` stops at the first bad row, `skip` writes it to `rejected.jsonl`.
        encoding_errors: whether bytes that are not UTF-8 are bad or become U+FFFD.
        duplicates: an id that stands twice with other content in a join: `error`, `keep-first`,
            `keep-last` or `all`.
        missing: whether answers or judgements whose id no row of `paths` has count 0 (`zero`; the
            default with `qrels`) or in no mean (`null`; the default with `answers`).
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
    options = ReadOptions(
        columns=plan.columns | {"id"} | set(keep),
        mapping=dict(mapping or {}),
        on_error=on_error,
        encoding_errors=encoding_errors,
        max_line_bytes=max_line_bytes,
        joined=answers is not None,
    )
    if keep and out is None:
        raise OdqaError("there is nowhere to keep columns.", hint="Give --out (in Python out=).")
    if answers is not None and qrels is not None:
        raise OdqaError("answers and qrels cannot both be joined.", hint="Put one into the dump.")
    if missing is not None and answers is None and qrels is None:
        raise OdqaError(
            "nothing is missing where nothing is joined.", hint="Give --answers or --qrels."
        )
    if duplicates != "error" and answers is None and qrels is None:
        raise OdqaError(
            "no id stands for another row where nothing is joined.",
            hint="--duplicates goes with --answers or --qrels.",
        )
    aggregate, repeats = Aggregate(plan), RepeatCounter()
    schema = scores_schema(plan, keep)
    with (
        Workers(_threads(threads)) as workers,
        RunWriter(output_folder(out, paths, answers, qrels), schema) as writer,
    ):

        def opened(places: Paths, columns: Set[str], fmt: str | None = None) -> Dump:
            return open_dump(
                places,
                replace(options, columns=frozenset(columns)),
                fmt=fmt,
                reject=writer.reject,
                submit=workers.submit,
                depth=workers.depth,
            )

        dump = opened(paths, options.columns - (_JUDGED if qrels is not None else set()))
        dumps = [dump]
        batches: Iterable[pa.RecordBatch] = dump
        table: AnswerTable | None = None
        if answers is not None:
            dumps.append(opened(answers, options.columns))
            table = AnswerTable.load(dumps[1], duplicates=duplicates, missing=missing or "null")
        elif qrels is not None:
            dumps.append(opened(qrels, {"id", *_JUDGED}, "qrels"))
            table = AnswerTable.load(
                dumps[1],
                duplicates=duplicates,
                missing=missing or "zero",
                sides=("rankings", "judgements"),
            )
        if table is not None:
            batches = table.join(dump)

        def found() -> list[str]:
            return sorted({name for each in dumps for name in each.found})

        def may_widen() -> bool:
            return any(each.may_widen for each in dumps)

        batches = _checked(batches, _asked_by(plan, keep), found, may_widen)
        for scored in run(batches, plan, workers):
            aggregate.add(scored)
            if scored.ids is not None and table is None:
                repeats.add(scored.ids)
            if out is not None:
                writer.write(score_rows(scored, schema, plan))
            if progress is not None:
                progress(dump)
        joined = {} if table is None else table.counts
        counts = {
            "rows_read": sum(each.counts.rows_read for each in dumps),
            "rejected": sum(each.counts.rejected for each in dumps),
            "replaced_encodings": sum(each.counts.replaced_encodings for each in dumps),
            "pointed_numbers": sum(each.counts.pointed_numbers for each in dumps),
            **aggregate.counts,
            "duplicate_ids": repeats.repeats(),
            **{name: n for name, n in joined.items() if isinstance(n, int)},
        }
        notes = [*notes_on(counts, joined), *ignored_names(plan.columns, found(), options.mapping)]
        # What else could have made it another number, where it did.
        tags: dict[str, object] = {"rejected": counts["rejected"]} if counts["rejected"] else {}
        if table is not None and duplicates != "error":
            tags["duplicates"] = duplicates
        if counts.get("unmatched_answers") and joined["missing"] == "zero":
            tags["missing"] = "zero"
        result = _result(aggregate, counts, notes, tags)
        result = replace(result, inputs=[path for each in dumps for path in each.paths])
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


def _threads(asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise OdqaError(f"threads must be 1 or more, not {asked}.")
    return asked or default_threads()


def _checked(
    batches: Iterable[pa.RecordBatch],
    asked_by: Mapping[str, str],
    found: Callable[[], Sequence[str]],
    may_widen: Callable[[], bool] = lambda: True,
) -> Iterator[pa.RecordBatch]:
    """The batches; an error where a column that was asked for is in none of them.

    The first batch decides, unless later ones may have columns that it lacks.
    """
    missing = dict(asked_by)
    n_batches = 0
    for batch in batches:
        n_batches += 1
        missing = {c: asked for c, asked in missing.items() if c not in batch.schema.names}
        if missing and not may_widen():
            break
        yield batch
    for column, asked in missing.items() if n_batches else ():
        raise _missing(column, asked, found())


def _asked_by(plan: Plan, keep: Sequence[str] = ()) -> dict[str, str]:
    """The columns that are needed, each with who asks for it."""
    kept = {column: f"--keep {column}" for column in keep if column != "id"}
    return {**kept, **plan.needed}


#: Options that bring a column from another file.
_ELSEWHERE = {"answers": ", or join --answers FILE", "relevant_ids": ", or join --qrels FILE"}


def _missing(column: str, asked: str, found: Sequence[str]) -> SchemaError:
    return SchemaError(
        f"{asked!r} needs a column {column!r}, and there is none.",
        hint=f"Columns found: {listed(found) or 'none'}. "
        f"Name the right one with --map {column}=NAME (in Python mapping={{{column!r}: NAME}})"
        f"{_ELSEWHERE.get(column, '')}.",
    )


def _names(data: object) -> list[str]:
    """The column names of data in memory, as well as they can be told without reading it."""
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        data = data[0]
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    for attribute in ("column_names", "columns"):
        names = getattr(data, attribute, None)
        if names is not None and not callable(names):
            return [name for name in names if isinstance(name, str)]
    schema = getattr(data, "schema", None)
    return list(getattr(schema, "names", ()))

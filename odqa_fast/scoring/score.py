"""Data in memory and dumps on disk to their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from odqa_fast.errors import SchemaError
from odqa_fast.io import Data, Dump, open_dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.ids import RepeatCounter
from odqa_fast.io.names import missing_column
from odqa_fast.io.options import FIELD, split_kept
from odqa_fast.io.output_paths import output_folder
from odqa_fast.metrics.resources import Resources
from odqa_fast.option import listed
from odqa_fast.runs.input import Read
from odqa_fast.runs.output import RunFolder
from odqa_fast.runs.progress import Watch
from odqa_fast.runs.provenance import list_inputs
from odqa_fast.scores import ScoreTable
from odqa_fast.scoring.aggregate import Aggregate
from odqa_fast.scoring.columns import score_rows, scores_schema, scores_table
from odqa_fast.scoring.executor import run
from odqa_fast.scoring.inputs import Inputs, Joined, answers_of
from odqa_fast.scoring.job import ScoreData, ScoreJob
from odqa_fast.scoring.notes import notes_on
from odqa_fast.scoring.plan import Plan, make_plan
from odqa_fast.scoring.workers import Workers


def score_data(job: ScoreData, *, resources: Resources | None = None) -> ScoreTable:
    """Scores data in memory; see `ScoreData`.

    Args:
        job: what to score.
        resources: in the place of those that the job's options name.
    """
    plan = _plan(job, resources)
    aggregate, repeats = Aggregate(plan), RepeatCounter()
    kept = []
    with Workers(job.threads) as workers:
        reading = job.reading({*plan.columns, "id"})
        source = Data(job.data, reading, workers.submit, workers.depth)
        for scored in run(_checked(source, plan, [source]), plan, workers):
            aggregate.add(scored)
            if scored.ids is not None:
                repeats.add(scored.ids)
            kept.append(scored.without_inputs())
    read = Read.of(source)
    counts = {**read.counts, **aggregate.counts, "duplicate_ids": repeats.repeats()}
    notes = [*notes_on(counts, repeated=repeats.first), *read.notes]
    result = _result(aggregate, counts, notes, read.tags)
    return replace(result, make_table=lambda: scores_table(kept, plan))


def score_dump(
    job: ScoreJob, *, resources: Resources | None = None, progress: Watch | None = None
) -> ScoreTable:
    """Scores a dump from disk in batches; see `ScoreJob`.

    Args:
        job: what to score.
        resources: in the place of those that the job's options name.
        progress: told after each batch how far the dump has been read.
    """
    plan = _plan(job, resources)
    joined = Joined(job.answers, job.qrels, job.duplicates, job.missing, job.join)
    columns, fields = split_kept(job.keep)
    target = output_folder(job.out, job.paths, job.answers, job.qrels)
    writes = target is not None
    options = replace(
        job.reading(plan.columns | {"id"} | columns | ({"question"} if writes else set())),
        fields=fields,
        places=writes,
        identify=writes,
    )
    aggregate, repeats = Aggregate(plan), RepeatCounter()
    schema = scores_schema(plan, job.keep, places=writes)
    with Workers(job.threads) as workers, RunFolder(target, schema) as folder:
        opened = partial(
            open_dump, reject=folder.reject, submit=workers.submit, depth=workers.depth
        )
        inputs = Inputs(job.paths, joined, options, opened)
        batches = _checked(inputs, plan, inputs.sources, job.keep)
        for scored in run(batches, plan, workers):
            aggregate.add(scored)
            if scored.ids is not None and not inputs.is_joined:
                repeats.add(scored.ids)
            if writes:
                folder.write(score_rows(scored, schema, plan))
            if progress is not None:
                progress(inputs.progress)
        read = Read.of(*inputs.sources)
        counts = {
            **read.counts,
            **aggregate.counts,
            "duplicate_ids": repeats.repeats(),
            **inputs.join_counts,
        }
        notes = [*inputs.notes(counts, plan, repeats.first), *read.notes]
        result = _result(aggregate, counts, notes, {**read.tags, **inputs.tags(counts)})
        result = replace(
            result,
            inputs=inputs.paths,
            identities=list_inputs(inputs.sources, job.bertscore_idf),
        )
        summary = job.summarize(result)
        # What is handed over beside the job could not be made again from its record.
        folder.commit(summary if resources is None else replace(summary, job={}))
    return result


def _plan(job: ScoreData | ScoreJob, resources: Resources | None) -> Plan:
    if resources is None:
        idf = listed(job.bertscore_idf)
        resources = replace(job.part(Resources), bertscore_idf=answers_of(idf) if idf else None)
    return make_plan(job.metrics, job.profile, job.diagnosis, resources, job.failed)


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
    for column, asked in missing.items() if n_batches else ():
        name = column.removeprefix(FIELD)
        raise missing_column(name, asked, sources, elsewhere=_ELSEWHERE.get(column, ""))
    for asked, columns in apart.items() if n_batches else ():
        raise SchemaError(
            f"{asked!r} needs {' and '.join(sorted(columns))} of one row, and no input has them "
            "together.",
            hint="Inputs of one dump are read one after the other; gold answers in a file of their "
            "own are joined by --answers FILE, judgements by --qrels FILE.",
        )


def _asked_by(plan: Plan, keep: Sequence[str] = ()) -> dict[str, str]:
    """The columns that are needed, each with who asks for it."""
    columns, fields = split_kept(keep)
    kept = {column: f"--keep {column}" for column in columns - {"id"}}
    own = {f"{FIELD}{name}": f"--keep {name}" for name in fields}
    return {**own, **kept, **{column: repr(asked) for column, asked in plan.needed.items()}}


#: Options that bring a column from another file.
_ELSEWHERE = {"answers": "join --answers FILE", "relevant_ids": "join --qrels FILE"}

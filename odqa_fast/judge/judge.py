"""Judging from files to a folder: read, ask and write, or only say what it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.open import honoured_by, open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore, default_path
from odqa_fast.io import Dump, open_dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.options import Rejected
from odqa_fast.io.output_paths import output_folder
from odqa_fast.judge.ask import Count, Questions, Usage
from odqa_fast.judge.estimate import estimate
from odqa_fast.judge.job import JudgeJob
from odqa_fast.judge.pairwise import COLUMNS, judge_pairs, pair_schema, pair_up
from odqa_fast.judge.pointwise import RowQuestions, columns_for, judge_rows, row_schema
from odqa_fast.judge.result import JudgeResult
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.selection import Selection, select_rows
from odqa_fast.option import Paths, listed
from odqa_fast.runs.input import Read
from odqa_fast.runs.output import RunFolder
from odqa_fast.runs.progress import Progress, Watch
from odqa_fast.schema import ERRORS
from odqa_fast.scores import ScoreTable

Reject = Callable[[Rejected], None]


def judge_dumps(
    job: JudgeJob,
    *,
    engines: Sequence[CachedEngine] | None = None,
    progress: Watch | None = None,
) -> JudgeResult:
    """Judges a dump, or the pairs of two; see `JudgeJob`.

    Args:
        job: what to judge.
        engines: in the place of those that the job names; they stay open.
        progress: told how many verdicts there are.
    """
    rubrics = job.rubrics()
    judge = _judge_rows if job.pairwise is None else _judge_pairs
    with ExitStack() as stack:
        judges = stack.enter_context(_open_engines(job)) if engines is None else engines
        inputs = (job.paths,) if job.pairwise is None else job.pairwise
        target = None if job.dry_run else output_folder(job.out, *inputs)
        if job.pairwise is None:
            schema = row_schema(rubrics, judges)
        else:
            schema = pair_schema(rubrics[0], judges)
        folder = stack.enter_context(RunFolder(target, schema))
        result, dumps = judge(job, judges, rubrics, folder.reject, progress)
        result = _with_reading(result, dumps)
        for batch in result.table.to_batches():
            folder.write(batch)
        folder.commit(job.summarize(result))
    return result


def _judge_rows(
    job: JudgeJob,
    judges: Sequence[CachedEngine],
    rubrics: Sequence[Rubric],
    reject: Reject,
    watch: Watch | None,
) -> tuple[JudgeResult, list[Dump]]:
    needed = columns_for(rubrics)
    columns = {*needed, "prediction", ERRORS["prediction"], "answers", "human", "system"}
    dump = _open(job, job.paths, columns, reject)
    look_into = partial(with_texts, sources=[dump], unless="summary")
    checked = look_into if "context" in columns else iter
    rows = select_rows(dump, sorted(columns), _selection(job), checked)
    dump.runs.check()
    rows.need(needed, dump)
    if job.dry_run:
        return _plan(job, judges, rubrics, RowQuestions(rows)), [dump]
    result = judge_rows(
        rows,
        judges,
        rubrics,
        profile=job.profile,
        system=next(map(str, listed(job.system)), None),
        usage=Usage(prices=job.price),
        tags=_selection(job).tags,
        progress=_count(watch, len(rows) * len(rubrics) * len(judges)),
    )
    return result, [dump]


def _judge_pairs(
    job: JudgeJob,
    judges: Sequence[CachedEngine],
    rubrics: Sequence[Rubric],
    reject: Reject,
    watch: Watch | None,
) -> tuple[JudgeResult, list[Dump]]:
    columns = set(COLUMNS)
    a, b = job.pairwise or ("", "")
    dumps = [
        _open(job, a, columns, reject),
        _open(job, b, columns, reject, where_may_lack=True),
    ]
    # The rows of A are chosen, and B has their partners.
    rows = select_rows(dumps[0], COLUMNS, _selection(job)), select_rows(dumps[1], COLUMNS)
    for each, dump in zip(rows, dumps, strict=True):
        dump.runs.check()
        each.need({"prediction": "--pairwise"}, dump)
    if "question" in rows[1].absent:
        rows[0].need({"question": "--pairwise"}, dumps[0])
    pairs = pair_up(*rows, tuple(map(str, listed(job.system))))
    if job.dry_run:
        return _plan(job, judges, rubrics, pairs), dumps
    result = judge_pairs(
        pairs,
        judges,
        rubrics[0],
        usage=Usage(prices=job.price),
        tags=_selection(job).tags,
        progress=_count(watch, 2 * len(pairs) * len(judges)),
    )
    return result, dumps


def _plan(
    job: JudgeJob,
    judges: Sequence[CachedEngine],
    rubrics: Sequence[Rubric],
    questions: Questions,
) -> JudgeResult:
    plan = estimate(questions, judges, rubrics, job.price)
    nothing = pa.table({"id": pa.array([], pa.string())})
    return JudgeResult(ScoreTable({}, {}, {"rows": len(questions)}, {}), (), {}, nothing, plan=plan)


def _selection(job: JudgeJob) -> Selection:
    return Selection(job.limit, job.sample, job.seed or 0)


def _count(watch: Watch | None, total: int) -> Count:
    """Tells how far a run is, of so many more verdicts."""
    done = 0

    def more(n: int) -> None:
        nonlocal done
        done += n
        if watch is not None:
            watch(Progress(done, total, "verdicts"))

    return more


def _open(
    job: JudgeJob, paths: Paths, columns: set[str], reject: Reject, *, where_may_lack: bool = False
) -> Dump:
    read = {"id", *(columns - {"context"})}
    if "context" in columns:
        read |= {"summary", "documents"} if job.context is None else {job.context}
    reading = replace(job.reading(read), where_may_lack=where_may_lack)
    return open_dump(paths, reading, reject=reject)


def _with_reading(result: JudgeResult, dumps: Sequence[Dump]) -> JudgeResult:
    """The result with what is to be known of how the dumps were read."""
    scores, read = result.scores, Read.of(*dumps)
    scores = replace(
        scores,
        counts={**scores.counts, **read.oddities},
        notes=[*scores.notes, *read.notes],
        signatures={asked: each.tagged(read.tags) for asked, each in scores.signatures.items()},
        inputs=[path for dump in dumps for path in dump.paths],
    )
    return replace(result, scores=scores)


@contextmanager
def _open_engines(job: JudgeJob) -> Iterator[list[CachedEngine]]:
    """The judges of a job, with the store of their replies before them."""
    names = list(map(str, listed(job.provider)))
    options = job.part(EngineOptions)
    if job.replay:
        options = replace(options, key_env=None)  # nothing is sent
    divided = options.divided((name, honoured_by(name)) for name in names)
    with ExitStack() as stack:
        kept = ReplyStore(Path(job.cache) if job.cache else default_path())
        stack.callback(kept.close)
        engines = []
        for name, own in zip(names, divided, strict=True):
            engine = CachedEngine(open_engine(name, own), kept, replay=job.replay)
            stack.callback(engine.close)
            engines.append(engine)
        yield engines

"""Judging from files to a folder: read, ask and write, or only say what it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.opening import list_honoured, open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
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
from odqa_fast.runs.provenance import list_inputs
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
    with ExitStack() as stack:
        judges = stack.enter_context(_open_engines(job)) if engines is None else engines
        judging = _Judging(job, judges, job.rubrics(), progress)
        inputs = (job.paths,) if job.pairwise is None else job.pairwise
        target = None if job.dry_run else output_folder(job.out, *inputs)
        folder = stack.enter_context(RunFolder(target, judging.schema))
        judge = judging.judge_rows if job.pairwise is None else judging.judge_pairs
        result = judge(folder.reject)
        for batch in result.table.to_batches():
            folder.write(batch)
        folder.commit(job.summarize(result))
    return result


@dataclass(frozen=True)
class _Judging:
    """What judges are asked, and by which job."""

    job: JudgeJob
    judges: Sequence[CachedEngine]
    rubrics: Sequence[Rubric]
    watch: Watch | None

    @property
    def schema(self) -> pa.Schema:
        """Of the scores of each row."""
        if self.job.pairwise is None:
            return row_schema(self.rubrics, self.judges)
        return pair_schema(self.rubrics[0], self.judges)

    def judge_rows(self, reject: Reject) -> JudgeResult:
        """Judges the rows of a dump."""
        needed = columns_for(self.rubrics)
        columns = {*needed, "prediction", ERRORS["prediction"], "answers", "human", "system"}
        dump = self._open(self.job.paths, columns, reject)
        look_into = partial(with_texts, sources=[dump], unless="summary")
        checked = look_into if "context" in columns else iter
        rows = select_rows(dump, sorted(columns), self._selection, checked)
        dump.runs.check()
        rows.need(needed, dump)
        if self.job.dry_run:
            return _with_reading(self._plan(RowQuestions(rows)), [dump])
        result = judge_rows(
            rows,
            self.judges,
            self.rubrics,
            profile=self.job.profile,
            system=next(map(str, listed(self.job.system)), None),
            usage=Usage(prices=self.job.price),
            tags=self._selection.tags,
            progress=self._count(len(rows) * len(self.rubrics)),
        )
        return _with_reading(result, [dump])

    def judge_pairs(self, reject: Reject) -> JudgeResult:
        """Judges the pairs of two dumps."""
        a, b = self.job.pairwise or ("", "")
        columns = set(COLUMNS)
        dump_a = self._open(a, columns, reject)
        dump_b = self._open(b, columns, reject, where_may_lack=True, first_source=len(dump_a.paths))
        dumps = [dump_a, dump_b]
        # The rows of A are chosen, and B has their partners.
        rows_a = select_rows(dumps[0], COLUMNS, self._selection)
        rows_b = select_rows(dumps[1], COLUMNS)
        for rows, dump in ((rows_a, dumps[0]), (rows_b, dumps[1])):
            dump.runs.check()
            rows.need({"prediction": "--pairwise"}, dump)
        if "question" in rows_b.absent:
            rows_a.need({"question": "--pairwise"}, dumps[0])
        pairs = pair_up(rows_a, rows_b, tuple(map(str, listed(self.job.system))))
        if self.job.dry_run:
            return _with_reading(self._plan(pairs), dumps)
        result = judge_pairs(
            pairs,
            self.judges,
            self.rubrics[0],
            usage=Usage(prices=self.job.price),
            tags=self._selection.tags,
            progress=self._count(2 * len(pairs)),
        )
        return _with_reading(result, dumps)

    @property
    def _selection(self) -> Selection:
        return Selection(self.job.limit, self.job.sample, self.job.seed or 0)

    def _plan(self, questions: Questions) -> JudgeResult:
        plan = estimate(questions, self.judges, self.rubrics, self.job.price)
        scores = ScoreTable({}, {}, {"rows": len(questions)}, {})
        return JudgeResult(scores, (), {}, self.schema.empty_table(), plan=plan)

    def _count(self, questions: int) -> Count:
        """Tells how far a run is: of so many more verdicts on so many questions."""
        total, done = questions * len(self.judges), 0

        def more(n: int) -> None:
            nonlocal done
            done += n
            if self.watch is not None:
                self.watch(Progress(done, total, "verdicts"))

        return more

    def _open(self, paths: Paths, columns: set[str], reject: Reject, **options: Any) -> Dump:
        """A dump whose rows say where they come from; `options` are further ones of reading."""
        context, read = self.job.context, {"id", "question", *(columns - {"context"})}
        if "context" in columns:
            read |= {"summary", "documents"} if context is None else {context}
        writes = self.job.out is not None and not self.job.dry_run
        reading = replace(self.job.reading(read), places=True, identify=writes, **options)
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
        identities=list_inputs(dumps),
    )
    return replace(result, scores=scores)


@contextmanager
def _open_engines(job: JudgeJob) -> Iterator[list[CachedEngine]]:
    """The judges of a job, with the store of their replies before them."""
    names = list(map(str, listed(job.provider)))
    options = job.part(EngineOptions)
    if job.replay:
        options = replace(options, key_env=None)  # nothing is sent
    divided = options.divided((name, list_honoured(name)) for name in names)
    with ExitStack() as stack:
        kept = ReplyStore(job.cache)
        stack.callback(kept.close)
        engines = []
        for name, own in zip(names, divided, strict=True):
            engine = CachedEngine(open_engine(name, own), kept, replay=job.replay)
            stack.callback(engine.close)
            engines.append(engine)
        yield engines

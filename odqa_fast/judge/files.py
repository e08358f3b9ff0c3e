"""Judging from files to a folder: read, ask, write, or only say what it would take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from odqa_fast.engines.base import Request
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.errors import OdqaWarning
from odqa_fast.io import Dump, open_dump
from odqa_fast.io.document_texts import with_texts
from odqa_fast.io.options import Rejected
from odqa_fast.io.output_paths import output_folder
from odqa_fast.judge.ask import Usage, cost, unsettled
from odqa_fast.judge.pairwise import COLUMNS, Pairs, judge_pairs, pair_schema, pair_up
from odqa_fast.judge.pointwise import Questions, columns_for, judge, parts, requests_of, schema_of
from odqa_fast.judge.ratings import judge_names
from odqa_fast.judge.result import Judged
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.selection import Rows, Selection, gather
from odqa_fast.option import Paths
from odqa_fast.runs.input import DumpOptions, Read
from odqa_fast.runs.output import RunWriter, summary_of
from odqa_fast.schema import ERRORS
from odqa_fast.scores import ScoreTable

#: A token is about so many characters, where nobody counts them.
_CHARS_PER_TOKEN = 4
#: More than chat templates put around what is asked.
_FRAME_TOKENS = 256


@dataclass(frozen=True)
class JudgeOptions(DumpOptions):
    """How dumps are read, and what is written.

    Attributes:
        mapping, on_error, where: see `DumpOptions`; of the second of two dumps, `where` counts if
            it has the field.
        selection: which of these rows.
        context: what a prediction has to be faithful to; None is the summary where there is one.
        systems: what made the predictions, where no column `system` says it: one name, or for
            pairs two.
        profile: of em, f1 and contains.
        prices: of a million tokens sent, and written, in any currency.
        out: the folder of the run.
        progress: told how many verdicts there are, of how many.
    """

    selection: Selection = field(default_factory=Selection)
    context: Literal["summary", "documents"] | None = None
    systems: tuple[str, ...] = ()
    profile: str = "squad"
    prices: tuple[float, float] | None = None
    out: Path | None = None
    progress: Callable[[int, int], None] | None = None

    def counting(self, total: int) -> Callable[[int], None]:
        """Tells `progress` of so many more verdicts, of so many in all."""
        done = 0

        def more(n: int) -> None:
            nonlocal done
            done += n
            if self.progress is not None:
                self.progress(done, total)

        return more


def judge_file(
    paths: Paths,
    engines: Sequence[CachedEngine],
    rubrics: Sequence[Rubric],
    options: JudgeOptions,
) -> Judged:
    """Judges the predictions of a dump.

    Args:
        paths: as for `score_file`.
        engines: the judges.
        rubrics: what they are asked; see `rubric.make_rubrics`.
        options: all else.

    Raises:
        EngineError: a judge gives no more replies; those that came are in the cache.
        SchemaError, DataError: the dump lacks a column, or holds a bad value.
        OdqaError: the run would replace the dump.
        OutputError: the run could not be written.
    """
    target = output_folder(options.out, paths)
    with RunWriter(target, schema_of(rubrics, engines)) as writer:
        rows, dump = _dump_rows(paths, rubrics, options, writer.reject)
        judged = judge(
            rows,
            engines,
            rubrics,
            profile=options.profile,
            system=next(iter(options.systems), None),
            usage=Usage(prices=options.prices),
            tags=options.selection.tags,
            progress=options.counting(len(rows) * len(rubrics) * len(engines)),
        )
        return _written(judged, [dump], writer)


def judge_pair_files(
    a: Paths,
    b: Paths,
    engines: Sequence[CachedEngine],
    rubric: Rubric,
    options: JudgeOptions,
) -> Judged:
    """Judges the predictions of two dumps pair by pair; arguments and errors as of `judge_file`."""
    target = output_folder(options.out, a, b)
    with RunWriter(target, pair_schema(rubric, engines)) as writer:
        pairs, dumps = _pairs(a, b, options, writer.reject)
        judged = judge_pairs(
            pairs,
            engines,
            rubric,
            usage=Usage(prices=options.prices),
            tags=options.selection.tags,
            progress=options.counting(2 * len(pairs) * len(engines)),
        )
        return _written(judged, dumps, writer)


def estimate_file(
    paths: Paths,
    engines: Sequence[CachedEngine],
    rubrics: Sequence[Rubric],
    options: JudgeOptions,
) -> dict[str, Any]:
    """What `judge_file` would ask, without asking: see `_estimate`."""
    rows, dump = _dump_rows(paths, rubrics, options)
    questions = Questions(rows)
    asked = [(each, partial(requests_of, questions, each)) for each in rubrics]
    return _estimate(len(rows), [dump], engines, asked, options)


def estimate_pair_files(
    a: Paths,
    b: Paths,
    engines: Sequence[CachedEngine],
    rubric: Rubric,
    options: JudgeOptions,
) -> dict[str, Any]:
    """What `judge_pair_files` would ask, without asking: see `_estimate`."""
    pairs, dumps = _pairs(a, b, options)

    def asked() -> Iterator[list[Request]]:
        for lo, hi in parts(len(pairs)):
            questions = [each for row in range(lo, hi) for each in pairs.ask(rubric, row)]
            yield [each for each in questions if isinstance(each, Request)]

    return _estimate(len(pairs), dumps, engines, [(rubric, asked)], options)


def _estimate(
    rows: int,
    dumps: Sequence[Dump],
    engines: Sequence[CachedEngine],
    asked: Sequence[tuple[Rubric, Callable[[], Iterable[list[Request]]]]],
    options: JudgeOptions,
) -> dict[str, Any]:
    """Requests of each judge by each rubric, how many of them kept replies settle, and what the
    others take: each asked once, with replies as long as they may be; and at most, should every
    reply be cut off and asked for again (see `ask.askings`). Tries that fail are in neither.

    Tokens sent are counted where the judge can count. Else they are about the characters over
    `_CHARS_PER_TOKEN`, and at most the bytes, for no token is less than one.
    """
    plans = []
    for name, engine in zip(judge_names(engines), engines, strict=True):
        for rubric, requests in asked:
            n = to_ask = at_most = 0
            once_in = once_out = most_in = most_out = 0
            counted = True
            for part in requests():
                n += len(part)
                for left in unsettled(engine, rubric, part):
                    to_ask += 1
                    at_most += len(left)
                    tokens = engine.count_tokens(left[0])
                    counted &= tokens is not None
                    once_in += _about(left[0]) if tokens is None else tokens
                    once_out += left[0].max_new_tokens
                    most_in += len(left) * (_most(left[0]) if tokens is None else tokens)
                    most_out += sum(each.max_new_tokens for each in left)
            plans.append(
                {
                    "judge": name,
                    "rubric": rubric.id,
                    "requests": n,
                    "kept": n - to_ask,
                    "to_ask": to_ask,
                    "tokens_in_counted": counted,
                    "tokens_in_asked_once": once_in,
                    "tokens_out_asked_once": once_out,
                    "cost_asked_once": cost(options.prices, once_in, once_out),
                    "requests_at_most": at_most,
                    "tokens_in_at_most": most_in,
                    "tokens_out_at_most": most_out,
                    "cost_at_most": cost(options.prices, most_in, most_out),
                }
            )
    empty = ScoreTable({}, {}, {"rows": rows}, {}, inputs=[p for dump in dumps for p in dump.paths])
    return {**summary_of(empty), "dry_run": plans}


def _about(request: Request) -> int:
    return -(-(len(request.system) + len(request.user)) // _CHARS_PER_TOKEN)


def _most(request: Request) -> int:
    sent = (request.system, request.user, request.prefill, request.schema)
    return sum(len(text.encode()) for text in sent) + _FRAME_TOKENS


def _dump_rows(
    paths: Paths,
    rubrics: Sequence[Rubric],
    options: JudgeOptions,
    reject: Callable[[Rejected], None] | None = None,
) -> tuple[Rows, Dump]:
    needed = columns_for(rubrics)
    columns = {*needed, "prediction", ERRORS["prediction"], "answers", "human", "system"}
    dump = _opened(paths, columns, options, reject)
    looked_into = partial(with_texts, sources=[dump], unless="summary")
    checked = looked_into if "context" in columns else iter
    rows = gather(dump, sorted(columns), options.selection, checked)
    dump.runs.check()
    rows.need(needed, dump)
    return rows, dump


def _pairs(
    a: Paths, b: Paths, options: JudgeOptions, reject: Callable[[Rejected], None] | None = None
) -> tuple[Pairs, list[Dump]]:
    dumps = [
        _opened(a, set(COLUMNS), options, reject),
        _opened(b, set(COLUMNS), options, reject, where_may_lack=True),
    ]
    # The rows of A are chosen, and B has their partners.
    rows_a = gather(dumps[0], COLUMNS, options.selection)
    rows_b = gather(dumps[1], COLUMNS)
    for rows, dump in ((rows_a, dumps[0]), (rows_b, dumps[1])):
        dump.runs.check()
        rows.need({"prediction": "--pairwise"}, dump)
    if "question" in rows_b.absent:
        rows_a.need({"question": "--pairwise"}, dumps[0])
    systems = (options.systems[0], options.systems[1]) if options.systems else None
    return pair_up(rows_a, rows_b, systems), dumps


def _opened(
    paths: Paths,
    columns: set[str],
    options: JudgeOptions,
    reject: Callable[[Rejected], None] | None,
    *,
    where_may_lack: bool = False,
) -> Dump:
    read = {"id", *(columns - {"context"})}
    if "context" in columns:
        read |= {"summary", "documents"} if options.context is None else {options.context}
    reading = replace(options.reading(read), where_may_lack=where_may_lack)
    return open_dump(paths, reading, reject=reject)


def _written(judged: Judged, dumps: Sequence[Dump], writer: RunWriter) -> Judged:
    scores, read = judged.scores, Read.of(*dumps)
    scores = replace(
        scores,
        counts={**scores.counts, **read.oddities},
        notes=[*scores.notes, *read.notes],
        signatures={
            asked: signature.tagged(read.tags) for asked, signature in scores.signatures.items()
        },
        inputs=[path for dump in dumps for path in dump.paths],
    )
    judged = replace(judged, scores=scores)
    for batch in judged.table.to_batches():
        writer.write(batch)
    writer.commit(judged.summary())
    for note in judged.scores.notes:
        warnings.warn(note, OdqaWarning, stacklevel=3)
    return judged

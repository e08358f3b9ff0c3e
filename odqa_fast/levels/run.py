"""A whole run: compress to each level, check, answer from the compressed text alone, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odqa_fast.engines.base import Compressor, Query, Reader, Reply, Task, ask
from odqa_fast.engines.context import read_summary
from odqa_fast.engines.failures import Failures
from odqa_fast.levels.curve import Curve, LevelTally, Outcome, make_curve
from odqa_fast.levels.level_rows import ROWS, Answer, make_outcomes, make_rows
from odqa_fast.levels.plan import Plan
from odqa_fast.levels.ratio import Check, RatioRule
from odqa_fast.noise.manifest import Noised
from odqa_fast.runs.progress import Progress, Watch
from odqa_fast.scoring.job import score
from odqa_fast.signature import Signature
from odqa_fast.texts.text import Text, cut_windows
from odqa_fast.version import __version__

#: Texts that are compressed, answered and scored together, fewer where they are long.
_AT_ONCE = 4096

#: A text, and what is known of its noise.
_Pair = tuple[Text, Noised | None]


@dataclass(frozen=True)
class LevelsResult:
    """What a run came to.

    Attributes:
        curves: by what the texts were: `text`; or `noisy` and, without their noise, `clean`.
        signatures: of their scores, likewise.
        uncompressed: compressions that failed, of all texts, levels and curves.
        unanswered: questions without an answer, likewise; one whose text failed is not asked.
        n_texts, n_questions: how many there are.
    """

    curves: dict[str, Curve]
    signatures: dict[str, Signature]
    uncompressed: Failures
    unanswered: Failures
    n_texts: int
    n_questions: int

    @property
    def curve(self) -> Curve:
        """On the texts as they were given."""
        return next(iter(self.curves.values()))

    @property
    def clean(self) -> Curve | None:
        """On the same texts without their noise, where that was run."""
        return self.curves.get("clean")


def run_levels(
    texts: Sequence[Text],
    compressor: Compressor,
    reader: Reader,
    plan: Plan,
    *,
    noised: Sequence[Noised] | None = None,
    write: Callable[[pa.RecordBatch], None] | None = None,
    progress: Watch | None = None,
) -> LevelsResult:
    """Compresses and answers at every level, on the texts and, where noise is known, without it.

    Args:
        texts: what is compressed; they are gone through once a level, and few are in memory.
        compressor: see `open_compressor`.
        reader: see `open_reader`.
        plan: levels, rule and scoring; and whether, where noise is known, to run without it too.
        noised: the same texts with what was put into them, and then these are compressed; neither
            compressor nor reader sees which it is.
        write: is handed batches of `ROWS`, level by level.
        progress: told how many texts and questions are done at a level.

    Returns:
        Scores, intervals, and what failed and why. A text that fails scores 0 and stays.
    """
    known = noised or ()
    variants: dict[str, Callable[[], Iterable[_Pair]]] = (
        {"text": lambda: ((text, None) for text in texts)}
        if noised is None
        else {"noisy": lambda: ((each.text, each) for each in known)}
    )
    if noised is not None and plan.options.clean is not False:
        variants["clean"] = lambda: ((each.clean, None) for each in known)
    n_texts, n_questions = len(texts), sum(len(text.questions) for text in texts)
    total = len(variants) * len(plan.levels) * (n_texts + n_questions)
    run = _Run(compressor, reader, plan, write, progress, total)
    curves = {name: run.over(name, pairs) for name, pairs in variants.items()}
    signatures = {name: run.signature(name, n_texts) for name in curves}
    return LevelsResult(curves, signatures, run.uncompressed, run.unanswered, n_texts, n_questions)


class _Run:
    def __init__(
        self,
        compressor: Compressor,
        reader: Reader,
        plan: Plan,
        write: Callable[[pa.RecordBatch], None] | None,
        progress: Watch | None,
        total: int,
    ) -> None:
        self._compressor, self._reader, self._plan = compressor, reader, plan
        self._write, self._progress = write, progress
        self._metric_tags: Mapping[str, str] = {}
        self._done, self._total = 0, total
        self.uncompressed, self.unanswered = Failures(), Failures()

    def over(self, name: str, pairs: Callable[[], Iterable[_Pair]]) -> Curve:
        """All levels on some texts."""
        tallies: dict[float, LevelTally] = {}
        for level in self._plan.levels:
            tally = tallies[level] = LevelTally(self._plan.options.weight)
            for window in cut_windows(pairs(), lambda pair: pair[0].n_chars, _AT_ONCE):
                tally.add(self._at(level, window, name))
        return make_curve(tallies)

    def _at(self, level: float, pairs: Sequence[_Pair], name: str) -> list[Outcome]:
        texts = [text for text, _ in pairs]
        noised = [each for _, each in pairs if each is not None]
        compressed = self._compress(level, texts)
        checks = [
            _check(self._plan.rule, text, each, level)
            for text, each in zip(texts, compressed, strict=True)
        ]
        answered = self._answer(level, texts, checks)
        rows = make_rows(texts, compressed, checks, answered, level, name)
        self._score(rows, texts, noised or None)
        if self._write is not None:
            self._write(pa.RecordBatch.from_pydict(rows, schema=ROWS))
        return make_outcomes(texts, checks, answered, rows)

    def _compress(self, level: float, texts: Sequence[Text]) -> list[Reply]:
        sees_answers = self._compressor.sees_answers
        tasks = [
            Task(
                documents=text.texts,
                questions=() if self._plan.options.blind else tuple(q.text for q in text.questions),
                level=level,
                length=self._plan.rule.length,
                answers=tuple(
                    tuple(answer for answer in question.answers or () if answer is not None)
                    for question in text.questions
                )
                if sees_answers
                else (),
            )
            for text in texts
        ]
        found = [Reply("", "error", error="the compressor gave nothing")] * len(tasks)
        for at, _, reply in ask(self._compressor, tasks):
            found[at] = reply
            self._did(1)
        self.uncompressed.tried += len(tasks)
        for each in found:
            if each.result is None:
                self.uncompressed.add(each.error)
        return found

    def _answer(self, level: float, texts: Sequence[Text], checks: Sequence[Check]) -> list[Answer]:
        """The answers to all questions, in order; what failed the check is not read."""
        asked: list[Query] = []
        places: list[int] = []
        n = 0
        for text, check in zip(texts, checks, strict=True):
            for question in text.questions:
                if not check.reason:
                    assert check.summary is not None
                    places.append(n)
                    context = read_summary(check.summary)
                    asked.append(Query(question.text, context, question.id, level))
                n += 1
        self._did(n - len(asked))
        found = [Answer()] * n
        for at in places:
            found[at] = Answer(error="the reader gave nothing")
        for at, prepared, reply in ask(self._reader, asked):
            # What nothing ran for took no time: an answer that is given.
            seconds = reply.seconds if reply.attempts else None
            found[places[at]] = Answer(reply.result, seconds, reply.error, prepared.chars_left_out)
            self._did(1)
        self.unanswered.tried += len(asked)
        for at in places:
            if found[at].error:
                self.unanswered.add(found[at].error)
        return found

    def _did(self, n: int) -> None:
        self._done += n
        if self._progress is not None:
            self._progress(Progress(self._done, self._total, "texts and questions"))

    def _score(
        self, rows: dict[str, list[Any]], texts: Sequence[Text], noised: Sequence[Noised] | None
    ) -> None:
        """Fills in the metrics of the rows."""
        questions = [question for text in texts for question in text.questions]
        columns = {
            "prediction": pa.array(rows["prediction"], pa.string()),
            "answers": pa.array([question.answers for question in questions], _TEXTS),
            "summary": pa.array(rows["summary"], pa.large_string()),
        }
        metric = self._plan.options.metric
        metrics = {metric: "score", "par": "par"}
        if noised is not None:
            metrics |= {"noise_removed": "noise_removed", "evidence_kept": "evidence_kept"}
            for column, values in (
                ("injected", [each.injected for each in noised]),
                ("evidence_sentences", [list(each.evidence) for each in noised]),
            ):
                spread = [
                    value for value, text in zip(values, texts, strict=True) for _ in text.questions
                ]
                columns[column] = pa.array(spread, _TEXTS)
        scores = score(pa.table(columns), list(metrics), self._plan.profile)
        for asked, column in metrics.items():
            rows[column] = scores.table[asked].to_pylist()
        # A text that does not pass scores 0, whatever its answers are.
        rows["score"] = [
            0.0 if value is not None and not passed else value
            for value, passed in zip(rows["score"], rows["passed"], strict=True)
        ]
        self._metric_tags = {
            key: tag for key, tag in scores.signatures[metric].tags if key not in ("n", "odqa_fast")
        }

    def signature(self, name: str, n_texts: int) -> Signature:
        """Everything that could have made it another score."""
        options, profile = self._plan.options, self._plan.profile
        tags = {
            "metric": options.metric,
            **self._metric_tags,
            "levels": ",".join(f"{level:g}" for level in self._plan.levels),
            "weight": "1/sqrt(b)",
            "of": options.weight,
            "noise": {"text": "as-given", "noisy": "known", "clean": "removed"}[name],
            "ratio": self._plan.rule.tag,
            "compressor": self._compressor.signature,
            "questions": "unseen" if options.blind else "seen",
            "reader": self._reader.signature,
            "n": n_texts,
            "odqa_fast": __version__,
        }
        shown = {key: str(tag).replace("|", "/") for key, tag in tags.items()}
        return Signature.make("level_score", 1, profile.id, profile.version, shown)


_TEXTS = pa.large_list(pa.large_string())


def _check(rule: RatioRule, text: Text, compressed: Reply, level: float) -> Check:
    check = rule.check(text.whole, compressed.result, level)
    if compressed.result is None and compressed.error:
        return Check(None, None, f"no summary: {compressed.error}")
    return check

"""A whole run: compress to each level, check, answer from the compressed text alone, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.engines.failures import Failures
from odqa_fast.errors import MetricError, OdqaError
from odqa_fast.levels.curve import Curve, LevelTally, Outcome, curve_of
from odqa_fast.levels.ratio import Check, RatioRule
from odqa_fast.metrics import all_specs
from odqa_fast.metrics.request import parse_request
from odqa_fast.metrics.resources import Resources
from odqa_fast.noise.manifest import Noised
from odqa_fast.profiles import DEFAULT_PROFILE, Profile, get_profile
from odqa_fast.scoring.job import score
from odqa_fast.signature import Signature
from odqa_fast.steps.compressors import Compressed, Compressor, Task
from odqa_fast.steps.readers import Answered, Asked, Reader
from odqa_fast.texts.text import Text, windows

_METRICS = "E.g. f1 or em."

#: Texts that are compressed, answered and scored together, fewer where they are long.
_AT_ONCE = 4096

#: A text, and what is known of its noise.
_Pair = tuple[Text, Noised | None]

#: Is told how many of how many pieces of work are done.
Progress = Callable[[int, int], None]

#: Of what a run writes, a row for each question at each level. Seconds are a row's share of what
#: was done together.
ROWS = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("text_id", pa.string()),
        pa.field("text", pa.string()),
        pa.field("level", pa.float64()),
        pa.field("summary", pa.string()),
        pa.field("prediction", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("par", pa.float64()),
        pa.field("ratio", pa.float64()),
        pa.field("noise_removed", pa.float64()),
        pa.field("evidence_kept", pa.float64()),
        pa.field("passed", pa.bool_()),
        pa.field("reason", pa.string()),
        pa.field("compressor_amortized_seconds", pa.float64()),
        pa.field("reader_amortized_seconds", pa.float64()),
    ]
)


@dataclass(frozen=True)
class LevelsOptions:
    """How to run and score.

    Attributes:
        levels: the largest ratios of compressed to original, each 0 < b <= 1.
        rule: when a compressed text passes.
        metric: of an answer; any metric of a prediction and answers.
        profile: which reference scorer the metric equals.
        of: S(b) is the mean over texts of the mean over a text's questions, or over all questions.
        blind: the compressor does not see the questions.

    Raises:
        OdqaError: no level, or a metric that is not of a prediction and answers alone.
    """

    levels: Sequence[float]
    rule: RatioRule
    metric: str = "f1"
    profile: str | Profile = DEFAULT_PROFILE
    of: Literal["texts", "questions"] = "texts"
    blind: bool = False

    def __post_init__(self) -> None:
        if not self.levels:
            raise OdqaError("no level given.")
        request = parse_request(self.metric, all_specs(), get_profile(self.profile))
        if request.spec.inputs != ("prediction", "answers"):
            raise MetricError(
                f"{self.metric!r} is no metric of a prediction and answers.", hint=_METRICS
            )
        try:
            request.spec.work(request.option, request.profile).opened(Resources())
        except MetricError as error:
            raise MetricError(f"levels cannot score by it: {error.what}", hint=_METRICS) from None


@dataclass(frozen=True)
class LevelsResult:
    """What a run came to.

    Attributes:
        curves: by what the texts were: `text`; or `noisy` and, without their noise, `clean`.
        signatures: of their scores, likewise.
        uncompressed: compressions that failed, of all texts, levels and curves.
        unanswered: questions without an answer, likewise; one whose text failed is not asked.
    """

    curves: dict[str, Curve]
    signatures: dict[str, Signature]
    uncompressed: Failures
    unanswered: Failures

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
    options: LevelsOptions,
    *,
    noised: Sequence[Noised] | None = None,
    clean: bool = True,
    write: Callable[[pa.RecordBatch], None] | None = None,
    progress: Progress | None = None,
) -> LevelsResult:
    """Compresses and answers at every level, on the texts and, where noise is known, without it.

    Args:
        texts: what is compressed; they are gone through once a level, and few are in memory.
        compressor: see `open_compressor`.
        reader: see `open_reader`.
        options: levels, rule and scoring.
        noised: the same texts with what was put into them, and then these are compressed; neither
            compressor nor reader sees which it is.
        clean: also run on the texts without their noise, where it is known.
        write: is handed batches of `ROWS`, level by level.
        progress: is told how far it is.

    Returns:
        Scores, intervals, and what failed and why. A text that fails scores 0 and stays.
    """
    known = noised or ()
    variants: dict[str, Callable[[], Iterable[_Pair]]] = (
        {"text": lambda: ((text, None) for text in texts)}
        if noised is None
        else {"noisy": lambda: ((each.text, each) for each in known)}
    )
    if noised is not None and clean:
        variants["clean"] = lambda: ((each.clean, None) for each in known)
    n_steps = len(options.levels) * sum(1 + len(text.questions) for text in texts)
    run = _Run(compressor, reader, options, write, progress, len(variants) * n_steps)
    curves = {name: run.over(name, pairs) for name, pairs in variants.items()}
    signatures = {name: run.signature(name, len(texts)) for name in curves}
    return LevelsResult(curves, signatures, run.uncompressed, run.unanswered)


class _Run:
    def __init__(
        self,
        compressor: Compressor,
        reader: Reader,
        options: LevelsOptions,
        write: Callable[[pa.RecordBatch], None] | None,
        progress: Progress | None,
        total: int,
    ) -> None:
        self._compressor, self._reader, self._options = compressor, reader, options
        self._write, self._progress = write, progress
        self._metric_tags: Mapping[str, str] = {}
        self._done, self._total = 0, total
        self.uncompressed, self.unanswered = Failures(), Failures()

    def over(self, name: str, pairs: Callable[[], Iterable[_Pair]]) -> Curve:
        """All levels on some texts."""
        tallies: dict[float, LevelTally] = {}
        for level in self._options.levels:
            tally = tallies[level] = LevelTally(self._options.of)
            for window in windows(pairs(), lambda pair: pair[0].n_chars, _AT_ONCE):
                tally.add(self._at(level, window, name))
        return curve_of(tallies)

    def _at(self, level: float, pairs: Sequence[_Pair], name: str) -> list[Outcome]:
        texts = [text for text, _ in pairs]
        noised = [each for _, each in pairs if each is not None]
        compressed = self._compress(level, texts)
        checks = [
            _check(self._options.rule, text, each, level)
            for text, each in zip(texts, compressed, strict=True)
        ]
        answered = self._answer(level, texts, checks)
        rows = _rows(texts, compressed, checks, answered, level, name)
        self._score(rows, texts, noised or None)
        if self._write is not None:
            self._write(pa.RecordBatch.from_pydict(rows, schema=ROWS))
        return _outcomes(texts, checks, answered, rows)

    def _compress(self, level: float, texts: Sequence[Text]) -> list[Compressed]:
        sees_answers = self._compressor.sees_answers
        tasks = [
            Task(
                documents=text.texts,
                questions=() if self._options.blind else tuple(q.text for q in text.questions),
                level=level,
                length=self._options.rule.length,
                answers=tuple(
                    tuple(answer for answer in question.answers or () if answer is not None)
                    for question in text.questions
                )
                if sees_answers
                else (),
            )
            for text in texts
        ]
        found = [Compressed(None, error="the compressor gave nothing")] * len(tasks)
        for at, compressed in self._compressor.compress(tasks):
            found[at] = compressed
            self._did(1)
        self.uncompressed.tried += len(tasks)
        for each in found:
            if each.text is None:
                self.uncompressed.add(each.error)
        return found

    def _answer(
        self, level: float, texts: Sequence[Text], checks: Sequence[Check]
    ) -> list[Answered]:
        """The answers to all questions, in order; what failed the check is not read."""
        asked: list[Asked] = []
        places: list[int] = []
        n = 0
        for text, check in zip(texts, checks, strict=True):
            for question in text.questions:
                if not check.reason:
                    assert check.summary is not None
                    places.append(n)
                    asked.append(Asked(question.id, level, question.text, check.summary))
                n += 1
        self._did(n - len(asked))
        found = [Answered(None)] * n
        for at in places:
            found[at] = Answered(None, error="the reader gave nothing")
        for at, answered in self._reader.read(asked):
            found[places[at]] = answered
            self._did(1)
        self.unanswered.tried += len(asked)
        for at in places:
            if found[at].error:
                self.unanswered.add(found[at].error)
        return found

    def _did(self, n: int) -> None:
        self._done += n
        if self._progress is not None:
            self._progress(self._done, self._total)

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
        metric = self._options.metric
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
        scores = score(pa.table(columns), list(metrics), self._options.profile)
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
        from odqa_fast.version import __version__

        options = self._options
        profile = get_profile(options.profile)
        tags = {
            "metric": options.metric,
            **self._metric_tags,
            "levels": ",".join(f"{level:g}" for level in options.levels),
            "weight": "1/sqrt(b)",
            "of": options.of,
            "noise": {"text": "as-given", "noisy": "known", "clean": "removed"}[name],
            "ratio": options.rule.tag,
            "compressor": self._compressor.signature,
            "questions": "unseen" if options.blind else "seen",
            "reader": self._reader.signature,
            "n": n_texts,
            "odqa_fast": __version__,
        }
        shown = {key: str(tag).replace("|", "/") for key, tag in tags.items()}
        return Signature.make("level_score", 1, profile.id, profile.version, shown)


_TEXTS = pa.large_list(pa.large_string())


def _check(rule: RatioRule, text: Text, compressed: Compressed, level: float) -> Check:
    check = rule.check(text.whole, compressed.text, level)
    if compressed.text is None and compressed.error:
        return Check(None, None, f"no summary: {compressed.error}")
    return check


def _rows(
    texts: Sequence[Text],
    compressed: Sequence[Compressed],
    checks: Sequence[Check],
    answered: Sequence[Answered],
    level: float,
    name: str,
) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {field: [] for field in ROWS.names}
    answers = iter(answered)
    for text, made, check in zip(texts, compressed, checks, strict=True):
        for question in text.questions:
            answer = next(answers)
            rows["id"].append(question.id)
            rows["text_id"].append(text.id)
            rows["summary"].append(check.summary)
            rows["prediction"].append(answer.text)
            rows["ratio"].append(check.ratio)
            rows["passed"].append(not check.reason)
            failed = f"no answer: {answer.error}" if answer.error else None
            rows["reason"].append(check.reason or failed)
            rows["compressor_amortized_seconds"].append(made.seconds)
            rows["reader_amortized_seconds"].append(answer.seconds)
    n = len(rows["id"])
    rows["level"], rows["text"] = [level] * n, [name] * n
    rows["noise_removed"], rows["evidence_kept"] = [None] * n, [None] * n
    return rows


def _outcomes(
    texts: Sequence[Text],
    checks: Sequence[Check],
    answered: Sequence[Answered],
    rows: Mapping[str, list[Any]],
) -> list[Outcome]:
    outcomes = []
    start = 0
    for text, check in zip(texts, checks, strict=True):
        stop = start + len(text.questions)
        outcomes.append(
            Outcome(
                check=check,
                reasons=tuple(
                    reason.partition(":")[0] for reason in rows["reason"][start:stop] if reason
                ),
                left_out=sum(each.chars_left_out > 0 for each in answered[start:stop]),
                **{
                    name: [value for value in rows[name][start:stop] if value is not None]
                    for name in ("score", "par", "noise_removed", "evidence_kept")
                },
            )
        )
        start = stop
    return outcomes

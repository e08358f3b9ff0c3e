"""`ScoreJob`: scores of a dump; and `score`, `score_file`, `diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from odqa_fast.diagnosis import DiagnoseOptions
from odqa_fast.errors import OdqaError
from odqa_fast.metrics.resources import Resources
from odqa_fast.option import Option, Paths, flag, listed
from odqa_fast.profiles import DEFAULT_PROFILE, Profile
from odqa_fast.runs.job import Job, function_of
from odqa_fast.runs.reading import Reading, RowOptions
from odqa_fast.runs.summary import RunSummary
from odqa_fast.runs.threads import Threads
from odqa_fast.scores import ScoreTable

DEFAULT_METRICS = ("em", "f1")

Metrics = Annotated[
    str | Sequence[str],
    Option(
        "Metrics, comma-separated, em,f1 by default; repeatable; see 'odqa-fast metrics'.",
        short="m",
        commas=True,
    ),
]
ProfileName = Annotated[
    str | Profile,
    Option("Which reference scorer to equal; see 'odqa-fast profiles'.", short="p"),
]
#: The metric that an option is for, and the option of that metric.
_OF_METRIC = {
    "bertscore_model": ("bertscore", ""),
    "bertscore_idf": ("bertscore", "idf"),
    "bertscore_baseline": ("bertscore", "rescaled"),
    "tokenizer": ("cr", "tokens"),
}


@dataclass(frozen=True, kw_only=True)
class Scoring(Resources):
    """What rows count in which a model failed, and whether rows are diagnosed."""

    failed: Annotated[
        Literal["zero", "null"],
        Option(
            "Predictions and summaries that are missing because a model failed: count as missing "
            "ones do, or are in no mean."
        ),
    ] = "zero"
    diagnose: Annotated[bool, Option("Say of each row what was retrieved, kept, answered.")] = False
    top_k: Annotated[
        int | None,
        Option("With --diagnose: documents that count as retrieved; all.", low=1),
    ] = None
    evidence: Annotated[
        Literal["token", "raw", "normalized", "regex"],
        Option("With --diagnose: how an answer stands in a document or summary."),
    ] = "token"
    answered: Annotated[
        Literal["em", "contains", "em:regex", "contains:regex"],
        Option("With --diagnose: the metric that must be 1 for a row to be answered."),
    ] = "em"
    bertscore_idf: Annotated[
        Paths,
        Option("A dump whose answers weigh the tokens of bertscore:idf; repeatable."),
    ] = ()

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        of_diagnosis = {"top_k", "evidence", "answered"}
        if of_diagnosis.intersection(self.given()) and not self.diagnose:
            raise OdqaError("--top-k, --evidence and --answered go with --diagnose.")

    @property
    def diagnosis(self) -> DiagnoseOptions | None:
        """What counts as retrieved, kept and answered, where that is asked for."""
        if not self.diagnose:
            return None
        return DiagnoseOptions(self.top_k, self.evidence, self.answered)

    def use_all(self, metrics: Sequence[str]) -> None:
        """Refuses an option that no metric uses: it may be meant for one that is counted otherwise.

        Raises:
            OdqaError: there is one.
        """
        split = [metric.split(":") for metric in metrics]
        for name in _OF_METRIC.keys() & set(self.given()):
            metric, part = _OF_METRIC[name]
            if not any(metric == each[0] and part in ("", *each[1:]) for each in split):
                with_it = ":".join(filter(None, (metric, part)))
                raise OdqaError(
                    f"{flag(type(self), name)} is of no use to {', '.join(metrics)}.",
                    hint=f"It goes with {with_it}.",
                )


@dataclass(frozen=True)
class ScoreJob(Reading, Scoring, Threads, Job[ScoreTable]):
    """Score a dump of predictions.

    It is read in batches; memory does not grow with it.

    In Python the result has no table: the scores of each row are in `out`. `run` takes `progress`
    (see `runs.progress`), and `resources` in the place of those that the options name.

    Raises:
        As `score`, with file and line; OdqaError: `out` would replace an input; OutputError: it
        could not be written.
    """

    command = "score"
    runner = "odqa_fast.scoring.score:score_dump"

    paths: Annotated[
        Paths,
        Option(
            "Files, folders or globs of any format; '-' is standard input. In a TREC run of "
            "over 1 GiB of memory the lines of a query must stand together.",
            positional=True,
        ),
    ]
    metrics: Metrics = DEFAULT_METRICS
    profile: ProfileName = DEFAULT_PROFILE
    answers: Annotated[
        Paths | None,
        Option(
            "A second dump with gold answers (or more), which count whatever the first one "
            "has of these; joined by id or question; held in memory, up to 4 GiB; repeatable."
        ),
    ] = None
    qrels: Annotated[
        Paths | None,
        Option("TREC judgements, joined by query id to a run or any dump; repeatable."),
    ] = None
    out: Annotated[
        str | None, Option("Folder for scores.parquet, summary.json and rejected.jsonl.")
    ] = None
    keep: Annotated[
        str | Sequence[str],
        Option(
            "Columns or own fields of the dump to keep beside the scores, comma-separated.",
            commas=True,
        ),
    ] = ()
    duplicates: Annotated[
        Literal["error", "keep-first", "keep-last", "all", "merge"],
        Option(
            "With --answers or --qrels: an id that stands twice with other content; merge "
            "puts the golds (answers, relevant ids) of several rows together."
        ),
    ] = "error"
    missing: Annotated[
        Literal["null", "zero"] | None,
        Option(
            "Answers or judgements that no row has the id of: 0 in each mean (zero, the "
            "default) or in none."
        ),
    ] = None
    join: Annotated[
        Literal["auto", "id", "question", "order"],
        Option(
            "What --answers is joined by: the first that both files have; the order of the "
            "files of a folder or glob only if it is asked for."
        ),
    ] = "auto"

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        self.use_all(tuple(self.metrics))
        if self.keep and self.out is None:
            raise OdqaError(
                "there is nowhere to keep columns.", hint="Give --out (in Python out=)."
            )
        if [*listed(self.paths), *listed(self.answers), *listed(self.qrels)].count("-") > 1:
            raise OdqaError("'-' stands twice, but standard input can be read only once.")

    def summarize(self, result: ScoreTable) -> RunSummary:
        """See `Job.summarize`."""
        return RunSummary.of(result, self.record())

    @classmethod
    def adapt(cls, options: dict[str, Any]) -> dict[str, Any]:
        """See `Job.adapt`."""
        _adapt_diagnosis(options)
        return super().adapt(options)


@dataclass(frozen=True)
class ScoreData(RowOptions, Scoring, Threads, Job[ScoreTable]):
    """Scores data in memory.

    In Python, `data` is anything with the Arrow capsule methods (pyarrow, polars, DuckDB, pandas),
    a data set of Hugging Face or pyarrow, a LazyFrame of polars, a dict of columns, a list of rows,
    or an iterable of record batches; the columns are those of `odqa_fast.schema.SAMPLES` or their
    common other names. The result's table has one row per sample, in order.

    Raises:
        MetricError, ProfileError: an unknown or repeated name.
        SchemaError: a column is missing or of a type that cannot hold what it should; documents
            have no text and a metric looks into them.
        DataError: a value is bad; names row and column.
        ModelError, EngineError: a model that a metric needs cannot be opened.
    """

    runner = "odqa_fast.scoring.score:score_data"

    data: object
    metrics: Metrics = DEFAULT_METRICS
    profile: ProfileName = DEFAULT_PROFILE

    def summarize(self, result: ScoreTable) -> RunSummary:
        """See `Job.summarize`."""
        return RunSummary.of(result)

    @classmethod
    def adapt(cls, options: dict[str, Any]) -> dict[str, Any]:
        """See `Job.adapt`."""
        _adapt_diagnosis(options)
        return super().adapt(options)


def _adapt_diagnosis(options: dict[str, Any]) -> None:
    """`diagnosis=DiagnoseOptions(...)` as the options that it stands for."""
    diagnosis = options.pop("diagnosis", None)
    if diagnosis is not None:
        options.update(vars(diagnosis), diagnose=True)


score = function_of(ScoreData, "score")
score_file = function_of(ScoreJob, "score_file")
diagnose = function_of(ScoreData, "diagnose", diagnose=True)

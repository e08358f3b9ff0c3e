"""`JudgeJob`: a dump, or the pairs of two, judged by models; and `judge_file`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Annotated, Literal

from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError
from odqa_fast.judge.result import JudgeResult
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.rubrics import bundled_names, bundled_rubrics, load_rubrics
from odqa_fast.option import Option, Paths, listed
from odqa_fast.profiles import DEFAULT_PROFILE
from odqa_fast.runs.cache import Cache
from odqa_fast.runs.job import Job, function_of
from odqa_fast.runs.reading import Reading
from odqa_fast.runs.strict import Strict
from odqa_fast.runs.summary import RunSummary

#: What is asked where nothing is named: of one prediction, and of two.
RUBRIC, PAIR_RUBRIC = "correctness", "pairwise"


def _as_prices(text: str) -> tuple[float, ...]:
    try:
        prices = tuple(map(float, text.split(",")))
        if len(prices) == 2 and all(0 <= price < math.inf for price in prices):
            return prices
    except ValueError:
        pass
    raise OdqaError(f"--price {text!r} is no IN,OUT.", hint="E.g. 0.15,0.60")


@dataclass(frozen=True)
class JudgeJob(Reading, EngineOptions, Cache, Strict, Job[JudgeResult]):
    """Let models judge predictions, and show how far they can be trusted.

    A reply that is cut off is asked for again, at most twice: with 4 and with 16 times the prompt's
    max_new_tokens.

    In Python `run` takes `progress` (see `runs.progress`), and `engines` in the place of those that
    `provider` names.

    Raises:
        OdqaError: there is no such rubric, prompt or engine, or the run would replace the dump.
        SchemaError, DataError: the dump lacks a column, or holds a bad value.
        EngineError: a judge gives no more replies; those that came are in the cache.
        OutputError: the run could not be written.
    """

    command = "judge"
    runner = "odqa_fast.judge.judge:judge_dumps"

    paths: Annotated[
        Paths,
        Option("The dump: files, folders or globs of any format.", positional=True),
    ] = ()
    provider: Annotated[
        str | Sequence[str],
        Option(
            "A judge: http:<base-url>#<model> or onnx:FOLDER; repeatable, and then the majority "
            "counts."
        ),
    ] = ()
    _: KW_ONLY
    pairwise: Annotated[
        tuple[str, str] | None,
        Option(
            "Two dumps A B instead of one: which has the better predictions. Of B, --where counts "
            "if it has the field.",
            metavar="A B",
        ),
    ] = None
    rubric: Annotated[
        str | Sequence[str] | None,
        Option(
            f"{', '.join(bundled_names())}, one of a plug-in, or your own FILE.toml; "
            f"comma-separated. By default {RUBRIC}; with --pairwise, {PAIR_RUBRIC}.",
            commas=True,
        ),
    ] = None
    prompt: Annotated[
        Mapping[str, str],
        Option(
            "RUBRIC=FILE.toml, a prompt of your own; repeatable.",
            pair=("RUBRIC=FILE.toml", f"{RUBRIC}=mine.toml"),
        ),
    ] = field(default_factory=dict)
    partial: Annotated[
        float | None,
        Option("What a partial verdict counts; by default what its rubric says.", low=0, high=1),
    ] = None
    context: Annotated[
        Literal["summary", "documents"] | None,
        Option("What a rubric shows as context; the summary where there is one."),
    ] = None
    system: Annotated[
        str | Sequence[str],
        Option("What made the predictions; with --pairwise twice, of A and of B."),
    ] = ()
    limit: Annotated[int | None, Option("Only the first rows.", low=1)] = None
    sample: Annotated[int | None, Option("Only so many rows, drawn.", low=1)] = None
    seed: Annotated[
        int | None,
        Option("Of --sample, and of the judge's draws at a --temperature.", low=0),
    ] = None
    dry_run: Annotated[
        bool,
        Option("Only say what would be asked, and its cost: each row asked once, and at most."),
    ] = False
    replay: Annotated[bool, Option("Never ask: take kept replies alone.")] = False
    price: Annotated[
        tuple[float, float] | None,
        Option(
            "What a million tokens cost that are sent, and written, for an estimate.",
            read=_as_prices,
            metavar="IN,OUT",
        ),
    ] = None
    profile: Annotated[
        str, Option("Which reference scorer to equal; see 'odqa-fast profiles'.", short="p")
    ] = DEFAULT_PROFILE
    out: Annotated[
        str | None, Option("Folder for scores.parquet, summary.json and rejected.jsonl.")
    ] = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        self._check_inputs()
        rubrics = self.rubrics()
        self._check_use("context", rubrics, lambda each: "context" in each.prompt.places)
        self._check_use("partial", rubrics, lambda each: bool(each.partial))
        providers = listed(self.provider)
        if not providers:
            raise OdqaError(
                "there is no judge.", hint="E.g. --provider http:http://localhost:8000/v1#m"
            )
        if len(set(providers)) < len(providers):
            raise OdqaError("a --provider stands twice.")

    def _check_inputs(self) -> None:
        if self.pairwise is None and not listed(self.paths):
            raise OdqaError("there is no dump to judge.", hint="Name one, or --pairwise A B.")
        if self.pairwise is not None and listed(self.paths):
            raise OdqaError("--pairwise takes two dumps, and another one is named.")
        systems, n = listed(self.system), 1 if self.pairwise is None else 2
        if len(systems) not in (0, n):
            raise OdqaError(
                f"--system stands {len(systems)} times.", hint=f"Give it {n} times, or not."
            )

    def _check_use(
        self, name: str, rubrics: Sequence[Rubric], uses: Callable[[Rubric], bool]
    ) -> None:
        """Refuses an option that none of the rubrics looks at."""
        if getattr(self, name) is not None and not any(map(uses, rubrics)):
            of = " or ".join(each.id for each in bundled_rubrics() if uses(each))
            raise OdqaError(f"--{name} is for --rubric {of}; no such one is asked.")

    def rubrics(self) -> list[Rubric]:
        """What judges are asked.

        Raises:
            OdqaError: see `rubrics.load_rubrics`; or a rubric is for another number of predictions.
        """
        default = RUBRIC if self.pairwise is None else PAIR_RUBRIC
        names = (default,) if self.rubric is None else listed(self.rubric)
        rubrics = load_rubrics(list(map(str, names)), self.prompt, self.partial)
        for each in rubrics:
            if each.compares and self.pairwise is None:
                raise OdqaError(f"--rubric {each.id} compares two dumps: --pairwise A B.")
            if not each.compares and self.pairwise is not None:
                raise OdqaError(f"--rubric {each.id} is for one prediction, not for --pairwise.")
        if self.pairwise is not None and len(rubrics) > 1:
            raise OdqaError("--rubric names one rubric where --pairwise is given.")
        return rubrics

    def summarize(self, result: JudgeResult) -> RunSummary:
        """See `Job.summarize`; each judge has its bounds beside its mean."""
        extras = {"dry_run": list(result.plan)} if self.dry_run else {"judge": result.report}
        summary = RunSummary.of(result.scores, self.record(), **extras)
        more = {
            each.column: replace(summary.metrics[each.column], more=each.as_dict())
            for each in result.ratings
        }
        return replace(summary, metrics={**summary.metrics, **more})

    def check_result(self, result: JudgeResult) -> None:
        """See `Job.check_result`."""
        self.accept(result.failed, result.verdicts, "verdicts", every=not result.came)


judge_file = function_of(JudgeJob, "judge_file")

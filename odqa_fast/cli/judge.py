"""`odqa-fast judge`: a dump, or the pairs of two, judged by models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from odqa_fast.cli import _models, _options, _output
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import GateError, OdqaError

if TYPE_CHECKING:
    from odqa_fast.engines.cached import CachedEngine

_RUBRIC, _PARTIAL = "correctness", 0.5


@_models.options_of_models
def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="The dump: files, folders or globs of any format."),
    ] = None,
    provider: Annotated[
        list[str] | None,
        typer.Option(
            help="A judge: http:<base-url>#<model> or onnx:FOLDER; the majority of several counts."
        ),
    ] = None,
    pairwise: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Two dumps A B instead of one: which has the better predictions. Of B, --where "
            "counts if it has the field."
        ),
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(
            help="correctness, reference-free, faithfulness; comma-separated; correctness by "
            "default. Not with --pairwise."
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(help="RUBRIC=FILE.toml, a prompt of your own; repeatable."),
    ] = None,
    partial: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="What 'partially correct' counts; 0.5 by default."),
    ] = None,
    context: Annotated[
        Literal["summary", "documents"] | None,
        typer.Option(help="What faithfulness is to; the summary where there is one."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="What made the predictions; with --pairwise twice, of A and of B."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first rows.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many rows, drawn.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Of --sample, and of the judge's draws at a --temperature."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only say what would be asked, and its cost: each row asked once, and at most.",
        ),
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Never ask: take kept replies alone.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(help="File of kept replies; by default one in your cache folder."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if any verdict is missing.")
    ] = False,
    price: Annotated[
        str | None, typer.Option(help="IN,OUT: what a million tokens cost, for an estimate.")
    ] = None,
    profile: _options.Profile = "squad",
    mapping: _options.Mapping = None,
    on_error: _options.OnError = "fail",
    where: _options.Where = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for scores.parquet, summary.json and rejected.jsonl."),
    ] = None,
    fmt: _options.Format = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    *,
    how: EngineOptions,
) -> None:
    """Let models judge predictions, and show how far they can be trusted.

    A reply that is cut off is asked for again, at most twice: with 4 and with 16 times the prompt's
    max_new_tokens.
    """
    from odqa_fast.judge import files
    from odqa_fast.judge import rubric as rubrics
    from odqa_fast.judge.selection import Selection

    prompts = _prompts(prompt or [])
    if pairwise is not None and rubric is not None:
        raise OdqaError("--rubric goes with no --pairwise, which has a rubric of its own.")
    names = [] if pairwise else _options.parse_list(_RUBRIC if rubric is None else rubric)
    _all_used(names, partial, context)
    with _output.steps(quiet) as progress:
        options = files.JudgeOptions(
            mapping=_options.parse_mapping(mapping),
            on_error=on_error,
            where=_options.parse_where(where),
            selection=Selection(limit, sample, seed or 0),
            context=context,
            systems=_systems(system or [], 1 if pairwise is None else 2),
            profile=profile,
            prices=_prices(price),
            out=out,
            progress=progress,
        )
        how = replace(how, seed=seed)
        with _output.notes_on_stderr(), _engines(provider or [], how, cache, replay) as engines:
            if pairwise is not None:
                if paths:
                    raise OdqaError("--pairwise takes two dumps, and another one is named.")
                asked = rubrics.pairwise(prompts.pop("pairwise", None))
                _no_more(prompts)
                if dry_run:
                    plan = files.estimate_pair_files(*pairwise, engines, asked, options)
                    return _output.show(plan, fmt)
                judged = files.judge_pair_files(*pairwise, engines, asked, options)
            else:
                if not paths:
                    raise OdqaError(
                        "there is no dump to judge.", hint="Name one, or --pairwise A B."
                    )
                listed = rubrics.make_rubrics(
                    names, prompts, _PARTIAL if partial is None else partial
                )
                if dry_run:
                    plan = files.estimate_file(paths, engines, listed, options)
                    return _output.show(plan, fmt)
                judged = files.judge_file(paths, engines, listed, options)
    _output.show(judged.summary(), fmt)
    if strict and judged.failed:
        raise GateError(f"{judged.failed} verdicts are missing, and --strict was given.")


@contextmanager
def _engines(
    providers: list[str], how: EngineOptions, cache: Path | None, replay: bool
) -> Iterator[list[CachedEngine]]:
    from odqa_fast.engines.cached import CachedEngine
    from odqa_fast.engines.open import honoured_by, open_engine
    from odqa_fast.engines.replies import ReplyStore, default_path

    if not providers:
        raise OdqaError(
            "there is no judge.", hint="E.g. --provider http:http://localhost:8000/v1#m"
        )
    if len(set(providers)) < len(providers):
        raise OdqaError("a --provider stands twice.")
    if replay:
        how = replace(how, key_env=None)  # nothing is sent
    divided = how.divided((name, honoured_by(name)) for name in providers)
    with ExitStack() as stack:
        kept = ReplyStore(cache or default_path())
        stack.callback(kept.close)
        engines = []
        for name, options in zip(providers, divided, strict=True):
            engine = CachedEngine(open_engine(name, options), kept, replay=replay)
            stack.callback(engine.close)
            engines.append(engine)
        yield engines


def _pair(text: str, option: str, form: str, between: str) -> tuple[str, str]:
    first, found, second = text.partition(between)
    if not (first and found and second):
        raise OdqaError(f"{option} {text!r} is no {form}.")
    return first, second


def _prompts(texts: list[str]) -> dict[str, str]:
    prompts: dict[str, str] = {}
    for text in texts:
        name, file = _pair(text, "--prompt", "RUBRIC=FILE.toml", "=")
        if name in prompts:
            raise OdqaError(f"--prompt names {name!r} twice.")
        prompts[name] = file
    return prompts


def _all_used(names: list[str], partial: float | None, context: str | None) -> None:
    """Refuses what none of the rubrics that are asked looks at."""
    if context is not None and "faithfulness" not in names:
        raise OdqaError("--context is for --rubric faithfulness, which is not asked.")
    if partial is not None and not {"correctness", "reference-free"}.intersection(names):
        raise OdqaError("--partial is for --rubric correctness or reference-free; none is asked.")


def _no_more(prompts: dict[str, str]) -> None:
    for name in prompts:
        raise OdqaError(f"--prompt {name}=... goes with no --pairwise.", hint="It is pairwise=...")


def _systems(names: list[str], n: int) -> tuple[str, ...]:
    if len(names) not in (0, n):
        raise OdqaError(f"--system stands {len(names)} times.", hint=f"Give it {n} times, or not.")
    return tuple(names)


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        prices = tuple(float(each) for each in _pair(text, "--price", "IN,OUT", ","))
    except ValueError:
        prices = (-1.0, -1.0)
    if not all(0 <= price < math.inf for price in prices):
        raise OdqaError(f"--price {text!r} is no IN,OUT.", hint="E.g. 0.15,0.60")
    return prices[0], prices[1]

"""The options of models, declared once for every command that takes one."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, Literal

import typer

from odqa_fast.cli import _options
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError

_ENDPOINT = "Of an endpoint: "


def _declared(
    device: _options.Device = "auto",
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            min=1,
            help="Of a model folder, on the CPU; by default $ODQA_FAST_THREADS, or all processors.",
        ),
    ] = None,
    timing: Annotated[
        Literal["batch", "each"],
        typer.Option(
            "--timing",
            help="each: one by one, so that seconds are those of a row by itself; "
            "batch: together, so that they are a row's share, and named amortized.",
        ),
    ] = "batch",
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            min=1,
            help="Of a model folder: prompts that generate together; halved if too many.",
        ),
    ] = None,
    temperature: Annotated[
        float,
        typer.Option(
            "--temperature",
            help="0 takes the likeliest token; below 0 it is left to the endpoint.",
        ),
    ] = 0.0,
    top_p: Annotated[
        float | None,
        typer.Option("--top-p", help="Draw from the likeliest tokens of this probability."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Of the draws; at temperature 0 there are none."),
    ] = None,
    thinking: Annotated[
        Literal["on", "off"] | None,
        typer.Option(
            "--thinking", help="Whether the model thinks first; its chat template's own way."
        ),
    ] = None,
    key_env: Annotated[
        str | None,
        typer.Option(
            "--key-env",
            help=f"{_ENDPOINT}the environment variable that holds its key; ODQA_FAST_API_KEY, "
            "where it is set, by default.",
        ),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency", min=1, help=f"{_ENDPOINT}requests under way at a time, with batch."
        ),
    ] = 8,
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=0.001, help=f"{_ENDPOINT}seconds a request may take."),
    ] = 300.0,
    retries: Annotated[
        int, typer.Option("--retries", min=0, help=f"{_ENDPOINT}tries after one that failed.")
    ] = 5,
    request_field: Annotated[
        list[str] | None,
        typer.Option(
            "--request-field",
            help=f"{_ENDPOINT}NAME=VALUE, one more field of every request, e.g. "
            "reasoning_effort=low; repeatable.",
        ),
    ] = None,
) -> EngineOptions:
    """The options of a model as the library takes them."""
    return EngineOptions(
        device=device,
        threads=threads,
        timing=timing,
        rows=rows,
        temperature=None if temperature < 0 else temperature,
        top_p=top_p,
        seed=seed,
        thinking=thinking,
        key_env=key_env,
        timeout_seconds=timeout,
        retries=retries,
        concurrency=concurrency,
        request_fields=_request_fields(request_field or []),
    )


def options_of_models(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of models, which it gets as one, `how`.

    An option that the command declares itself is the command's alone.
    """
    own = inspect.signature(command, eval_str=True)
    shared = inspect.signature(_declared, eval_str=True).parameters
    added = [each for name, each in shared.items() if name not in own.parameters]
    before = [each for each in own.parameters.values() if each.name != "how"]

    @wraps(command)
    def with_options(**options: Any) -> None:
        of_model = {each.name: options.pop(each.name) for each in added}
        command(**options, how=_declared(**of_model))

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*before, *added)]
    signature = own.replace(parameters=parameters)
    with_options.__signature__ = signature  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def _request_fields(texts: Sequence[str]) -> dict[str, Any]:
    """`["reasoning_effort=low", "top_k=5"]` as fields; a value that is JSON is taken as such."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise OdqaError(
                f"--request-field {text!r} is no NAME=VALUE.", hint="E.g. reasoning_effort=low"
            )
        if name in found:
            raise OdqaError(f"--request-field names {name!r} twice.")
        try:
            found[name] = json.loads(value, parse_constant=_no_json)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def _no_json(text: str) -> None:
    """NaN and Infinity, which are no JSON and so are text."""
    raise ValueError(text)

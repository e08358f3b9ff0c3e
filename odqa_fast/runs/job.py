"""Jobs: what a command does, as data."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeVar

from odqa_fast.errors import OdqaError, OdqaWarning
from odqa_fast.option import Declared, Options, options_of
from odqa_fast.plugins import unknown
from odqa_fast.runs.summary import RunSummary

P = ParamSpec("P")
#: What a job gives back.
R = TypeVar("R")


class Job(Options, Generic[R]):
    """What a command does: frozen, typed, picklable; `run` does it.

    Attributes:
        command: the name of the command; empty where there is none.
        runner: the function that does it, `module:function`; imported when it runs, so that
            describing a job costs nothing.
    """

    command: ClassVar[str] = ""
    runner: ClassVar[str]

    def run(self, **watched: Any) -> R:
        """Does it, and warns of what a reader of its numbers should know.

        Args:
            watched: `progress`, told how far it is (see `runs.progress`), and what else does not
                travel with a job.
        """
        module, _, name = self.runner.partition(":")
        result: R = getattr(import_module(module), name)(self, **watched)
        for note in self.summarize(result).notes:
            warnings.warn(note, OdqaWarning, stacklevel=3)
        return result

    def summarize(self, result: R) -> RunSummary:
        """What `summary.json`, `--format` and every report show of the result."""
        raise NotImplementedError

    def check_result(self, result: R) -> None:
        """Raises where the result, though it is written, is not what was asked for.

        Raises:
            EngineError: nothing came of any row.
            GateError: a gate failed.
        """

    def record(self) -> dict[str, Any]:
        """See `Options.record`; with the command, so that `from_record` makes the job again."""
        return {"command": self.command, **super().record()}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """A job as TOML or JSON has it: a key an option.

        Raises:
            OdqaError: there is no such option, one is missing, or a value is none of it.
        """
        known = {each.name: each for each in options_of(cls)}
        for name in table:
            if name not in known:
                what, hint = unknown("option", name, known, f"Options: {', '.join(known)}.")
                raise OdqaError(what, where=cls.command, hint=hint)
        for name, each in known.items():
            if each.is_required and name not in table:
                raise OdqaError(f"{name!r} is missing.", where=cls.command, hint=each.said.help)
        return cls(**table)

    @classmethod
    def adapt(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Takes out of keyword arguments what no option is, for `run`; older spellings as well."""
        known = {each.name for each in options_of(cls)}
        return {name: options.pop(name) for name in set(options) - known}


def function_of(job: Callable[P, Job[R]], name: str, **fixed: Any) -> Callable[P, R]:
    """A function that does a job, with the job's options as arguments.

    Args:
        job: the class of the job.
        name: of the function.
        fixed: options that have this value, whatever the arguments say.
    """
    kind: Any = job

    @wraps(kind, updated=())
    def function(*args: P.args, **options: P.kwargs) -> R:
        watched = kind.adapt(options)
        done: R = kind(*args, **{**options, **fixed}).run(**watched)
        return done

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{inspect.getdoc(kind)}\n\n{arguments(kind)}"
    function.__signature__ = inspect.signature(kind)  # type: ignore[attr-defined]
    return function


def arguments(job: type[Job[Any]]) -> str:
    """The options of a job as the Args section of a docstring."""
    return "\n".join(["Args:", *(f"    {each.name}: {_said(each)}" for each in options_of(job))])


def _said(each: Declared) -> str:
    shown = "" if each.is_required or each.default in (None, (), {}) else f" [{each.default!r}]"
    return f"{each.said.help}{shown}"

"""Chat templates, compiled and rendered within bounds: as data, they may ask for anything.

jinja2's sandbox keeps a template from code and from changing what it is given. It bounds neither
time nor memory, so that is done here: each line looks at a clock, and an operation is refused
before it makes something large.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import unwrap
from math import prod
from types import FrameType
from typing import Any

from odqa_fast.errors import EngineError, ModelError

#: A template takes microseconds for a prompt of some kilobytes.
SECONDS = 5.0
#: Characters of a prompt, or of a text or list on the way to it.
LARGEST = 1 << 24
#: The sizes of all that goes into an operation, multiplied: about what may come of it.
_MOST_WORK = 10**9

#: Of a power of whole numbers.
_MOST_BITS = 1 << 12

_WIDTH = re.compile(r"\d{6}")


class Template:
    """A compiled chat template.

    Args:
        source: its text; it is not told the date, which some templates would put into the prompt.
        where: names the model in errors.

    Raises:
        ModelError: it cannot be read.
        EngineError: jinja2 is not installed.
    """

    def __init__(self, source: str, where: str) -> None:
        with _explained("cannot be read", where):
            self._template = _environment().from_string(source)
        self._where = where

    def render(self, **given: Any) -> str:
        """The prompt.

        Raises:
            ModelError: the template refuses, fails, or asks for too much time or text.
        """
        parts: list[str] = []
        size = 0
        with _explained("refuses the prompt", self._where):
            for part in self._template.generate(**given):
                parts.append(part)
                size += len(part)
                if size > LARGEST:
                    raise OverflowError(f"its text has more than {LARGEST} characters")
        return "".join(parts)


@contextmanager
def _explained(what: str, where: str) -> Iterator[None]:
    """Bounds the time, and tells whatever a template may raise as an error of ours."""
    try:
        with _within(SECONDS):
            yield
    except EngineError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"the chat template {what}: {said}.", where=where) from None


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises from the next line of Python once the time is over.

    A trace function sees each line of this thread alone, in any thread; a signal would need the
    main one, and another thread could not end this one.
    """
    end = time.monotonic() + seconds
    before = sys.gettrace()

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        if time.monotonic() > end:
            raise TimeoutError(f"it takes more than {seconds:g} s")
        return look

    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)


def _environment() -> Any:
    try:
        import jinja2
        from jinja2 import nodes
        from jinja2.sandbox import ImmutableSandboxedEnvironment
        from jinja2.visitor import NodeTransformer
    except ImportError:
        raise EngineError(
            "chat templates need the library jinja2.", hint="pip install 'odqa-fast[cpu]'"
        ) from None

    class Adding(NodeTransformer):
        """`a ~ b` as a sum of texts, for that operator cannot be intercepted."""

        def visit_Concat(self, node: nodes.Concat) -> Any:
            self.generic_visit(node)
            texts = [_node(nodes.Filter, n, n, "string", [], [], None, None) for n in node.nodes]
            total = texts[0]
            for text in texts[1:]:
                total = _node(nodes.Add, node, total, text)
            return total

    def _node(kind: Any, at: nodes.Node, *fields: Any) -> Any:
        made = kind(*fields, lineno=at.lineno)
        made.environment = at.environment
        return made

    class Bounded(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset({"*", "**", "%", "+"})

        def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
            parsed: nodes.Template = Adding().visit(super()._parse(source, name, filename))
            return parsed

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if operator == "**" and isinstance(left, int) and isinstance(right, int):
                _check_work([left.bit_length(), right], _MOST_BITS)
            elif operator == "%" and isinstance(left, str):
                _check_width(left)
            elif operator == "+":
                _check_work([max(1, _size(left)) + max(1, _size(right))], LARGEST)
            elif operator == "*" and not (isinstance(left, int) and isinstance(right, int)):
                _check_work([_size(left), _size(right)], LARGEST)
            return super().call_binop(context, operator, left, right)

        def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
            # The sandbox wraps a text's own way to format.
            method = unwrap(function)
            owner = getattr(method, "__self__", None)
            if isinstance(owner, str) and method.__name__.startswith("format"):
                _check_width(owner)
            _check_work([_size(each) for each in (owner, *args, *kwargs.values())])
            return super().call(context, function, *args, **kwargs)

    def bounded(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(apply)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if name == "format":
                _check_width(str(args[0]))
            _check_work([_size(each) for each in (*args, *kwargs.values())])
            return apply(*args, **kwargs)

        return checked

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = Bounded(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = refuse
    filters: Mapping[str, Any] = environment.filters
    environment.filters = {name: bounded(name, apply) for name, apply in filters.items()}
    return environment


def _size(value: Any) -> int:
    """What a value may add to an operation: its length, or a number itself."""
    if isinstance(value, int):
        return abs(value)
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def _check_work(sizes: list[int], most: int = _MOST_WORK) -> None:
    if prod(max(1, size) for size in sizes) > most:
        raise OverflowError("an operation would make something too large")


def _check_width(text: str) -> None:
    """Refuse a format whose fields may be as wide as a number in it says."""
    if _WIDTH.search(text):
        raise OverflowError("a format has too wide a field")

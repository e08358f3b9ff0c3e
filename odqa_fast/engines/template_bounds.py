"""Bounds for chat templates: as data, they may ask for anything.

jinja2's sandbox keeps a template from code and from changing what it is given. It bounds neither
time nor memory, so that is done here: each line looks at a clock, and an operation is refused
before it makes something large.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import unwrap
from math import prod
from types import FrameType
from typing import Any

from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

#: A template takes microseconds for a prompt of some kilobytes.
SECONDS = 5.0
#: Characters of a prompt, or of a text or list on the way to it.
LARGEST = 1 << 24
#: The sizes of all that goes into an operation, multiplied: about what may come of it.
_MOST_WORK = 10**9

#: Of a power of whole numbers.
_MOST_BITS = 1 << 12

_WIDTH = re.compile(r"\d{6}")


class OutOfBoundsError(Exception):
    """A template asks for more time or memory than it may have."""


def bound_text(parts: Iterable[str]) -> str:
    """The text of a template's parts.

    Raises:
        OutOfBoundsError: it is longer than `LARGEST`.
    """
    taken: list[str] = []
    size = 0
    for part in parts:
        taken.append(part)
        size += len(part)
        if size > LARGEST:
            raise OutOfBoundsError(f"its text has more than {LARGEST} characters")
    return "".join(taken)


@contextmanager
def bound_time() -> Iterator[None]:
    """Raises `OutOfBoundsError` from the next line of Python once `SECONDS` are over.

    A trace function sees each line of this thread alone, in any thread; a signal would need the
    main one, and another thread could not end this one.
    """
    seconds = SECONDS
    end = time.monotonic() + seconds
    before = sys.gettrace()

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        if time.monotonic() > end:
            raise OutOfBoundsError(f"it takes more than {seconds:g} s")
        return look

    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)


class _Adding(NodeTransformer):
    """`a ~ b` as a sum of texts, for that operator cannot be intercepted."""

    def visit_Concat(self, node: nodes.Concat) -> Any:
        """See `jinja2.visitor.NodeVisitor`."""
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


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox in which an operation is refused before it makes something large."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.add_filters(dict(self.filters))

    def add_filters(self, filters: Mapping[str, Callable[..., Any]]) -> None:
        """Add filters, each within bounds."""
        bounded = {name: _bounded(name, apply) for name, apply in filters.items()}
        self.filters = {**self.filters, **bounded}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parsed: nodes.Template = _Adding().visit(super()._parse(source, name, filename))
        return parsed

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """See `jinja2.sandbox.SandboxedEnvironment`."""
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
        """See `jinja2.sandbox.SandboxedEnvironment`."""
        # The sandbox wraps a text's own way to format.
        method = unwrap(function)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str) and method.__name__.startswith("format"):
            _check_width(owner)
        _check_work([_size(each) for each in (owner, *args, *kwargs.values())])
        return super().call(context, function, *args, **kwargs)


def _bounded(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(apply)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if name == "format":
            _check_width(str(args[0]))
        _check_work([_size(each) for each in (*args, *kwargs.values())])
        return apply(*args, **kwargs)

    return checked


def _size(value: Any) -> int:
    """What a value may add to an operation: its length, or a number itself."""
    if isinstance(value, int):
        return abs(value)
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def _check_work(sizes: list[int], most: int = _MOST_WORK) -> None:
    if prod(max(1, size) for size in sizes) > most:
        raise OutOfBoundsError("an operation would make something too large")


def _check_width(text: str) -> None:
    """Refuse a format whose fields may be as wide as a number in it says."""
    if _WIDTH.search(text):
        raise OutOfBoundsError("a format has too wide a field")

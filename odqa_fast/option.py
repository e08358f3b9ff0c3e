"""Options: each is declared once, as a field of a frozen dataclass, with its `Option`.

From the declaration come the keyword argument in Python, the option of the command line, the key of
a TOML table, what `summary.json` records, and every message on it.
"""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from odqa_fast.errors import OdqaError
from odqa_fast.shares import as_fraction

T = TypeVar("T")

#: Files, globs, folders and addresses, as options name them.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class Option:
    """What is said of an option beside its name, type and default.

    Attributes:
        help: for a person who has never seen the code.
        flag: its name on the command line without dashes; by default the field's, with dashes.
        short: one letter for the command line.
        unit: what a number counts.
        low, high: the smallest and the largest value.
        above, below: bounds that are no values themselves.
        positional: given without a flag.
        commas: a list may be written with commas.
        pair: how a text of a mapping is written, `COLUMN=NAME`, and an example of it.
        empty_values: a mapping's value may be an empty text.
        as_json: a mapping's value that is JSON is taken as such.
        read: makes the value of a text; for types that have no way of their own to be written.
        metavar: what stands for the value in the help.
        changes_nothing: no number depends on it: not the results, only how they come about.
    """

    help: str
    flag: str = ""
    short: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    positional: bool = False
    commas: bool = False
    pair: tuple[str, str] = ("NAME=VALUE", "a=b")
    empty_values: bool = False
    as_json: bool = False
    read: Callable[[str], Any] | None = None
    metavar: str = ""
    changes_nothing: bool = False

    @property
    def range(self) -> str:
        """The values a number may have, in words; empty where it may be any."""
        words = [
            f"{said} {bound:g}"
            for bound, said in ((self.above, "above"), (self.below, "below"))
            if bound is not None
        ]
        if self.low is not None:
            words.append(f"{self.low:g} or more")
        if self.high is not None:
            words.append(f"at most {self.high:g}")
        return " and ".join(words)

    def holds(self, value: float) -> bool:
        """Whether a number is within the bounds."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


@dataclass(frozen=True)
class Declared:
    """An option as a class declares it.

    Attributes:
        name: of the field.
        kind: the type without None.
        optional: whether None is a value.
        default: its value where it is not given; MISSING where it has to be.
        said: its `Option`.
        group: the class that declared it first; another may say it again in other words.
    """

    name: str
    kind: Any
    optional: bool
    default: Any
    said: Option
    group: type

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + (self.said.flag or self.name.replace("_", "-"))

    @property
    def is_required(self) -> bool:
        """Whether it has to be given."""
        return self.default is MISSING

    @property
    def is_list(self) -> bool:
        """Whether it holds several texts."""
        return get_origin(self.kind) is tuple

    @property
    def is_mapping(self) -> bool:
        """Whether it holds names with values."""
        return get_origin(self.kind) is Mapping

    def checked(self, value: Any) -> Any:
        """A value as Python, TOML or the command line gives it, in the field's own type.

        Raises:
            OdqaError: it is none of this option.
        """
        if value is None:
            # What is not given on the command line, or by older calls.
            value = None if self.optional else self.default
        if value is None:
            return None
        if isinstance(value, str) and self.said.read is not None:
            value = self.said.read(value)
            if value is None:
                return None
        if self.is_mapping:
            value = self._mapping(value)
        elif self.is_list:
            value = self._list(value)
        elif get_origin(self.kind) is Literal:
            self._choose(value)
        elif self.kind in (int, float):
            value = self._number(value)
        elif self.kind is bool and not isinstance(value, bool):
            raise self._wrong(value, "true or false")
        return value

    def _wrong(self, value: object, said: str) -> OdqaError:
        return OdqaError(f"{self.flag} has to be {said}, not {value!r}.")

    def _choose(self, value: object) -> None:
        choices = get_args(self.kind)
        if value not in choices:
            raise self._wrong(value, f"one of {', '.join(map(str, choices))}")

    def _number(self, value: Any) -> float:
        whole = self.kind is int
        try:
            number = (
                None
                if isinstance(value, str | bool)
                else (operator.index(value) if whole else float(value))
            )
        except (TypeError, ValueError):
            number = None
        if number is None or not math.isfinite(number):
            what = "a whole number" if whole else "a finite number"
            raise self._wrong(value, ", ".join(filter(None, (what, self.said.range))))
        if not self.said.holds(number):
            raise self._wrong(number, self.said.range)
        return number

    def _list(self, value: Any) -> tuple[Any, ...]:
        items = [value] if isinstance(value, str | os.PathLike) else list(value)
        if self.said.commas:
            items = [part.strip() for each in items for part in str(each).split(",")]
            items = [each for each in items if each]
        of = get_args(self.kind)
        if of[-1] is Ellipsis or len(items) == len(of):
            return tuple(items)
        raise OdqaError(f"{self.flag} takes {len(of)} values, and {len(items)} are given.")

    def _mapping(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Mapping):
            return dict(value)
        found: dict[str, Any] = {}
        form, example = self.said.pair
        for pair in [value] if isinstance(value, str) else value:
            name, equals, text = pair.partition("=")
            if not (equals and name and (text or self.said.empty_values)):
                raise OdqaError(f"{self.flag} {pair!r} is no {form}.", hint=f"E.g. {example}")
            if found.setdefault(name, text) != text:
                raise OdqaError(f"{self.flag} gives {name!r} two values.", hint="Give it one.")
        read = _json_or_text if self.said.as_json else str
        return {name: read(text) for name, text in found.items()}


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return text


def _no_json(text: str) -> None:
    """NaN and Infinity, which are no JSON and so are text."""
    raise ValueError(text)


def as_share(text: str) -> float:
    """`"0.2"` or `"20%"` as 0.2; from 2 on it is percent without the sign as well.

    Raises:
        OdqaError: it is no number, or one of which that cannot be told.
    """
    return as_fraction(text, "share")[0]


def options_of(group: type) -> tuple[Declared, ...]:
    """The options of a dataclass: the positional ones, its own, and those of each of its bases."""
    found: tuple[Declared, ...] = _options_of(group)
    return found


@cache
def _options_of(group: Any) -> tuple[Declared, ...]:
    hints = get_type_hints(group, include_extras=True)
    found = [_declared(group, each, hints[each.name]) for each in fields(group)]
    known = [each for each in found if each is not None]
    homes = list(group.__mro__)
    return tuple(sorted(known, key=lambda e: (not e.said.positional, homes.index(e.group))))


def _declared(group: type, each: Field[Any], hint: Any) -> Declared | None:
    if get_origin(hint) is not Annotated:
        return None
    kind, *notes = get_args(hint)
    said = next((note for note in notes if isinstance(note, Option)), None)
    if said is None:
        return None
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kinds = [part for part in parts if part is not NoneType]
    # Several texts may be given as one, or in any sequence; they are kept as a tuple.
    several = any(get_origin(part) is Sequence for part in kinds)
    default = each.default if each.default_factory is MISSING else each.default_factory()
    home = next(c for c in reversed(group.__mro__) if each.name in get_annotations(c))
    kind = tuple[str, ...] if several else kinds[0]
    return Declared(each.name, kind, len(kinds) < len(parts), default, said, home)


@dataclass(frozen=True, kw_only=True)
class Options:
    """A group of options: its values are checked, and put into their own types, as it is made."""

    def __post_init__(self) -> None:
        for each in options_of(type(self)):
            object.__setattr__(self, each.name, each.checked(getattr(self, each.name)))
        self.check()

    def check(self) -> None:
        """Refuses options that exclude each other or need others.

        Raises:
            OdqaError: there are such.
        """

    def given(self) -> list[str]:
        """The names of the options that are not as they are by default."""
        return [
            each.name
            for each in options_of(type(self))
            if each.is_required or getattr(self, each.name) != each.default
        ]

    def part(self, group: type[T]) -> T:
        """The options of one of the groups that this is made of."""
        return group(**{each.name: getattr(self, each.name) for each in options_of(group)})

    def record(self) -> dict[str, Any]:
        """The options as JSON has them, without those that are None or empty by default."""
        found = {}
        for each in options_of(type(self)):
            value = getattr(self, each.name)
            if value != each.default or value not in (None, (), {}):
                found[each.name] = _plain(value)
        return found


def listed(paths: Paths | None) -> tuple[str | os.PathLike[str], ...]:
    """Paths one by one, however they are given."""
    if paths is None:
        return ()
    return (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)


def flag(group: type, name: str) -> str:
    """How an option of a group is called on the command line."""
    return next(each.flag for each in options_of(group) if each.name == name)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, frozenset):
        value = sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, bytes | os.PathLike | str):
        return os.fsencode(value).decode(errors="replace")
    return value

"""What can be added: a module in a folder of ours, or an entry point of an installed package.

One scan finds both by their names and imports nothing; what is asked for is imported then.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar

from odqa_fast.errors import OdqaError, OdqaWarning

T = TypeVar("T")

#: What has been warned of: once a process is enough.
_warned: set[str] = set()


@dataclass(frozen=True)
class Source:
    """Where a plug-in comes from.

    Attributes:
        name: what it is asked for by.
        shown: the place, for messages.
        load: imports it.
    """

    name: str
    shown: str
    load: Callable[[], Any]


@dataclass(frozen=True)
class Plugins:
    """All things of one kind that there are, e.g. all compressors.

    Attributes:
        kind: what one is called in messages, e.g. `compressor`.
        package: the package whose modules are such things, but for those with an underscore.
        group: the entry points that are such things too, e.g. `odqa_fast.compressors`; each names a
            module, or whatever else a module of `package` would be; see `load_path` for data files.
        files: how the names of data files end that are such things, e.g. `.toml`; none where empty.
            What is loaded of one is its path.
        listing: says how to see all of them; by default they are listed.
        error: raised where there is none of a name.
    """

    kind: str
    package: str
    group: str
    files: str = ""
    listing: str = ""
    error: type[OdqaError] = OdqaError

    def names(self) -> list[str]:
        """The names there are, in order.

        Raises:
            OdqaError: two things have one name.
        """
        return sorted(self._sources())

    def load(self, name: str) -> Any:
        """The thing of a name: a module, the path of a file, or what an entry point names.

        Raises:
            OdqaError: there is none of that name, it is broken, or two have one name.
        """
        sources = self._sources()
        if name not in sources:
            listing = self.listing or f"{self.kind.capitalize()}s: {', '.join(sorted(sources))}."
            what, hint = unknown(self.kind, name, sources, listing)
            raise self.error(what, hint=hint)
        source = sources[name]
        try:
            return source.load()
        except OdqaError:
            raise
        except Exception as error:
            raise OdqaError(
                f"the {self.kind} {name!r} is broken: {_said(error)}.", where=source.shown
            ) from error

    def load_holding(self, name: str, *held: str) -> Any:
        """The module of a name, of a kind whose modules have to hold something.

        Args:
            name: as of `load`.
            held: what it has to hold, by name.

        Raises:
            OdqaError: as `load`, or it lacks one of these.
        """
        loaded = self.load(name)
        if absent := [each for each in held if not hasattr(loaded, each)]:
            raise OdqaError(
                f"the {self.kind} {name!r} is broken: it has no {absent[0]}.",
                where=self._sources()[name].shown,
            )
        return loaded

    def load_path(self, name: str) -> Path:
        """The path of a data file by its name, of kinds whose things are `files`.

        An entry point names that path, or a module beside which the file `NAME` + `files` lies.

        Raises:
            OdqaError: as `load`, or an entry point names neither.
        """
        found = self.load(name)
        if isinstance(found, str | Path):
            return Path(found)
        if beside := getattr(found, "__file__", None):
            return Path(beside).with_name(f"{name}{self.files}")
        raise OdqaError(
            f"the {self.kind} {name!r} is broken: its entry point names neither a path nor a "
            f"module that a file {name}{self.files} lies beside.",
            where=self._sources()[name].shown,
        )

    def load_all(self) -> dict[str, Any]:
        """All things by name. One that is broken is left out, with a warning.

        Raises:
            OdqaError: two things have one name.
        """
        loaded = {name: self._attempt(each, _same) for name, each in self._sources().items()}
        return {name: each for name, each in sorted(loaded.items()) if each is not None}

    def collect(self, read: Callable[[Any], Iterable[tuple[str, T]]]) -> dict[str, T]:
        """What all of them hold, by name. One that is broken is left out, with a warning.

        Args:
            read: what one of them holds, each with its name.

        Raises:
            OdqaError: two things have one name; names both.
        """
        found: dict[str, T] = {}
        homes: dict[str, str] = {}
        for _, source in sorted(self._sources().items()):
            for name, each in self._attempt(source, lambda loaded: list(read(loaded))) or ():
                if name in homes:
                    raise self._two(name, homes[name], source.shown)
                found[name], homes[name] = each, source.shown
        return found

    def _attempt(self, source: Source, read: Callable[[Any], T]) -> T | None:
        """What is read of a thing; None, and a warning, where it is broken."""
        try:
            return read(source.load())
        except Exception as error:
            note = f"the {self.kind} plug-in {source.name!r} ({source.shown}) is left out: "
            note += f"{_said(error)}."
            if note not in _warned:
                _warned.add(note)
                warnings.warn(note, OdqaWarning, stacklevel=4)
            return None

    def _sources(self) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for source in (*self._modules(), *self._files(), *self._entry_points()):
            if source.name in found:
                raise self._two(source.name, found[source.name].shown, source.shown)
            found[source.name] = source
        return found

    def _modules(self) -> Iterator[Source]:
        for each in iter_modules(map(str, self._folders())):
            if not each.name.startswith("_"):
                module = f"{self.package}.{each.name}"
                yield Source(each.name, f"module {module}", partial(import_module, module))

    def _files(self) -> Iterator[Source]:
        for folder in self._folders() if self.files else ():
            for path in sorted(folder.glob(f"[!_]*{self.files}")):
                name = path.name.removesuffix(self.files)
                yield Source(name, str(path), partial(Path, path))

    def _folders(self) -> list[Path]:
        spec = find_spec(self.package)
        return [Path(each) for each in (spec and spec.submodule_search_locations) or ()]

    def _entry_points(self) -> Iterator[Source]:
        for each in _entry_points(tuple(sys.path)).select(group=self.group):
            package = f" of {each.dist.name} {each.dist.version}" if each.dist else ""
            yield Source(each.name, f"entry point {each.value}{package}", each.load)

    def _two(self, name: str, one: str, other: str) -> OdqaError:
        return OdqaError(
            f"two {self.kind}s have the name {name!r}: {one}, and {other}.",
            hint="Rename or uninstall one.",
        )


@cache
def _entry_points(path: tuple[str, ...]) -> Any:
    """All entry points of what is installed on a search path."""
    # Takes some milliseconds, which a program that looks for nothing need not spend.
    from importlib.metadata import entry_points

    return entry_points()


def open_argument(opens: Callable[[str, Any], T], name: str, argument: str, options: Any) -> T:
    """What a plug-in opens of `name:argument`.

    Args:
        opens: its function, of the argument and the options.
        name: the plug-in, for the message.
        argument: what stands behind the colon; empty where nothing does.
        options: handed on.

    Raises:
        OdqaError: it does not take the argument, which a plug-in may say by a `ValueError`.
    """
    try:
        return opens(argument, options)
    except ValueError as error:
        asked = f"{name}:{argument}" if argument else name
        raise OdqaError(f"{asked!r} cannot be opened: {_said(error)}.") from error


def _same(loaded: T) -> T:
    return loaded


def _said(error: Exception) -> str:
    text = str(error) if isinstance(error, OdqaError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split()).rstrip(".")


def unknown(kind: str, name: str, known: Iterable[str], listing: str) -> tuple[str, str]:
    """The message and hint for a name that is not in a table, with the closest ones named."""
    known = sorted(known)
    close = get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    closest = f"Closest: {', '.join(close)}. " if close else ""
    return f"no {kind} {name!r}.", f"{closest}{listing}"

"""What an input was: its name, its size and a hash of what it holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from odqa_fast.io.input_paths import Input, find
from odqa_fast.io.source import Source
from odqa_fast.option import Paths


@dataclass(frozen=True)
class InputIdentity:
    """An input as it was read.

    Attributes:
        path: its name, as in `Dump.paths`.
        size: its bytes, compressed as they came; None where that is not known.
        hash: of these bytes, `odqa128:` and 32 hexadecimal digits: a hash of our own
            (`src/core/content_hash.hpp`), for those that others have take longer than to score. Two
            files have one hash by a chance of 1 in 2^128; it is no proof against somebody who wants
            to forge one. None where to read all of it would be a second way through the network.
    """

    path: str
    size: int | None
    hash: str | None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def identify_source(source: Source, file: Input) -> InputIdentity:
    """Identify an input that has been read, by what was read; the rest of it is read here.

    Args:
        source: its bytes, `hashed`.
        file: what was opened.
    """
    if source.was_reopened and file.filesystem is not None:
        return InputIdentity(file.name, file.size, None)
    digest = source.hash_all()
    return InputIdentity(file.name, source.position, f"odqa128:{digest}")


def identify(paths: Paths) -> list[InputIdentity]:
    """Identify the inputs that paths stand for, in the order in which they would be read.

    They are read whole, at some gigabytes a second and mostly without the interpreter's lock; of
    standard input nothing is left.

    Args:
        paths: as for `open_dump`.

    Raises:
        DataError: one is not there or cannot be read.
    """
    return [_identify_whole(file) for file in find(paths)]


def identify_again(file: Input) -> InputIdentity:
    """Identify an input that has been read otherwise, or not to its end.

    It is read whole; a pipe, or a file behind a network, is not, and has no hash.

    Args:
        file: what was read.

    Raises:
        DataError: it cannot be read any more.
    """
    if file.filesystem is not None or file.size is None:
        return InputIdentity(file.name, file.size, None)
    return _identify_whole(file)


def _identify_whole(file: Input) -> InputIdentity:
    with file.open() as raw:
        return identify_source(Source(raw, file.name, hashed=True), file)

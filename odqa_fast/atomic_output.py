"""Folders that appear whole, or not at all: a killed process leaves the old one or the new one."""

from __future__ import annotations

import ctypes
import errno
import glob
import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType

from odqa_fast.errors import OutputError


def cache_folder() -> Path:
    """Where all is kept that can be made or fetched again, replies and downloads: the folder that
    ODQA_FAST_CACHE names, or odqa-fast in the user's cache folder."""
    if named := os.environ.get("ODQA_FAST_CACHE"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base, "odqa-fast").expanduser()


_numbers = count()
#: The unfinished folders of this process.
_unfinished: set[Path] = set()


class WholeFolder:
    """A folder that is written beside its place and moved there in one step at `commit`.

    Args:
        out: the place; a folder of the same kind that is there already is replaced.
        kind: what it holds, for errors: "a run".
        known: names that may be in a folder of that kind. One with anything else is left alone.

    Raises:
        OutputError: the place holds something else, or cannot be written.
    """

    def __init__(self, out: Path, kind: str, known: frozenset[str]) -> None:
        # Through links: what is exchanged is the folder that a link means, not the link.
        self.out = Path(os.path.realpath(out))
        if not (out.name and self.out.name):
            raise OutputError(
                "cannot be replaced.", where=str(out), hint="Name a folder inside it."
            )
        self._kind = kind
        self._known = known
        self._made: list[Path] = []
        #: Where to write until `commit`.
        self.partial = partial_path(self.out)

    def __enter__(self) -> WholeFolder:
        try:
            self._check()
            self._made = [folder for folder in self.out.parents if not folder.exists()]
            self.out.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(self.out)
            _unfinished.add(self.partial)
            self.partial.mkdir()
        except BaseException as error:
            self._discard()
            if isinstance(error, OSError):
                raise self.failed(error) from None
            raise
        return self

    def _check(self) -> None:
        if self.out.is_dir():
            strangers = {entry.name for entry in self.out.iterdir()} - self._known
            if strangers:
                raise OutputError(
                    f"the folder holds {sorted(strangers)[0]!r}, which is no part of {self._kind}.",
                    where=str(self.out),
                    hint=f"Name a new folder, or one that holds {self._kind}.",
                )
        for place in (self.out, *self.out.parents):
            if place.exists() and not place.is_dir():
                raise OutputError(
                    "is a file.", where=str(place), hint="--out takes a folder to write into."
                )

    def commit(self) -> None:
        """Put the folder in its place, over an older one."""
        try:
            for path in [*self.partial.iterdir(), self.partial]:
                _fsync(path)
            _replace(self.partial, self.out)
            with suppress(PermissionError):  # one may write into a folder that one may not list
                _fsync(self.out.parent)
        except OSError as error:
            raise self.failed(error) from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._discard()

    def _discard(self) -> None:
        """Leave nothing of an unfinished folder; of a finished one, nothing of the one before."""
        if self.partial in _unfinished:
            shutil.rmtree(self.partial, ignore_errors=True)
            _unfinished.discard(self.partial)
        for folder in self._made:
            with suppress(OSError):  # it holds something by now
                folder.rmdir()

    def failed(self, error: OSError) -> OutputError:
        """What a user reads where writing failed."""
        hint = "Free some space and run again." if error.errno == errno.ENOSPC else None
        reason = error.strerror or str(error)
        return OutputError(f"could not be written: {reason}.", where=str(self.out), hint=hint)


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def partial_path(out: Path) -> Path:
    """A name beside a file or folder, for what is to stand there once it is whole."""
    return out.with_name(f".{out.name}.partial-{os.getpid()}-{next(_numbers)}")


def remove_abandoned(out: Path) -> None:
    """Removes what killed processes left beside a file or folder under names of `partial_path`."""
    for path in out.parent.glob(f".{glob.escape(out.name)}.partial-*-*"):
        pid = path.name.split("-")[-2]
        if pid.isdigit() and not (path in _unfinished or _is_running_elsewhere(int(pid))):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_running_elsewhere(pid: int) -> bool:
    # In a container every run may have the same number.
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _replace(new: Path, old: Path) -> None:
    """Puts `new` in the place of `old`; a reader sees one of the two at any moment."""
    if not old.exists():
        new.rename(old)
    elif _exchange(new, old):
        shutil.rmtree(new, ignore_errors=True)
    else:
        # No atomic exchange on this system: the older folder stands aside for two renames.
        aside = old.with_name(f".{old.name}.replaced-{os.getpid()}")
        old.rename(aside)
        try:
            new.rename(old)
        except OSError:
            aside.rename(old)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Swaps two folders in one step (Linux's renameat2 with RENAME_EXCHANGE)."""
    at_cwd, rename_exchange = -100, 2
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(renameat2(at_cwd, os.fsencode(a), at_cwd, os.fsencode(b), rename_exchange) == 0)

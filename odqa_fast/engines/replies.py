"""Replies kept in one SQLite file, so that nothing is asked twice and every reply can be looked up.

A reply is found by how it was asked for: the signature of an engine, a reader or a compressor as it
was opened (model, prompts, sampling) and the whole request. Whose signature it is of is kept with
it: an endpoint may not have taken a field.

Several processes may share the file (write-ahead log); each reply is one transaction, so a killed
process leaves whole replies or none.

Nothing in the file is believed: each record has a checksum of all it holds, and one that does not
fit is dropped, counted and asked again. A file that SQLite cannot read any more is set aside, and
what is whole in it goes into a new one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from odqa_fast.atomic_output import cache_folder
from odqa_fast.engines.base import Reply, Request
from odqa_fast.errors import DataError, OdqaWarning, OutputError

#: The bytes of SQLite's head, and of a page as we make them; https://sqlite.org/fileformat.html.
_HEAD, _PAGE = 100, 4096
#: "odqa", where SQLite has a place for the program that a file is of.
_PROGRAM = 0x6F647161
#: Version 1 had no checksums, and kept replies that were none.
_VERSION = 2
_TABLE = """
create table replies (
    number integer primary key,
    key blob not null unique,
    asked_as text not null,
    engine text not null,
    request text not null,
    reply text not null,
    made_at text not null,
    checksum blob not null
) strict
"""
_RECORD = "key, asked_as, engine, request, reply, made_at, checksum"
_FIELDS = {field.name for field in fields(Reply)}
_MAKE_ROOM = (
    "Free some space and run the command again, compress and answer with --resume: the replies so "
    "far are kept."
)
#: What a reader of a run's figures should know of such replies.
KEPT_NOTE = "{n} replies are of an earlier run, and so are their seconds."
#: SQLite's own limit on the places of one statement is higher.
_KEYS_AT_ONCE = 500
#: How long to wait for another process that writes.
_BUSY_SECONDS = 60.0
#: What SQLite may complain of although the file is whole: a place that cannot be written, a full
#: disk, another process. Everything else says that the file is not what we wrote.
_OF_THE_PLACE = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_AUTH,
}

#: What reading a damaged file raises: sqlite3 also where its own message has bytes of the file.
_BROKEN = (sqlite3.Error, UnicodeDecodeError)

_Done = TypeVar("_Done")


def default_path() -> Path:
    """The file that is used where none is named: see `cache_folder`."""
    return cache_folder() / "replies.sqlite"


def make_key(asked_as: str, request: object) -> bytes:
    """What a reply is found by; equal for equal requests to what had that signature."""
    return hashlib.sha256(f"{asked_as}\n{_written(request)}".encode()).digest()


@dataclass(frozen=True, slots=True)
class Kept:
    """A reply as it is kept, and the signature of what made it."""

    reply: Reply
    engine: str


class ReplyStore:
    """Replies by what made them; a file, used by one thread of each process.

    The file is opened, and made, once it is needed: a run without a model has none.

    Args:
        path: the file; `default_path` where None.

    Attributes:
        path: the file.
        from_before: the keys of replies that were taken from it and that an earlier run made.
        made: the keys of those that this one has put into it.
        n_damaged: how many records were dropped because they are not what was written.

    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = default_path() if path is None else Path(path)
        self.from_before: set[bytes] = set()
        self.n_damaged = 0
        self.made: set[bytes] = set()
        self._opened: sqlite3.Connection | None = None

    def open(self) -> None:
        """Opens the file, if it is not open; everything that needs it does so by itself.

        Raises:
            DataError: the file is something else.
            OutputError: it cannot be written.
        """
        if self._opened is not None:
            return
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
        if not _may_be_ours(self.path):
            raise DataError(
                "is no cache of replies.",
                where=str(self.path),
                hint="Name another file with --cache.",
            )
        self._opened = self._whole(self._connect)

    @property
    def _file(self) -> sqlite3.Connection:
        self.open()
        assert self._opened is not None
        return self._opened

    def _connect(self) -> sqlite3.Connection:
        # Every statement is a transaction of its own.
        file = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            # What is no UTF-8 is damaged: its checksum says so.
            file.text_factory = lambda text: text.decode(errors="replace")
            file.execute("pragma trusted_schema = off")
            file.execute("pragma cell_size_check = on")
            file.execute(f"pragma page_size = {_PAGE}")  # of a new file
            # One at a time: another process may be making the same file.
            file.execute("begin immediate")
            if not _number(file, "select count(*) from sqlite_master"):
                file.execute(_TABLE)
                file.execute(f"pragma application_id = {_PROGRAM}")
                file.execute(f"pragma user_version = {_VERSION}")
            elif _number(file, "pragma user_version") != _VERSION:
                raise _DamagedError("it is of another version")
            file.execute("commit")
            file.execute("pragma journal_mode = wal")
            # With the log, a killed process loses nothing; a power cut, at most the last replies.
            file.execute("pragma synchronous = normal")
        except BaseException:
            file.close()
            raise
        return file

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Kept]:
        """The replies that are kept under some keys."""
        found: dict[bytes, Kept] = {}
        waiting = iter(keys)
        while some := list(islice(waiting, _KEYS_AT_ONCE)):
            found |= self._whole(lambda some=some: self._some(some))  # type: ignore[misc]
        self.from_before |= found.keys() - self.made
        return found

    def _some(self, keys: Sequence[bytes]) -> dict[bytes, Kept]:
        places = ",".join("?" * len(keys))
        rows = self._file.execute(f"select {_RECORD} from replies where key in ({places})", keys)
        found: dict[bytes, Kept] = {}
        damaged = []
        for record in rows.fetchall():
            reply = _read(record)
            if reply is None:
                damaged.append(record[:1])
            else:
                found[record[0]] = Kept(reply, record[2])
        self._file.executemany("delete from replies where key = ?", damaged)
        self._dropped(len(damaged))
        return found

    def _dropped(self, n: int) -> None:
        self.n_damaged += n
        if n:
            warnings.warn(
                f"{n} replies in {self.path} were damaged; they are asked for again.",
                OdqaWarning,
                stacklevel=2,
            )

    def keep(self, asked_as: str, request: object, reply: Reply, engine: str) -> None:
        """Keeps a reply; where another process was first, its reply stays.

        Args:
            asked_as: the signature it was asked under; see `make_key`.
            request: what was asked.
            reply: what came.
            engine: the signature of what made it.
        """
        known = {name: value for name, value in asdict(reply).items() if name != "cached"}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        key = make_key(asked_as, request)
        content = (key, asked_as, engine, _written(request), json.dumps(known), now)
        self.made.add(key)
        self._whole(lambda: _insert(self._file, (*content, _checksum(content))))

    def signatures(self) -> list[str]:
        """Those that the kept replies were asked under."""
        one_of_each = f"select {_RECORD} from replies group by asked_as"
        records = self._whole(lambda: self._file.execute(one_of_each).fetchall())
        return sorted(record[1] for record in records if _read(record) is not None)

    def close(self) -> None:
        """Closes the file."""
        if self._opened is not None:
            self._opened.close()

    def _whole(self, work: Callable[[], _Done]) -> _Done:
        """Does some work on the file; where that is damaged, on a new one that has what is whole.

        Raises:
            OutputError: it cannot be written.
        """
        with self._explained():
            try:
                return work()
            except _BROKEN as error:
                if not _is_damage(error, self.path):
                    raise
                self._set_aside(error)
                return work()

    def _set_aside(self, error: Exception) -> None:
        self.close()
        aside = self.path.with_name(f"{self.path.name}.damaged")
        for end in ("", "-wal", "-shm"):
            here, there = (path.with_name(path.name + end) for path in (self.path, aside))
            there.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                here.rename(there)
        self._opened = self._connect()
        for record in _salvaged(aside):
            _insert(self._file, record)
        with _with_head_of(self.path, aside) as mended:
            for record in _salvaged(mended):
                _insert(self._file, record)
        n = _number(self._file, "select count(*) from replies")
        warnings.warn(
            f"{self.path} could not be read ({error}): {n} replies that are whole were taken over, "
            f"the file stands aside as {aside.name}, and what it lacks is asked for again.",
            OdqaWarning,
            stacklevel=2,
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            is_full = (
                getattr(error, "errno", None) == errno.ENOSPC
                or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
            )
            raise OutputError(
                f"the cache of replies cannot be used: {reason}.",
                where=str(self.path),
                hint=_MAKE_ROOM if is_full else "Name another file with --cache.",
            ) from None


class _DamagedError(sqlite3.DatabaseError):
    """A file that SQLite can read, and that holds no replies as we keep them."""


def _is_damage(error: Exception, path: Path) -> bool:
    # The first byte of a code is its kind.
    kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if kind == sqlite3.SQLITE_READONLY:
        # A file can be so by a byte in it.
        return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return kind not in _OF_THE_PLACE


def _may_be_ours(path: Path) -> bool:
    """Whether a file may be taken for one of replies, damaged or not: it is not there or empty, its
    head has our mark, or was wiped out, or has a version and no mark, as ours once had."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return True  # SQLite says what is wrong with it
    if head[68:72] == _PROGRAM.to_bytes(4) or not any(head[:72]):
        return True
    with suppress(*_BROKEN), closing(sqlite3.connect(path)) as file:
        return not _number(file, "select count(*) from sqlite_master where tbl_name != 'replies'")
    return False


def _number(file: sqlite3.Connection, question: str) -> int:
    (number,) = file.execute(question).fetchone()
    return int(number)


def _insert(file: sqlite3.Connection, record: Sequence[object]) -> None:
    file.execute(f"insert or ignore into replies ({_RECORD}) values ({'?, ' * 6}?)", record)


def _salvaged(path: Path) -> Iterator[Sequence[Any]]:
    """The whole records of a damaged file: those before what cannot be read, and those behind."""
    with suppress(*_BROKEN), closing(sqlite3.connect(path)) as file:
        file.text_factory = lambda text: text.decode(errors="replace")
        # Only so does SQLite read a file that is shorter than it should be.
        file.execute("pragma writable_schema = on")
        for order in ("asc", "desc"):
            with suppress(*_BROKEN):
                records = file.execute(
                    f"select {_RECORD} from replies not indexed order by number {order}"
                )
                yield from (record for record in records if _read(record) is not None)


@contextmanager
def _with_head_of(whole: Path, damaged: Path) -> Iterator[Path]:
    """A copy of a damaged file with the head of a new one, which is the same but for its size."""
    with TemporaryDirectory(dir=damaged.parent) as folder:
        mended = Path(shutil.copy(damaged, folder))
        with whole.open("rb") as head, mended.open("r+b") as file:
            file.write(head.read(_HEAD))
            # Pages of the file, and of those none that is free.
            file.seek(28)
            file.write((mended.stat().st_size // _PAGE).to_bytes(4) + bytes(8))
        yield mended


def _written(request: object) -> str:
    if isinstance(request, Request):
        return json.dumps(asdict(request), ensure_ascii=False)
    return repr(request)


def _checksum(content: Sequence[object]) -> bytes:
    written = repr(tuple(content)).encode(errors="surrogatepass")
    return hashlib.blake2b(written, digest_size=16).digest()


def _read(record: Sequence[Any]) -> Reply | None:
    """The reply of a record; None where the record is not what was written."""
    *content, checksum = record
    if _checksum(content) != checksum:
        return None
    known = json.loads(record[4])
    return Reply(**{name: value for name, value in known.items() if name in _FIELDS}, cached=True)

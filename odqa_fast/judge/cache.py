"""Replies kept in one SQLite file, so that nothing is asked twice and every reply can be looked up.

A reply is found by how it was asked for: the engine's signature as it was opened and the whole
request, template and limits included. How it was made is kept with it: an endpoint may not have
taken a field.

Several processes may share the file (write-ahead log); each reply is one transaction, so a killed
process leaves whole replies or none.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path

from odqa_fast.errors import DataError, EngineError, OutputError
from odqa_fast.folders import cache_folder
from odqa_fast.inference.engine import Engine, Reply, Request

_VERSION = 1
_TABLE = """
create table replies (
    key blob primary key,
    engine text not null,
    prompt text not null,
    request text not null,
    reply text not null,
    finish text not null,
    tokens_in integer not null,
    tokens_out integer not null,
    seconds real not null,
    made_at text not null
) without rowid, strict
"""
_NOT_KEPT = "not in the cache: and nothing is asked in a replay"
#: SQLite's own limit on the places of one statement is higher.
_KEYS_AT_ONCE = 500
#: How long to wait for another process that writes.
_BUSY_SECONDS = 60.0


def default_path() -> Path:
    """The file that is used where none is named: see `cache_folder`."""
    return cache_folder() / "replies.sqlite"


class ReplyCache:
    """Replies by what made them; a file, used by one thread of each process.

    Raises:
        DataError: the file is no such cache, or of another version.
        OutputError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Every statement is a transaction of its own.
            self._file = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self._file.close()
            raise

    def _prepare(self) -> None:
        with self._explained():
            # One at a time: another process may be making the same file.
            self._file.execute("begin immediate")
            if self._number("pragma user_version") != _VERSION:
                if self._number("select count(*) from sqlite_master"):
                    raise DataError(
                        "is no cache of replies of this version.",
                        where=str(self.path),
                        hint="Name another file with --cache.",
                    )
                self._file.execute(_TABLE)
                self._file.execute(f"pragma user_version = {_VERSION}")
            self._file.execute("commit")
            self._file.execute("pragma journal_mode = wal")
            # With the log, a killed process loses nothing; a power cut, at most the last replies.
            self._file.execute("pragma synchronous = normal")

    def _number(self, question: str) -> int:
        (number,) = self._file.execute(question).fetchone()
        return int(number)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, tuple[Reply, str]]:
        """The replies that are kept under some keys, each with the signature of what made it."""
        found: dict[bytes, tuple[Reply, str]] = {}
        waiting = iter(keys)
        with self._explained():
            while some := list(islice(waiting, _KEYS_AT_ONCE)):
                places = ",".join("?" * len(some))
                rows = self._file.execute(
                    "select key, reply, finish, tokens_in, tokens_out, seconds, engine "
                    f"from replies where key in ({places})",
                    some,
                )
                for key, text, finish, tokens_in, tokens_out, seconds, engine in rows:
                    reply = Reply(text, finish, tokens_in, tokens_out, seconds, cached=True)
                    found[key] = reply, engine
        return found

    def keep(self, key: bytes, engine: str, request: Request, reply: Reply) -> None:
        """Keeps a reply; where another process was first, its reply stays.

        Args:
            key: see `find`.
            engine: the signature of what made it.
            request: what was asked.
            reply: what came.
        """
        row = (
            key,
            engine,
            request.prompt,
            _written(request),
            reply.text,
            reply.finish,
            reply.tokens_in,
            reply.tokens_out,
            reply.seconds,
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )
        with self._explained():
            self._file.execute(f"insert or ignore into replies values ({'?, ' * 9}?)", row)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise OutputError(
                f"the cache of replies cannot be used: {reason}.",
                where=str(self.path),
                hint="Name another file with --cache.",
            ) from None
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"is no cache of replies: {error}.",
                where=str(self.path),
                hint="Name another file with --cache.",
            ) from None


class CachedEngine:
    """An engine that asks another one only what is not kept yet, and that only once.

    Args:
        engine: what is asked.
        cache: where replies are kept; an error is not.
        replay: never ask; what is not kept is a reply with an error.
    """

    def __init__(self, engine: Engine, cache: ReplyCache, *, replay: bool = False) -> None:
        self._engine, self._cache, self._replay = engine, cache, replay
        self.id = engine.id
        self._asked_as = engine.signature
        self._made_by: dict[str, None] = {}
        self.max_input_tokens = engine.max_input_tokens

    @property
    def signature(self) -> str:
        """Of what made the replies, those that were kept included; as opened before there are
        any."""
        return "+".join(self._made_by) or self._engine.signature

    def count_tokens(self, request: Request) -> int | None:
        """As the engine behind it."""
        return self._engine.count_tokens(request)

    def close(self) -> None:
        """Closes the engine behind it; the cache is its owner's."""
        self._engine.close()

    def kept(self, requests: Sequence[Request]) -> list[Reply | None]:
        """The reply to each request that is kept; None where it would be asked."""
        keys = [_key(self._asked_as, request) for request in requests]
        found = self._cache.find(dict.fromkeys(keys))
        return [found[key][0] if key in found else None for key in keys]

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply; of equal requests, one is asked.

        Raises:
            EngineError: as the engine behind it.
        """
        places = self._places(requests)
        found = self._cache.find(places)
        for key, (reply, engine) in found.items():
            self._made_by[engine] = None
            for at in places[key]:
                yield at, reply
        missing = [key for key in places if key not in found]
        if self._replay:
            for key in missing:
                for at in places[key]:
                    yield at, Reply("", "error", error=_NOT_KEPT, attempts=0)
            return
        asked = [requests[places[key][0]] for key in missing]
        for number, reply in self._asked(asked) if asked else ():
            if reply.finish != "error":
                made_by = self._engine.signature
                self._made_by[made_by] = None
                self._cache.keep(missing[number], made_by, asked[number], reply)
            first, *others = places[missing[number]]
            yield first, reply
            for at in others:
                yield at, replace(reply, cached=True)

    def _asked(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        try:
            yield from self._engine.generate(requests)
        except EngineError as error:
            kept = f"What came before is kept in {self._cache.path}."
            hint = f"{error.hint} {kept}" if error.hint else kept
            raise EngineError(error.what, where=error.where, hint=hint) from None

    def _places(self, requests: Sequence[Request]) -> dict[bytes, list[int]]:
        """Where each distinct request stands."""
        places: dict[bytes, list[int]] = {}
        for at, request in enumerate(requests):
            places.setdefault(_key(self._asked_as, request), []).append(at)
        return places


def _key(engine: str, request: Request) -> bytes:
    return hashlib.sha256(f"{engine}\n{_written(request)}".encode()).digest()


def _written(request: Request) -> str:
    fields = asdict(request)
    # Not in the keys of replies that were kept before there was such a field.
    if not fields["thought_tokens"]:
        del fields["thought_tokens"]
    return json.dumps(fields, ensure_ascii=False)

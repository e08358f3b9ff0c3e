"""Threads for parsing and scoring alike: the only place that makes any."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Self

from odqa_fast.threads import thread_count, usable_processors

#: So many may start on any machine, and by default no more do: each takes memory, and reading one
#: file feeds no more.
_MOST = 16


class Workers:
    """The threads of one scoring. Who waits for a result works meanwhile, so the caller's thread is
    one of them, and where it is the only one no other is started.

    `depth` is how many parts of an input are worth parsing ahead.

    Args:
        threads: how many are asked for; see `thread_count`. No more start than this process may use
            processors, or 16: beyond that they only take memory, and they change no score.

    Raises:
        OdqaError: a number of threads that is none.
    """

    def __init__(self, threads: int | None) -> None:
        self.threads = min(thread_count(threads, _MOST), max(_MOST, usable_processors()))
        self.depth = self.threads + 1
        self._line: SimpleQueue[_Job | None] = SimpleQueue()
        self._left: SimpleQueue[None] = SimpleQueue()
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(Empty):
            while True:
                self._line.get_nowait()
        for _ in range(self._started):
            self._line.put(None)
        for _ in range(self._started):
            self._left.get()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> _Job:
        """Puts work in line; its result is the promise's."""
        job = _Job(self._line, work, arguments)
        self._line.put(job)
        # What stands in line alone will be done by who waits for it.
        if self._started < self.threads - 1 and self._line.qsize() > 1:
            # threading.Thread would wait until it runs: longer than a small scoring takes.
            start_new_thread(self._serve, ())
            self._started += 1
        return job

    def _serve(self) -> None:
        try:
            while (job := self._line.get()) is not None:
                job.run()
        finally:
            self._left.put(None)


class _Job:
    def __init__(
        self, line: SimpleQueue[_Job | None], work: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> None:
        self._line = line
        self._work: tuple[Callable[..., Any], tuple[Any, ...]] | None = (work, arguments)
        self._value: Any = None
        self._error: Exception | None = None
        self._undone = Lock()
        self._undone.acquire()

    def run(self) -> None:
        assert self._work is not None
        work, arguments = self._work
        try:
            self._value = work(*arguments)
        except Exception as error:
            self._error = error
        finally:
            self._work = None  # the result may be held longer than what it was made of
            self._undone.release()

    def result(self) -> Any:
        """What the work gave, or raises what it raised."""
        while self._undone.locked():
            try:
                job = self._line.get_nowait()
            except Empty:
                with self._undone:
                    break
            if job is not None:
                job.run()
        if self._error is not None:
            raise self._error
        return self._value

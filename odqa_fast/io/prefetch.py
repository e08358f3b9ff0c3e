"""Work on the next parts of an input while the earlier ones are being used.

`io` makes no threads: who has some hands in `submit`, and everything that can be done to a part
without knowing the others goes through it. Results are taken in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

Part = TypeVar("Part")


class Promise(Protocol):
    """What a Future is here."""

    def result(self) -> Any:
        """Return what the work gave, or raise what it raised."""


#: Starts `work(*arguments)`, somewhere.
Submit = Callable[..., Promise]


class _Done:
    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self) -> Any:
        return self._value


def work_at_once(work: Callable[..., Any], *arguments: Any) -> Promise:
    """Do the work here and now: the `submit` of who has no threads."""
    return _Done(work(*arguments))


#: No more than so many bytes are in work ahead.
MAX_AHEAD_BYTES = 96 << 20


def work_ahead(
    parts: Iterable[Part],
    start: Callable[[Part], Promise | None],
    depth: int,
    n_bytes: Callable[[Part], int] = lambda part: 0,
) -> Iterator[tuple[Part, Promise | None]]:
    """Yield each part with its promise, up to `depth` parts behind the one that was started last.

    An error in making the parts is raised after those before it are through.
    """
    size = 0
    waiting: deque[tuple[Part, Promise | None]] = deque()
    source = iter(parts)
    failure: Exception | None = None
    while failure is None:
        try:
            part = next(source)
        except StopIteration:
            break
        except Exception as error:
            failure = error
            break
        waiting.append((part, start(part)))
        size += n_bytes(part)
        del part  # the last one would be held until all are used
        while waiting and (len(waiting) > depth or size > MAX_AHEAD_BYTES):
            size -= n_bytes(waiting[0][0])
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()
    if failure is not None:
        raise failure

"""Engines, readers and compressors whose replies are kept: only what is not kept is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from odqa_fast.engines.base import Engine, Reply, Request
from odqa_fast.engines.prepared import Context, Prepared, Worker
from odqa_fast.engines.replies import ReplyStore, key_of
from odqa_fast.errors import EngineError

_NOT_KEPT = "not in the cache: and nothing is asked in a replay"

#: Puts requests to a model; see `Engine.generate` and `Worker.run`.
Ask = Callable[[Sequence[Any]], Iterator[tuple[int, Reply]]]


class _Cached:
    """What stands before an engine or a worker: it asks only what is not kept yet, and that only
    once.

    Args:
        behind: who is asked.
        ask: puts requests to it.
        store: where replies are kept; a failure is not.
        replay: never ask; what is not kept is a reply with an error.
        tag: what else makes it another reply, behind the signature.
    """

    def __init__(
        self, behind: Engine | Worker, ask: Ask, store: ReplyStore, replay: bool, tag: str = ""
    ) -> None:
        self._behind, self._ask, self._store, self._replay = behind, ask, store, replay
        self._asked_as = f"{behind.signature}{tag}"
        self._made_by: dict[str, None] = {}

    @property
    def signature(self) -> str:
        """Of what made the replies, those that were kept included; as opened before there are
        any."""
        return "+".join(self._made_by) or self._behind.signature

    def close(self) -> None:
        """Closes what stands behind it; the store is its owner's."""
        self._behind.close()

    def kept(self, requests: Sequence[Any]) -> list[Reply | None]:
        """The reply to each request that is kept; None where it would be asked."""
        keys = [key_of(self._asked_as, request) for request in requests]
        found = self._store.find(dict.fromkeys(keys))
        return [found[key].reply if key in found else None for key in keys]

    def replies(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply; of equal requests, one is asked.

        Raises:
            EngineError: as what stands behind it.
        """
        places: dict[bytes, list[int]] = {}
        for at, request in enumerate(requests):
            places.setdefault(key_of(self._asked_as, request), []).append(at)
        found = self._store.find(places)
        for key, kept in found.items():
            self._made_by[kept.engine] = None
            for at in places[key]:
                yield at, kept.reply
        missing = [places[key] for key in places if key not in found]
        if self._replay:
            for at in (at for each in missing for at in each):
                yield at, Reply("", "error", error=_NOT_KEPT, attempts=0)
            return
        asked = [requests[each[0]] for each in missing]
        for number, reply in self._asked(asked) if asked else ():
            if not _has_failed(asked[number], reply):
                made_by = self._behind.signature
                self._made_by[made_by] = None
                self._store.keep(self._asked_as, asked[number], reply, made_by)
            first, *others = missing[number]
            yield first, reply
            for at in others:
                yield at, replace(reply, cached=True)

    def _asked(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        try:
            yield from self._ask(requests)
        except EngineError as error:
            kept = f"What came before is kept in {self._store.path}."
            hint = f"{error.hint} {kept}" if error.hint else kept
            raise EngineError(error.what, where=error.where, hint=hint) from None


def _has_failed(request: Any, reply: Reply) -> bool:
    """Whether another run should ask again: also where a thought took up the room of its own, for
    which nobody asks with more (see `again.whole_replies`)."""
    had_room = isinstance(request, Request) and request.thought_tokens > 0
    return reply.finish == "error" or (had_room and reply.finish == "length" and not reply.text)


class CachedEngine(_Cached):
    """An engine before another one; see `engine.Engine`."""

    def __init__(self, engine: Engine, store: ReplyStore, *, replay: bool = False) -> None:
        super().__init__(engine, engine.generate, store, replay)
        self._engine = engine
        self.id = engine.id
        self.max_input_tokens = engine.max_input_tokens

    def count_tokens(self, request: Request) -> int | None:
        """As the engine behind it."""
        return self._engine.count_tokens(request)

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """See `_Cached.replies`."""
        return self.replies(requests)


class CachedWorker(_Cached):
    """A reader or a compressor before another one; see `prepared.Worker`."""

    def __init__(self, worker: Worker, store: ReplyStore, tag: str = "") -> None:
        super().__init__(worker, worker.run, store, replay=False, tag=tag)
        self._worker = worker
        self.facts = worker.facts
        self.needs_question = worker.needs_question

    def prepare(self, question: str, context: Context) -> Prepared:
        """As the worker behind it."""
        return self._worker.prepare(question, context)

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """See `_Cached.replies`."""
        return self.replies(requests)

"""Engines, readers and compressors whose replies are kept: only what is not kept is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from odqa_fast.engines.base import Component, Engine, Prepared, Reply, Request
from odqa_fast.engines.replies import ReplyStore, make_key
from odqa_fast.errors import EngineError

_NOT_KEPT = "not in the cache: and nothing is asked in a replay"

#: Puts requests to a model; see `Engine.generate` and `Component.run`.
Ask = Callable[[Sequence[Any]], Iterator[tuple[int, Reply]]]


class _Cached:
    """What stands before an engine, a reader or a compressor: it asks only what is not kept yet,
    and that only once.

    Args:
        behind: who is asked.
        ask: puts requests to it.
        store: where replies are kept; a failure is not.
        replay: never ask; what is not kept is a reply with an error.
        tag: what else makes it another reply, behind the signature.
    """

    def __init__(
        self,
        behind: Engine | Component[Any],
        ask: Ask,
        store: ReplyStore,
        *,
        replay: bool = False,
        tag: str = "",
    ) -> None:
        self.id = behind.id
        store.open()
        self._behind, self._ask, self._store, self._replay = behind, ask, store, replay
        self._asked_as = f"{behind.signature}{tag}"
        self._made_by: dict[str, None] = {}

    @property
    def signature(self) -> str:
        """Of what made the replies, those that were kept included; as opened before there are
        any."""
        return "+".join(self._made_by) or self._behind.signature

    @property
    def facts(self) -> Mapping[str, object]:
        """As of what stands behind it."""
        return self._behind.facts

    def close(self) -> None:
        """Closes what stands behind it; the store is its owner's."""
        self._behind.close()

    def kept(self, requests: Sequence[Any]) -> list[Reply | None]:
        """The reply to each request that is kept; None where it would be asked."""
        keys = [make_key(self._asked_as, request) for request in requests]
        found = self._store.find(dict.fromkeys(keys))
        return [found[key].reply if key in found else None for key in keys]

    def replies(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply; of equal requests, one is asked.

        Raises:
            EngineError: as what stands behind it.
        """
        places: dict[bytes, list[int]] = {}
        for at, request in enumerate(requests):
            places.setdefault(make_key(self._asked_as, request), []).append(at)
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
    which nobody asks with more (see `again.ask_whole`)."""
    had_room = isinstance(request, Request) and request.thought_tokens > 0
    return reply.finish == "error" or (had_room and reply.finish == "length" and not reply.text)


class CachedEngine(_Cached):
    """An engine before another one; see `base.Engine`."""

    def __init__(self, engine: Engine, store: ReplyStore, *, replay: bool = False) -> None:
        super().__init__(engine, engine.generate, store, replay=replay)
        self.max_input_tokens = engine.max_input_tokens
        self.count_tokens = engine.count_tokens

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """See `_Cached.replies`."""
        return self.replies(requests)


class CachedComponent(_Cached):
    """A reader or a compressor before another one; see `base.Component`."""

    def __init__(self, component: Component[Any], store: ReplyStore, tag: str = "") -> None:
        super().__init__(component, component.run, store, tag=tag)
        self.needs_question = component.needs_question
        self.sees_answers = getattr(component, "sees_answers", False)
        self._prepare = component.prepare

    def prepare(self, asked: Any) -> Prepared:
        """As of what stands behind it."""
        return self._prepare(asked)

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """See `_Cached.replies`."""
        return self.replies(requests)

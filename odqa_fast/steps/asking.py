"""Asks a component what the rows of a run ask: equal requests once, over the whole run."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from odqa_fast.engines.base import Component, Reply
from odqa_fast.engines.cached import CachedComponent
from odqa_fast.engines.replies import ReplyStore, make_key
from odqa_fast.io import Dump
from odqa_fast.runs.progress import Progress, Watch


class Asking:
    """A component, and what the requests of a run came to.

    Args:
        component: who is asked.
        store: where its replies are kept.
        tag: what else makes it another reply, behind the component's signature.
        dump: what is read for it.
        watch: told how far it is, before the first reply of a call and after each.

    Attributes:
        component: who is asked, before its store.
        store: where the replies are kept.
        replies: to each request, by its key. Failures are here as well, though not in the store:
            they are for another run.
    """

    def __init__(
        self,
        component: Component[Any],
        store: ReplyStore,
        tag: str,
        dump: Dump,
        watch: Watch | None,
    ) -> None:
        self.component, self.store = CachedComponent(component, store, tag), store
        self.replies: dict[bytes, Reply] = {}
        self._dump, self._watch = dump, watch
        self._asked = self._tokens = 0
        self._seconds = 0.0

    def ask(self, requests: Sequence[Hashable | None]) -> list[Reply | None]:
        """The reply to each request; none where there is no request."""
        keys = [b"" if each is None else make_key("", each) for each in requests]
        waiting = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if request is not None and key not in self.replies
        }
        new = list(waiting)
        self._asked += len(new)
        self._tell()
        for at, reply in self.component.run(list(waiting.values())):
            self.replies[new[at]] = reply
            self._tokens += reply.tokens_out
            self._seconds += reply.seconds
            self._tell()
        return [self.replies.get(key) for key in keys]

    def _tell(self) -> None:
        if self._watch is not None:
            rows = self._dump.counts.rows_read
            done = len(self.replies)
            state = Progress(done, self._asked, "prompts", rows, self._tokens, self._seconds)
            self._watch(state)

"""The loop of models whose cache grows: one batch after another, and what is done leaves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from odqa_fast.engines.generate.decoding import Decoding
from odqa_fast.engines.generate.dynamic_cache import GrowingModel
from odqa_fast.engines.generate.scheduling import Limits, batches


class Batches:
    """Runs decodings through a model with a growing cache.

    Attributes:
        running: rows in use: how many were too many, when memory ran out.
    """

    def __init__(self, model: GrowingModel) -> None:
        self._model = model
        self.running = 1

    def run(self, decodings: Iterable[Decoding], limits: Limits) -> Iterator[Decoding]:
        """Each decoding, once it is done."""
        for batch in batches(decodings, limits):
            self.running = len(batch)
            yield from self._run(batch)
        self._model.close()

    def _run(self, rows: Sequence[Decoding]) -> Iterator[Decoding]:
        begun = perf_counter()
        for decoding in rows:
            decoding.started = begun
        output = self._model.start([decoding.ids for decoding in rows])
        going = dict(enumerate(rows))
        shares = {row: float(len(decoding.ids)) for row, decoding in going.items()}
        while True:
            done = output.give(going)
            share = (perf_counter() - begun) / sum(shares.values())
            for row, decoding in going.items():
                decoding.seconds += share * shares[row]
            for row in done:
                yield going.pop(row)
            if not going:
                return
            begun = perf_counter()
            if 2 * len(going) <= len(rows):
                # To copy what is left costs about as much as a step.
                self._model.keep(list(going))
                rows = list(going.values())
                going = dict(enumerate(rows))
            shares = dict.fromkeys(going, 1.0)
            output = self._model.step([decoding.next for decoding in rows])

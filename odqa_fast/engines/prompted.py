"""A worker whose questions are put to an engine by way of a prompt template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from odqa_fast.engines.again import whole_replies
from odqa_fast.engines.base import Engine, Reply, Request
from odqa_fast.engines.generate import OnnxEngine
from odqa_fast.engines.prepared import Context, Prepared, fitted
from odqa_fast.engines.prompt import Prompt


class PromptedWorker:
    """Asks an engine; see `prepared.Worker`.

    Args:
        engine: what runs the prompts.
        prompt: has places for `question` and for the texts, joined by line ends.
        place: the name of the texts' place.
        without_texts: what is asked where there is no text; `prompt` where None.
    """

    def __init__(
        self, engine: Engine, prompt: Prompt, place: str, without_texts: Prompt | None = None
    ) -> None:
        self.engine = engine
        self._prompt = prompt
        self._place = place
        self._without_texts = without_texts or prompt
        self._prompts = list(dict.fromkeys([prompt.signature, self._without_texts.signature]))
        self.needs_question = "question" in self._prompt.places | self._without_texts.places
        self.facts: dict[str, object] = {"model": engine.id, "prompts": self._prompts}
        if isinstance(engine, OnnxEngine):
            self.facts |= engine.facts

    @property
    def signature(self) -> str:
        """See `prepared.Worker`; an engine may learn what its own is while it runs."""
        return "|".join([self.engine.signature, *self._prompts])

    def prepare(self, question: str, context: Context) -> Prepared:
        """What a row asks, cut to what the engine can take; see `prepared.fitted`."""

        def fill(kept: Sequence[str]) -> Request:
            prompt = self._prompt if kept else self._without_texts
            return prompt.fill(**{"question": question, self._place: "\n".join(kept)})

        return fitted(self.engine, fill, context.shown(self._prompt.document))

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, in the order in which they get done."""
        return whole_replies(self.engine, requests)

    def close(self) -> None:
        """Let go of the model."""
        self.engine.close()

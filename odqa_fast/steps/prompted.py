"""Readers and compressors that put their questions to an engine by way of prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from odqa_fast.engines.again import ask_whole
from odqa_fast.engines.base import Engine, Prepared, Query, Reply, Request, Task
from odqa_fast.engines.context import Context
from odqa_fast.engines.fitting import fit
from odqa_fast.engines.prompts import Prompt

#: Where nobody counts tokens: so many characters to one, which is usual for English.
_CHARS_PER_TOKEN = 4


class Prompted:
    """What asks an engine; see `base.Component`.

    Args:
        engine: what runs the prompts.
        prompts: those that it may be asked by.
        between: what stands between their signatures.
    """

    def __init__(self, engine: Engine, *prompts: Prompt, between: str = "|") -> None:
        self.engine = engine
        self.id = engine.id
        self._between = between
        self._prompts = list(dict.fromkeys(prompt.signature for prompt in prompts))
        self.needs_question = any("question" in prompt.places for prompt in prompts)

    @property
    def signature(self) -> str:
        """See `base.Component`; an engine may learn what its own is while it runs."""
        return self._between.join([self.engine.signature, *self._prompts])

    @property
    def facts(self) -> Mapping[str, object]:
        """See `base.Component`."""
        return {"model": self.engine.id, "prompts": self._prompts, **self.engine.facts}

    def run(self, requests: Sequence[Any]) -> Iterator[tuple[int, Reply]]:
        """See `base.Component`."""
        return ask_whole(self.engine, requests)

    def close(self) -> None:
        """Lets go of the model."""
        self.engine.close()


class PromptedReader(Prompted):
    """Answers from a context, or, where it has no text, from what the model knows.

    Args:
        engine: what runs the prompts.
        prompt: with a context; of the kind `answer`.
        closed: without one; of the kind `answer-closed`.
    """

    def __init__(self, engine: Engine, prompt: Prompt, closed: Prompt) -> None:
        super().__init__(engine, prompt, closed)
        self._prompt, self._closed = prompt, closed

    def prepare(self, query: Query) -> Prepared:
        """See `base.Component`; a context that is too long is cut as `fit` does."""

        def fill(kept: Sequence[str]) -> Request:
            prompt = self._prompt if kept else self._closed
            return prompt.fill(question=query.question, context="\n".join(kept))

        return fit(self.engine, fill, query.context.shown(self._prompt.document))


class PromptedCompressor(Prompted):
    """Summarizes in a length of the prompt's own.

    Args:
        engine: what runs the prompt.
        prompt: of the kind `compress`.
    """

    sees_answers = False

    def __init__(self, engine: Engine, prompt: Prompt) -> None:
        super().__init__(engine, prompt)
        self._prompt = prompt

    def prepare(self, task: Task) -> Prepared:
        """See `base.Component`."""
        return fit_documents(self.engine, self._prompt, task, titles=task.titles)


class PromptedLevelCompressor(Prompted):
    """Compresses to a level. It is told how long the result may be twice: in the instruction, in
    words, and as the most tokens that it may write.

    Args:
        engine: what runs the prompts.
        prompt: of the kind `compress-level`.
        blind: the same where the questions may not be seen.
    """

    sees_answers = False

    def __init__(self, engine: Engine, prompt: Prompt, blind: Prompt) -> None:
        super().__init__(engine, prompt, blind, between=",")
        self._prompt, self._blind = prompt, blind
        self.needs_question = False

    def prepare(self, task: Task) -> Prepared:
        """See `base.Component`."""
        prompt = self._prompt if task.questions else self._blind
        words = int(task.ratio * sum(len(text.split()) for text in task.documents))
        prepared = fit_documents(self.engine, prompt, task, words=str(max(1, words)))
        assert isinstance(prepared.request, Request)
        tokens = int(task.ratio * sum(map(self._count_tokens, task.documents)))
        request = replace(prepared.request, max_new_tokens=max(1, tokens))
        return replace(prepared, request=request)

    def _count_tokens(self, text: str) -> float:
        whole = self.engine.count_tokens(Request(text))
        frame = self.engine.count_tokens(Request(""))
        if whole is None or frame is None:
            return len(text) / _CHARS_PER_TOKEN
        return whole - frame


def fit_documents(
    engine: Engine, prompt: Prompt, task: Task, *, titles: Sequence[str] = (), **values: str
) -> Prepared:
    """A prompt filled with a task's questions and as many of its documents as the engine takes.

    Args:
        engine: who will be asked.
        prompt: has a place for `documents`.
        task: what is compressed.
        titles: of the documents, where they are shown.
        values: for further places.
    """
    titled = zip(titles or [""] * len(task.documents), task.documents, strict=True)
    question = "\n".join(task.questions)

    def fill(kept: Sequence[str]) -> Request:
        return prompt.fill(question=question, documents="\n".join(kept), **values)

    return fit(engine, fill, Context("documents", tuple(titled)).shown(prompt.document))

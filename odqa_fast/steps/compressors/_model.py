"""A compressor that asks a model, whatever runs it.

It is told how long the result may be twice: in the instruction, in words, and as the most tokens
that it may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from odqa_fast.engines.again import whole_replies
from odqa_fast.engines.base import Engine, Request
from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.open import open_engine
from odqa_fast.engines.prepared import Context, fitted
from odqa_fast.engines.prompt import load_prompt
from odqa_fast.steps.compressors import Compressed, Compressor, CompressorOptions, Task

#: Where nobody counts tokens: so many characters to one, which is usual for English.
_CHARS_PER_TOKEN = 4


def open_model(name: str, options: CompressorOptions) -> Compressor:
    """The compressor that a model is.

    Args:
        name: see `engines.open.open_engine`.
        options: its prompt and how it runs.

    Raises:
        OdqaError: there is no such prompt.
        ModelError, EngineError: it cannot be opened.
    """
    engine = open_engine(name, options.engine)
    if options.replies is not None:
        engine = CachedEngine(engine, options.replies())
    return ModelCompressor(name, engine, options)


class ModelCompressor:
    """Compresses by way of an engine; see `Compressor`.

    Raises:
        OdqaError: there is no such prompt.
    """

    sees_answers = False

    def __init__(self, name: str, engine: Engine, options: CompressorOptions) -> None:
        self.id = name
        self._engine = engine
        self._prompt = load_prompt(options.prompt or "compress-level", "compress-level")
        self._blind = load_prompt(options.prompt or "compress-level-blind", "compress-level")

    @property
    def signature(self) -> str:
        """See `Compressor`; an engine may learn what it has to be while it runs."""
        prompts = dict.fromkeys([self._prompt.signature, self._blind.signature])
        return ",".join([self._engine.signature, *prompts])

    def compress(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Compressed]]:
        """See `Compressor`."""
        for at, reply in whole_replies(self._engine, [self._request(task) for task in tasks]):
            text = None if reply.finish == "error" else reply.text
            yield at, Compressed(text, reply.seconds, reply.error)

    def _request(self, task: Task) -> Request:
        prompt = self._prompt if task.questions else self._blind
        words = int(task.level * sum(len(text.split()) for text in task.documents))
        values = {"question": "\n".join(task.questions), "words": str(max(1, words))}
        context = Context("documents", tuple(("", text) for text in task.documents))

        def fill(kept: Sequence[str]) -> Request:
            return prompt.fill(documents="\n".join(kept), **values)

        request = fitted(self._engine, fill, context.shown(prompt.document)).request
        assert isinstance(request, Request)
        tokens = int(task.level * sum(map(self._tokens, task.documents)))
        return replace(request, max_new_tokens=max(1, tokens))

    def _tokens(self, text: str) -> float:
        whole = self._engine.count_tokens(Request(text))
        frame = self._engine.count_tokens(Request(""))
        if whole is None or frame is None:
            return len(text) / _CHARS_PER_TOKEN
        return whole - frame

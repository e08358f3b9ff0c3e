"""A reader that asks a model, whatever runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from odqa_fast.engines import reader
from odqa_fast.engines.cached import CachedWorker
from odqa_fast.engines.prepared import NO_CONTEXT, Context, Worker
from odqa_fast.steps.readers import Answered, Asked, Reader, ReaderOptions

#: What ACoRN's compressors write where nothing helps; its reader is then asked without a context.
NO_INFORMATION = "This passage doesn't contain relevant information to the question."


def open_model(name: str, options: ReaderOptions) -> Reader:
    """The reader that a model is.

    Args:
        name: see `engines.open.open_engine`.
        options: its prompt and how it runs.

    Raises:
        OdqaError: there is no such prompt.
        ModelError, EngineError: it cannot be opened.
    """
    worker = reader.open_reader(name, options.engine, prompt=options.prompt or "answer")
    if options.replies is not None:
        worker = CachedWorker(worker, options.replies())
    return ModelReader(name, worker)


class ModelReader:
    """Answers by way of a worker; see `Reader`."""

    def __init__(self, name: str, worker: Worker) -> None:
        self.id = name
        self._worker = worker

    @property
    def signature(self) -> str:
        """See `Reader`."""
        return self._worker.signature

    def read(self, asked: Sequence[Asked]) -> Iterator[tuple[int, Answered]]:
        """See `Reader`."""
        prepared = [self._worker.prepare(each.question, _context(each.context)) for each in asked]
        for at, reply in self._worker.run([each.request for each in prepared]):
            text = None if reply.finish == "error" else reply.text
            yield at, Answered(text, reply.seconds, reply.error, prepared[at].chars_left_out)


def _context(text: str) -> Context:
    if not text.strip() or text.strip() == NO_INFORMATION:
        return NO_CONTEXT
    return Context("summary", (("", text),))

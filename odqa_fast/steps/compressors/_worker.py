"""A compressor with a level as what `odqa-fast compress` runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from odqa_fast.engines.base import Reply
from odqa_fast.engines.prepared import Context, Prepared
from odqa_fast.errors import OdqaError
from odqa_fast.steps.compressors import Compressor, Task
from odqa_fast.texts.length import Length


class CompressorWorker:
    """Compresses to one level; see `odqa_fast.engines.prepared.Worker`.

    Raises:
        OdqaError: the compressor is told the answers.
    """

    needs_question = False

    def __init__(self, compressor: Compressor, level: float, length: Length) -> None:
        if compressor.sees_answers:
            raise OdqaError(
                f"{compressor.id!r} is told the answers: it is an upper bound for 'levels', no "
                "compressor."
            )
        self._compressor, self._level, self._length = compressor, level, length
        self.facts: dict[str, object] = {"compressor": compressor.id, "level": level}

    @property
    def signature(self) -> str:
        """See `odqa_fast.engines.prepared.Worker`."""
        return f"{self._compressor.signature},level={self._level:g},{self._length.tag}"

    def prepare(self, question: str, context: Context) -> Prepared:
        """What a row asks for."""
        questions = (question,) if question else ()
        return Prepared(Task(tuple(context.plain()), questions, self._level, self._length))

    def run(self, requests: Sequence[Task]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and its compressed text."""
        for at, made in self._compressor.compress(requests):
            if made.text is None:
                yield at, Reply("", "error", seconds=made.seconds, error=made.error)
            else:
                yield at, Reply(made.text, "stop", seconds=made.seconds)

    def close(self) -> None:
        """Nothing is open."""

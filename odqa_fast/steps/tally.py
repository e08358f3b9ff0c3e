"""Counts what became of the rows of a run, and says what a reader of it should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from odqa_fast.engines.base import Reply
from odqa_fast.engines.failures import Failures
from odqa_fast.steps.step import Asked, NotAsked, Step


class Tally:
    """What became of the rows of a run.

    Attributes:
        prompt_seconds: what filling the prompt of each row took.
    """

    def __init__(self, step: Step) -> None:
        self._step = step
        self._counts: Counter[str] = Counter(rows=0, asked=0)
        self._unasked, self._unanswered = Failures(), Failures()
        self.prompt_seconds: list[float] = []

    @property
    def failed(self) -> int:
        """Rows that have nothing because something failed."""
        return self._unasked.n + self._unanswered.n

    @property
    def counts(self) -> dict[str, int]:
        """The rows, and how many of each kind."""
        failures = {"not_asked_after_failure": self._unasked.n, "failed": self.failed}
        return {**self._counts, **failures}

    def add(self, asked: Sequence[Asked | NotAsked], replies: Sequence[Reply | None]) -> None:
        """Counts some rows: what each asked, and its reply."""
        counts = self._counts
        counts["rows"] += len(asked)
        for each, reply in zip(asked, replies, strict=True):
            counts["blank_summaries"] += isinstance(each, Asked) and each.is_blank
            if isinstance(each, NotAsked) or reply is None:
                counts["not_asked"] += 1
                if isinstance(each, NotAsked) and each.error:
                    self._unasked.add(each.error)
                continue
            counts["asked"] += 1
            counts[f"input_{each.input}"] += 1
            counts["cut"] += each.prepared.chars_left_out > 0
            counts["documents_left_out"] += each.prepared.documents_left_out
            counts[f"finish_{reply.finish}"] += 1
            if reply.finish == "error":
                self._unanswered.add(reply.error)
                counts[f"error_{reply.error.partition(':')[0].replace(' ', '_')}"] += 1
            else:
                counts[self._step.blank] += not reply.text.strip()
            self.prompt_seconds.append(each.prepared.seconds)

    def notes(self, kept_in: str) -> Iterator[str]:
        """What should be known of the rows, one sentence each.

        Args:
            kept_in: the file that has the other replies where rows failed; empty where the user
                named it.
        """
        column = self._step.column
        yield from self._unanswered.note(f"{{n}} rows failed and have no {column}")
        yield from self._unasked.note(f"{{n}} rows were not asked and have no {column}")
        if self.failed and kept_in:
            yield (
                f"the other replies are kept in {kept_in}: the same command asks only what failed "
                "again; delete the file to ask everything."
            )
        sentences = {
            "blank_summaries": "rows have a blank summary: there was nothing to answer from.",
            self._step.blank: f"rows have a blank {column}.",
        }
        for name, said in sentences.items():
            if n := self._counts[name]:
                yield f"{n} {said}"

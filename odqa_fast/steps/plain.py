"""What the compressors without a model share: one task at a time, and sentences that fit.

A compressor with an argument, as a file of its own in `compressors/`:

    from odqa_fast.steps.plain import Plain, split_task
    from odqa_fast.texts.sentences import name_splitter

    ARGUMENT = "N"

    def open_compressor(argument, options):
        n = int(argument)
        if n < 1:
            raise ValueError("N has to be 1 or more")
        return Plain(f"tail:{n}", lambda task: " ".join(split_task(task)[-n:]), name_splitter())

It is not held to the task's level here: `levels` checks lengths, `choose_fitting` keeps to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter

from odqa_fast.engines.base import Prepared, Reply, Task
from odqa_fast.texts.sentences import split_sentences


class Plain:
    """A compressor that is a function of a task; see `base.Compressor`.

    Args:
        name: as it was asked for, with what stands behind the colon, e.g. `first:2`: it is signed.
        compress: makes the compressed text.
        tags: all else that could make it another text.
        sees_answers: whether it is told the answers.
    """

    needs_question = False

    def __init__(
        self,
        name: str,
        compress: Callable[[Task], str],
        *tags: str,
        sees_answers: bool = False,
    ) -> None:
        self.id = name
        self.signature = ",".join([f"{name}/1", *tags])
        self.facts: Mapping[str, object] = {"compressor": name}
        self.sees_answers = sees_answers
        self._compress = compress

    def prepare(self, task: Task) -> Prepared:
        """See `base.Component`: what is asked is the task."""
        return Prepared(task)

    def run(self, requests: Sequence[Task]) -> Iterator[tuple[int, Reply]]:
        """See `base.Component`."""
        for at, task in enumerate(requests):
            start = perf_counter()
            text = self._compress(task)
            yield at, Reply(text, "stop", seconds=perf_counter() - start)

    def close(self) -> None:
        """Nothing is open."""


def split_task(task: Task) -> list[str]:
    """The sentences of all documents, in order."""
    return [sentence for document in task.documents for sentence in split_sentences(document)]


def choose_fitting(
    pieces: Sequence[str], ranking: Iterable[int], task: Task, *, stop: bool = False
) -> list[int]:
    """The pieces that are taken, best first, each if it still fits.

    Args:
        pieces: the sentences.
        ranking: their numbers, best first.
        task: says how long the result may be.
        stop: end at the first that does not fit.
    """
    count, budget = task.count, task.budget
    left = budget
    taken: list[int] = []
    for at in ranking:
        cost = count(f" {pieces[at]}" if taken else pieces[at])
        if cost <= left:
            taken.append(at)
            left -= cost
        elif stop:
            break
    # Tokens of a whole are not always those of its parts.
    while taken and count(join_pieces(pieces, taken)) > budget:
        taken.pop()
    return taken


def join_pieces(pieces: Sequence[str], taken: Iterable[int]) -> str:
    """The taken pieces in the order of the text."""
    return " ".join(pieces[at] for at in sorted(taken))

"""What the compressors without a model share: one task at a time, and sentences that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter

from odqa_fast.steps.compressors import Compressed, Task, no_argument
from odqa_fast.texts.sentences import split_sentences


class Plain:
    """A compressor that is a function of a task."""

    def __init__(
        self,
        name: str,
        argument: str,
        made: Callable[[Task], str],
        *tags: str,
        sees_answers: bool = False,
    ) -> None:
        no_argument(name, argument)
        self.id = name
        self.signature = ",".join([f"{name}/1", *tags])
        self.sees_answers = sees_answers
        self._made = made

    def compress(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Compressed]]:
        """See `Compressor`."""
        for at, task in enumerate(tasks):
            start = perf_counter()
            text = self._made(task)
            yield at, Compressed(text, perf_counter() - start)


def pieces_of(task: Task) -> list[str]:
    """The sentences of all documents, in order."""
    return [sentence for document in task.documents for sentence in split_sentences(document)]


def fitting(
    pieces: Sequence[str], ranking: Iterable[int], task: Task, *, stop: bool = False
) -> list[int]:
    """The pieces that are taken, best first, each if it still fits.

    Args:
        pieces: the sentences.
        ranking: their numbers, best first.
        task: says how long the result may be.
        stop: end at the first that does not fit.
    """
    count = task.length.count
    left = task.budget
    taken: list[int] = []
    for at in ranking:
        cost = count(f" {pieces[at]}" if taken else pieces[at])
        if cost <= left:
            taken.append(at)
            left -= cost
        elif stop:
            break
    # Tokens of a whole are not always those of its parts.
    while taken and count(joined(pieces, taken)) > task.budget:
        taken.pop()
    return taken


def joined(pieces: Sequence[str], taken: Iterable[int]) -> str:
    """The taken pieces in the order of the text."""
    return " ".join(pieces[at] for at in sorted(taken))

"""What models failed at, in the words of who said it."""

from __future__ import annotations

from collections.abc import Iterable

#: So many reasons are shown, each once.
SHOWN_REASONS = 3


class Failures:
    """Failures of one kind, counted; the first reasons are kept.

    Attributes:
        n: how many there are.
        reasons: the first `SHOWN_REASONS` that differ, in the order of the rows.
    """

    def __init__(self, errors: Iterable[str] = ()) -> None:
        self.n = 0
        self.reasons: list[str] = []
        for error in errors:
            self.add(error)

    def add(self, error: str) -> None:
        """Counts one."""
        self.n += 1
        if error not in self.reasons and len(self.reasons) < SHOWN_REASONS:
            self.reasons.append(error)

    def note(self, sentence: str) -> list[str]:
        """A sentence that has `{n}` in it, with the reasons behind it; none for no failure."""
        said = "; ".join(reason.rstrip(".") for reason in self.reasons)
        return [f"{sentence.format(n=self.n)} ({said})."] if self.n else []

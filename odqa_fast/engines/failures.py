"""What models failed at, in the words of who said it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

#: So many reasons are shown, each once.
SHOWN_REASONS = 3


@dataclass
class Failures:
    """Failures of one kind, counted; the first reasons are kept.

    Attributes:
        n: how many there are.
        reasons: the first `SHOWN_REASONS` that differ, in the order of the rows.
        tried: how many could have failed, where that is counted.
    """

    n: int = 0
    reasons: list[str] = field(default_factory=list)
    tried: int = 0

    @classmethod
    def of(cls, errors: Iterable[str]) -> Failures:
        """Failures with these reasons."""
        failures = cls()
        for error in errors:
            failures.add(error)
        return failures

    def add(self, error: str) -> None:
        """Counts one."""
        self.n += 1
        if error not in self.reasons and len(self.reasons) < SHOWN_REASONS:
            self.reasons.append(error)

    def note(self, sentence: str) -> list[str]:
        """A sentence that has `{n}` in it, with the reasons behind it; none for no failure."""
        said = "; ".join(reason.rstrip(".") for reason in self.reasons)
        return [f"{sentence.format(n=self.n)} ({said})."] if self.n else []

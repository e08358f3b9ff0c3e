"""What failures mean for the exit code; to go with the conversion of `levels`."""

from __future__ import annotations

from odqa_fast.runs.strict import Strict


def check_failed(n: int, of: int, what: str, *, every: bool, strict: bool) -> None:
    """See `Strict.accept`."""
    Strict(strict=strict).accept(n, of, what, every=every)

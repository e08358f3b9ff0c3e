"""CR: how long the summary is against the documents it was made from."""

from __future__ import annotations

from .rules import RULES


def cr(
    summary: str | None,
    documents: list[str | None] | None,
    unit: str = "chars",
    profile: str = "squad",
) -> float | None:
    """Output length over input length, in code points or whitespace-separated words."""
    if summary is None or documents is None:
        return None
    size = {"chars": len, "words": lambda text: len(text.split())}[unit]
    total = sum(size(text) for text in documents if text is not None)
    if total == 0:
        return None
    ratio = size(summary) / total
    return round(ratio, 2) if RULES[profile].rounds_cr else ratio

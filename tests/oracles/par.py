"""PAR: is some gold still there in the compressed text?"""

from __future__ import annotations

from .answer import Golds, contained
from .normalize import dpr_tokens
from .rules import RULES


def par(
    summary: str | None,
    answers: Golds,
    mode: str = "raw",
    profile: str = "squad",
    *,
    is_document: bool = False,
) -> float | None:
    """1 when some gold stands inside the summary, verbatim, normalized or as whole tokens."""
    if answers is None:
        return None
    golds = [gold for gold in answers if gold is not None]
    if summary is None:
        return 0.0
    rules = RULES[profile]
    if rules.blank_is_nothing:
        golds = [gold for gold in golds if gold.strip()]
        if not is_document and not summary.strip():
            return 0.0
    for gold in golds:
        if mode == "raw":
            hit = gold in summary if gold else rules.empty_needle
        elif mode == "normalized":
            hit = contained(gold, summary, rules)
        else:
            hit = _token_hit(dpr_tokens(gold), dpr_tokens(summary), rules.empty_needle)
        if hit:
            return 1.0
    return 0.0


def _token_hit(needle: list[str], tokens: list[str], empty_needle: bool) -> bool:
    if not needle:
        return empty_needle
    starts = range(len(tokens) - len(needle) + 1)
    return any(tokens[at : at + len(needle)] == needle for at in starts)

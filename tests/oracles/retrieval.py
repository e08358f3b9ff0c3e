"""Ranked documents: which hold an answer, which are relevant, and what that is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .answer import Golds
from .par import par

Document = tuple[str | None, float | None]


def holding(
    documents: Sequence[str | None] | None, answers: Golds, mode: str, profile: str
) -> list[bool]:
    """Of each document, whether it holds an answer."""
    if documents is None:
        return []
    return [
        text is not None and par(text, answers, mode, profile, is_document=True) == 1
        for text in documents
    ]


def by_answers(
    measure: str,
    k: int | None,
    documents: Sequence[str | None] | None,
    answers: Golds,
    mode: str,
    profile: str,
) -> float | None:
    """hit, mrr, precision (over k) or share (over the places there are) of the first k."""
    if answers is None:
        return None
    found = holding(documents, answers, mode, profile)[:k]
    if measure == "share":
        return sum(found) / len(found) if found else None
    if measure == "precision":
        assert k is not None
        return sum(found) / k
    if True not in found:
        return 0.0
    return 1.0 if measure == "hit" else 1 / (found.index(True) + 1)


def ranked(documents: Sequence[Document]) -> list[str | None]:
    """The ids in trec_eval's order where all have a score, in the list's order elsewhere."""
    if any(score is None for _, score in documents):
        return [name for name, _ in documents]
    with np.errstate(over="ignore"):
        keyed = [(np.float32(score), (name or "").encode(), name) for name, score in documents]
    keyed.sort(key=lambda item: item[:2], reverse=True)
    return [name for _, _, name in keyed]


def by_ids(
    measure: str,
    k: int | None,
    documents: Sequence[Document] | None,
    relevant: Sequence[str | None] | None,
    relevance: Sequence[int | None] | None,
) -> float | None:
    """One measure of trec_eval, of the first k."""
    if not relevant:
        return None
    degrees: dict[str, int] = {}
    for at, name in enumerate(relevant):
        given = relevance[at] if relevance is not None and at < len(relevance) else None
        degree = 1 if given is None else given
        if name is not None:
            degrees[name] = max(degree, degrees.get(name, degree))
    degrees = {name: degree for name, degree in degrees.items() if degree > 0}
    gains = []
    left = dict(degrees)
    for name in ranked(documents or []):
        gains.append(left.pop(name, 0) if name is not None else 0)
    total, shown = len(degrees), gains[:k]
    found = sum(gain > 0 for gain in shown)
    if total == 0 or found == 0:
        return 0.0
    if measure == "hit":
        return 1.0
    if measure == "mrr":
        return 1 / (next(at for at, gain in enumerate(shown) if gain) + 1)
    if measure == "recall":
        return found / total
    if measure == "capped":
        return found / min(total, k or total)
    if measure == "precision":
        assert k is not None
        return found / k
    if measure == "r_precision":
        return sum(gain > 0 for gain in gains[:total]) / total
    if measure == "map":
        precisions = 0.0
        for at, gain in enumerate(shown):
            if gain:
                precisions += sum(g > 0 for g in shown[: at + 1]) / (at + 1)
        return precisions / total
    assert measure == "ndcg"
    ideal = sorted(degrees.values(), reverse=True)[:k]
    return _discounted(shown) / _discounted(ideal)


def by_evidence(
    measure: str,
    k: int | None,
    names: Sequence[str | None] | None,
    sets: Sequence[Sequence[str | None] | None] | None,
) -> float | None:
    """One measure of KILT's eval_retrieval: sets of evidence as points of the ranking."""
    if sets is None:
        return None
    guesses = list(dict.fromkeys(name.strip() for name in names or [] if name is not None))
    given = [
        [n.strip() if n is not None else "" for n in each] for each in sets if each is not None
    ]
    if measure == "r_precision":
        best = 0.0
        for each, raw in zip(given, (each for each in sets if each is not None), strict=True):
            wanted = len(set(each)) - (None in raw)
            if wanted:
                best = max(best, sum(name in each for name in guesses[:wanted]) / wanted)
        return best
    left = [set(each) for each in dict.fromkeys(map(frozenset, given))]
    n_sets = len(left)
    ranking: list[object] = []
    for name in guesses:
        holding = [at for at, each in enumerate(left) if name in each]
        for at in holding:
            if f"set {at}" in ranking:
                ranking.remove(f"set {at}")
            left[at].discard(name)
            ranking.append(f"set {at}" if left[at] else True)
        if not holding:
            ranking.append(False)
    found = sum(mark is True for mark in ranking[:k])
    if measure == "hit":
        return float(found > 0)
    return found / (n_sets if measure == "recall" else k or 1) if found else 0.0


def _discounted(gains: Sequence[int]) -> float:
    total = 0.0
    for at, gain in enumerate(gains):
        if gain:
            total += gain / math.log2(at + 2)
    return total

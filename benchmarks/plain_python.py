"""The SQuAD v1.1 scores in plain Python: what every script does, and what we are timed against.

Written from the definitions in the SQuAD paper; also the check that a timed result is right.
"""

from __future__ import annotations

import re
import string
from collections import Counter

PUNCTUATION = set(string.punctuation)


def normalize(text: str) -> str:
    text = "".join(char for char in text.lower() if char not in PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact_match(prediction: str, answer: str) -> float:
    return float(normalize(prediction) == normalize(answer))


def overlap_scores(prediction: str, answer: str) -> tuple[float, float, float]:
    predicted, gold = normalize(prediction).split(), normalize(answer).split()
    common = sum((Counter(predicted) & Counter(gold)).values())
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(predicted), common / len(gold)
    return (2 * precision * recall) / (precision + recall), precision, recall


def score_row(prediction: str, answers: list[str]) -> tuple[float, float, float, float]:
    """EM, and F1, precision, recall of the best answer by F1."""
    em = max(exact_match(prediction, answer) for answer in answers)
    best = max((overlap_scores(prediction, answer) for answer in answers), key=lambda s: s[0])
    return em, *best

"""SQuAD v1.1 and DPR has_answer in plain Python: what every script does, and our yardstick.

Written from the definitions in the papers; also the check that a timed result is right.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

import regex

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


# DPR's SimpleTokenizer: words of letters, numbers and marks, or one other visible character.
TOKEN = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def tokens(text: str) -> list[str]:
    """The lowered words, by way of what DPR's tokenizer keeps of each: text, text with the white
    space behind it, and span."""
    text = unicodedata.normalize("NFD", text)
    matches = list(TOKEN.finditer(text))
    kept = []
    for at, match in enumerate(matches):
        start, end = match.span()
        following = matches[at + 1].span()[0] if at + 1 < len(matches) else end
        kept.append((match.group(), text[start:following], (start, end)))
    return [token[0].lower() for token in kept]


def has_answer(text: str, answers: list[str]) -> bool:
    """DPR's has_answer, "string" match: an answer's tokens stand in the text's in a row."""
    here = tokens(text)
    for answer in answers:
        wanted = tokens(answer)
        for at in range(len(here) - len(wanted) + 1):
            if wanted == here[at : at + len(wanted)]:
                return True
    return False

"""EM, F1, precision, recall and containment of one prediction, by profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .rules import RULES, Rules

Golds = list[str | None] | None
Triple = tuple[float, float, float]


def contained(needle: str, text: str, rules: Rules) -> bool:
    """Whether a gold stands inside a text, by the profile's own rule."""
    if rules.containment == "three-way":
        return needle in text or needle.lower() in text or needle.capitalize() in text
    if rules.containment == "raw":
        return needle in text
    inner = rules.normalizer(needle)
    if inner == "":
        return rules.empty_needle and not rules.needs_overlap
    if rules.needs_overlap and f1_precision_recall(text, needle, rules)[0] == 0:
        return False
    return inner in rules.normalizer(text)


def f1_precision_recall(prediction: str, gold: str, rules: Rules) -> Triple:
    """The three overlap numbers of one pair."""
    ours, theirs = rules.normalizer(prediction), rules.normalizer(gold)
    if rules.yes_no and ours != theirs and ({ours, theirs} & {"yes", "no", "noanswer"}):
        return 0.0, 0.0, 0.0
    our_tokens, their_tokens = ours.split(), theirs.split()
    if not our_tokens and not their_tokens:
        return rules.both_empty, rules.both_empty, rules.both_empty
    common = sum((Counter(our_tokens) & Counter(their_tokens)).values())
    if common == 0:
        return 0.0, 0.0, 0.0
    precision = common / len(our_tokens)
    recall = common / len(their_tokens)
    return (2 * precision * recall) / (precision + recall), precision, recall


def _em_pair(prediction: str, gold: str, rules: Rules) -> float:
    if rules.strips_for_em:
        return float(prediction.strip() == gold.strip())
    return float(rules.normalizer(prediction) == rules.normalizer(gold))


def _contains_pair(prediction: str, gold: str, rules: Rules) -> float:
    return float(contained(gold, prediction, rules))


def _row(
    prediction: str | None,
    answers: Golds,
    profile: str,
    over_golds: Callable[[str, list[str], Rules], float],
) -> float | None:
    """One score: what is missing first, then the profile's own list of golds."""
    rules = RULES[profile]
    if answers is None:
        return None
    golds = [gold for gold in answers if gold is not None]
    if rules.blank_is_nothing:
        golds = [gold for gold in golds if gold.strip()]
        if prediction is None or not prediction.strip():
            return 0.0
    if rules.drops_empty_golds:
        golds = [gold for gold in golds if rules.normalizer(gold) != ""] or [""]
    if not golds:
        return rules.no_golds
    if prediction is None:
        return 0.0
    return over_golds(rules.cut(prediction), golds, rules)


def em(prediction: str | None, answers: Golds, profile: str) -> float | None:
    """1 when the prediction equals some gold."""
    return _row(prediction, answers, profile, lambda p, gs, r: max(_em_pair(p, g, r) for g in gs))


def contains(prediction: str | None, answers: Golds, profile: str) -> float | None:
    """1 when some gold stands inside the prediction."""
    return _row(
        prediction, answers, profile, lambda p, gs, r: max(_contains_pair(p, g, r) for g in gs)
    )


def f1(prediction: str | None, answers: Golds, profile: str) -> float | None:
    """The best F1 over the golds."""
    return _row(
        prediction, answers, profile, lambda p, gs, r: max(_triples(p, gs, r), key=_by_f1)[0]
    )


def precision(prediction: str | None, answers: Golds, profile: str) -> float | None:
    """The precision of the best gold by F1, or its own maximum where the profile says so."""
    return _row(prediction, answers, profile, lambda p, gs, r: _side(p, gs, r, 1))


def recall(prediction: str | None, answers: Golds, profile: str) -> float | None:
    """The recall of the best gold by F1, or its own maximum where the profile says so."""
    return _row(prediction, answers, profile, lambda p, gs, r: _side(p, gs, r, 2))


def _triples(prediction: str, golds: list[str], rules: Rules) -> list[Triple]:
    return [f1_precision_recall(prediction, gold, rules) for gold in golds]


def _by_f1(triple: Triple) -> float:
    return triple[0]


def _side(prediction: str, golds: list[str], rules: Rules, which: int) -> float:
    triples = _triples(prediction, golds, rules)
    if rules.each_maximum:
        return max(triple[which] for triple in triples)
    return max(triples, key=_by_f1)[which]  # max() keeps the first of equals


ANSWER_METRICS: dict[str, Callable[[str | None, Golds, str], float | None]] = {
    "em": em,
    "f1": f1,
    "precision": precision,
    "recall": recall,
    "contains": contains,
}

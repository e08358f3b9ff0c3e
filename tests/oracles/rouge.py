"""ROUGE as rouge_score 0.1.2 and the `rouge` package compute it, with tables, counters and sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

Score = tuple[float, float, float]  #: precision, recall, f
Tokens = list[str]

#: Words and what Porter's stemmer (nltk's default mode) leaves of them: the examples of Porter 1980
#: and of nltk's changes to it.
STEMS = dict(
    pair.split(":")
    for pair in (
        "caresses:caress ponies:poni ties:tie cats:cat feed:feed agreed:agre "
        "plastered:plaster bled:bled motoring:motor sing:sing conflated:conflat "
        "troubled:troubl sized:size hopping:hop falling:fall hissing:hiss failing:fail "
        "filing:file happy:happi relational:relat conditional:condit rational:ration "
        "digitizer:digit vietnamization:vietnam hopefulness:hope formaliti:formal "
        "triplicate:triplic electrical:electr goodness:good revival:reviv adjustable:adjust "
        "replacement:replac adoption:adopt probate:probat rate:rate cease:ceas "
        "controll:control roll:roll skies:sky dying:die news:news enjoy:enjoy died:die "
        "flies:fli was:was 1990s:1990"
    ).split()
)


def ascii_words(text: str, stem: bool = False) -> Tokens:
    tokens = re.findall("[a-z0-9]+", text.lower())
    return [STEMS[token] if stem and len(token) > 3 else token for token in tokens]


def longest_table(rows: Sequence[str], columns: Sequence[str]) -> list[list[int]]:
    table = [[0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for i, row in enumerate(rows, 1):
        for j, column in enumerate(columns, 1):
            if row == column:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table


def walk(rows: Sequence[str], columns: Sequence[str], *, tie_goes_up: bool) -> list[int]:
    """The rows of one longest common subsequence, found from the end."""
    table = longest_table(rows, columns)
    i, j = len(rows), len(columns)
    found = []
    while i and j:
        up, left = table[i - 1][j], table[i][j - 1]
        if rows[i - 1] == columns[j - 1]:
            i, j = i - 1, j - 1
            found.append(i)
        elif up > left or (tie_goes_up and up == left):
            i -= 1
        else:
            j -= 1
    return found[::-1]


def ngrams(tokens: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def google_score(hits: int, predicted: int, wanted: int) -> Score:
    p, r = hits / max(predicted, 1), hits / max(wanted, 1)
    return p, r, 2 * p * r / (p + r) if p + r > 0 else 0.0


def google(kind: str, target: str, prediction: str, words: Callable[[str], Tokens]) -> Score:
    wanted, predicted = words(target), words(prediction)
    if kind == "rougeL":
        if not wanted or not predicted:
            return 0.0, 0.0, 0.0
        length = longest_table(wanted, predicted)[-1][-1]
        return google_score(length, len(predicted), len(wanted))
    if kind == "rougeLsum":
        return _summary_level(target.split("\n"), prediction.split("\n"), words)
    n = int(kind.removeprefix("rouge"))
    a, b = ngrams(predicted, n), ngrams(wanted, n)
    return google_score((a & b).total(), a.total(), b.total())


def _summary_level(
    target: list[str], prediction: list[str], words: Callable[[str], Tokens]
) -> Score:
    wanted = [words(line) for line in target if line]
    predicted = [words(line) for line in prediction if line]
    left_wanted = Counter(token for line in wanted for token in line)
    left_predicted = Counter(token for line in predicted for token in line)
    totals = left_predicted.total(), left_wanted.total()
    if not all(totals):
        return 0.0, 0.0, 0.0
    hits = 0
    for line in wanted:
        union = {at for other in predicted for at in walk(line, other, tie_goes_up=True)}
        for at in sorted(union):
            if left_predicted[line[at]] > 0 and left_wanted[line[at]] > 0:
                left_predicted[line[at]] -= 1
                left_wanted[line[at]] -= 1
                hits += 1
    return google_score(hits, *totals)


def sentences(text: str) -> list[Tokens]:
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def package_score(hits: int, predicted: int, wanted: int) -> Score:
    p = hits / predicted if predicted else 0.0
    r = hits / wanted if wanted else 0.0
    return p, r, 2.0 * ((p * r) / (p + r + 1e-8))


def package(kind: str, target: str, prediction: str, *, gram_sets: bool, word_sets: bool) -> Score:
    """What the package refuses (a side without a sentence) scores 0, as in KILT and LongBench."""
    wanted, predicted = sentences(target), sentences(prediction)
    if not wanted or not predicted:
        return 0.0, 0.0, 0.0
    all_wanted = [word for sentence in wanted for word in sentence]
    all_predicted = [word for sentence in predicted for word in sentence]
    if kind != "rougeL":
        n = int(kind.removeprefix("rouge"))
        a, b = ngrams(all_predicted, n), ngrams(all_wanted, n)
        if gram_sets:
            return package_score(len(a.keys() & b.keys()), len(a), len(b))
        return package_score((a & b).total(), a.total(), b.total())
    found = [
        sentence[at]
        for sentence in wanted
        for other in predicted
        for at in walk(sentence, other, tie_goes_up=False)
    ]
    if word_sets:
        return package_score(len(set(found)), len(set(all_predicted)), len(set(all_wanted)))
    return package_score(len(found), len(all_predicted), len(all_wanted))


#: The option that asks for it -> the scores of one pair: type, target, prediction.
VARIANTS: dict[str, Callable[[str, str, str], Score]] = {
    "": partial(google, words=ascii_words),
    "stem": partial(google, words=partial(ascii_words, stem=True)),
    "pltrdy": partial(package, gram_sets=True, word_sets=True),
    "pltrdy100": partial(package, gram_sets=False, word_sets=True),
    "pltrdy-counts": partial(package, gram_sets=False, word_sets=False),
}


def rouge(
    kind: str, prediction: str | None, answers: list[str | None] | None, variant: str = ""
) -> Score | None:
    """The scores of a row: those of the answer with the greatest f, the first of several."""
    golds = [answer for answer in answers or [] if answer is not None]
    if not golds:
        return None
    if prediction is None:
        return 0.0, 0.0, 0.0
    scores = [VARIANTS[variant](kind, gold, prediction) for gold in golds]
    return max(scores, key=lambda score: score[2])

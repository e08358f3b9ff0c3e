"""What each scorer makes of a text: one function a normalizer, plus the DPR tokenizer."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from functools import partial

import regex

ARTICLES = r"\b(a|an|the)\b"


def raw(text: str) -> str:
    """The text as it is."""
    return text


def strip(text: str) -> str:
    """The text without whitespace at both ends."""
    return text.strip()


def squad(text: str) -> str:
    """SQuAD: lower, delete ASCII punctuation, drop articles, squeeze whitespace."""
    lowered = text.lower()
    unpunctuated = "".join(c for c in lowered if c not in string.punctuation)
    without_articles = re.sub(ARTICLES, " ", unpunctuated)
    return " ".join(without_articles.split())


def regex_squad(text: str) -> str:
    """The same steps with the word boundaries of the `regex` module (DPR reader, FiD)."""
    lowered = text.lower()
    unpunctuated = "".join(c for c in lowered if c not in string.punctuation)
    without_articles = regex.sub(ARTICLES, " ", unpunctuated)
    return " ".join(without_articles.split())


def triviaqa(text: str) -> str:
    """TriviaQA: punctuation and four quote marks become spaces, they are not deleted."""
    lowered = text.replace("_", " ").lower()
    to_space = set(string.punctuation) | {"\u2018", "\u2019", "\u00b4", "`"}
    spaced = "".join(" " if c in to_space else c for c in lowered)
    without_articles = re.sub(ARTICLES, " ", spaced)
    return " ".join(without_articles.split())


def orqa(text: str) -> str:
    """ORQA / EfficientQA: decompose (NFD), then the SQuAD steps."""
    return squad(unicodedata.normalize("NFD", text))


#: The articles that MLQA's script leaves out, by language.
MLQA_ARTICLES = {
    "en": "a|an|the",
    "es": "un|una|unos|unas|el|la|los|las",
    "de": "ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des",
    "vi": "c\u1ee7a|l\u00e0|c\u00e1i|chi\u1ebfc|nh\u1eefng",
}


def mlqa(text: str, language: str) -> str:
    """MLQA: lower, delete punctuation of any script, drop the articles of a language, squeeze."""
    unpunctuated = "".join(
        c for c in text.lower() if unicodedata.category(c)[0] != "P" and c not in string.punctuation
    )
    without_articles = re.sub(rf"\b({MLQA_ARTICLES[language]})\b", " ", unpunctuated)
    return " ".join(without_articles.split())


def squad_tokens(text: str) -> list[str]:
    """The words of a normalized text."""
    return squad(text).split()


def dpr_tokens(text: str) -> list[str]:
    """DPR: NFD, runs of letters, numbers and marks; other visible characters stand alone."""
    tokens = []
    run = ""
    for c in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(c)[0]
        if kind in "LNM":
            run += c
            continue
        if run:
            tokens.append(run)
            run = ""
        if kind not in "ZC":
            tokens.append(c)
    if run:
        tokens.append(run)
    return [token.lower() for token in tokens]


NORMALIZERS: dict[str, Callable[[str], str]] = {
    "raw": raw,
    "strip": strip,
    "squad": squad,
    "regex": regex_squad,
    "triviaqa": triviaqa,
    "orqa": orqa,
    "mlqa-en": partial(mlqa, language="en"),
    "mlqa-vi": partial(mlqa, language="vi"),
}

TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"squad": squad_tokens, "dpr": dpr_tokens}

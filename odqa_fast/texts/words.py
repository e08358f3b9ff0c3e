"""Words of texts for ranking and for telling what two texts are about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from odqa_fast.scoring.single import tokenize

#: Words that say nothing of what an English text is about.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing done during each either else ever few for from further had
    has have having he her here hers him his how i if in into is it its itself just many may me
    might more most much must my no nor not now of off on once one only or other our out over own
    per quite s same shall she should since so some such t than that the their them then there
    these they this those though through to too under until up upon us very was we were what when
    where whether which while who whom whose why will with within without would yes yet you your
    """.split()
)


def split_words(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text: cased down, in form NFD, in any script; punctuation is none."""
    return [
        [token for token in tokens if token[0].isalnum()]
        for tokens in tokenize(list(texts), "dpr").to_pylist()
    ]


def stem_words(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text, the English ones by Porter's stem, as ROUGE counts them."""
    found: list[list[str]] = tokenize(list(texts), "rouge:stem:unicode").to_pylist()
    return found


def select_content(tokens: Sequence[str]) -> frozenset[str]:
    """The words that are no stop words."""
    return frozenset(tokens) - STOP_WORDS


@cache
def stem_stop_words() -> frozenset[str]:
    """The stop words as `stem_words` gives them."""
    return frozenset(stem for tokens in stem_words(sorted(STOP_WORDS)) for stem in tokens)

"""Sentences ranked against the questions by BM25, or against the text's own keywords."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from odqa_fast.engines.base import Compressor, Task
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.plain import Plain, choose_fitting, join_pieces, split_task
from odqa_fast.texts.sentences import name_splitter
from odqa_fast.texts.words import stem_stop_words, stem_words

#: As in most implementations (Robertson and Zaragoza 2009 name 1.2 to 2 and 0.5 to 0.8 as good).
_K1, _B = 1.5, 0.75

#: So many of a text's own words stand for it where no question may be seen.
_KEYWORDS = 20


def rank(pieces: Sequence[str], questions: Sequence[str]) -> list[int]:
    """The pieces, best first: those that are best for some question before all second best.

    Every piece is a document of the collection that BM25 looks at. Of equals the earlier is better.
    """
    found = [Counter(words) for words in stem_words(pieces)]
    asked = stem_words(questions) if questions else [_keywords(found)]
    holding = Counter(word for counts in found for word in counts)
    lengths = [counts.total() for counts in found]
    mean_length = sum(lengths) / len(lengths) if lengths else 0.0
    best = [len(pieces)] * len(pieces)
    for words in asked:
        weights = {
            word: math.log(1 + (len(pieces) - n + 0.5) / (n + 0.5))
            for word in sorted(set(words))
            if (n := holding[word])
        }
        scores = [
            sum(
                weight * n * (_K1 + 1) / (n + _K1 * (1 - _B + _B * length / mean_length))
                for word, weight in weights.items()
                if (n := counts[word])
            )
            for counts, length in zip(found, lengths, strict=True)
        ]
        order = sorted(range(len(pieces)), key=lambda at: (-scores[at], at))
        for rank, at in enumerate(order):
            best[at] = min(best[at], rank)
    return sorted(range(len(pieces)), key=lambda at: (best[at], at))


def _keywords(found: Sequence[Counter[str]]) -> list[str]:
    """What a text is about: the words that most of its sentences have, at least two of them."""
    counts = Counter(word for words in found for word in words if word not in stem_stop_words())
    repeated = [word for word, n in counts.items() if n > 1]
    return sorted(repeated, key=lambda word: (-counts[word], word))[:_KEYWORDS]


def _best(task: Task) -> str:
    pieces = split_task(task)
    return join_pieces(pieces, choose_fitting(pieces, rank(pieces, task.questions), task))


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """The best sentences that fit, in the order of the text."""
    return Plain("bm25", _best, f"k1={_K1}", f"b={_B}", "rouge-stems", name_splitter())

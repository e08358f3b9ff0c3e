"""`RougeScorer` with the call signature and the results of `rouge_score.rouge_scorer` 0.1.2.

    from odqa_fast.compat.rouge_score import RougeScorer

For more than a few texts `odqa_fast.score(data, ["rouge1", "rougeL:stem"])` is far faster.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from odqa_fast._kernels.columns import Column
from odqa_fast._kernels.rouge import PARTS, rouge

_TYPES = re.compile(r"rouge([1-9]|L|Lsum)")


class Score(NamedTuple):
    """The three numbers of one type."""

    precision: float
    recall: float
    fmeasure: float


class Tokenizer(Protocol):
    """What may be given as `tokenizer`."""

    def tokenize(self, text: str) -> Sequence[Hashable]:
        """The tokens of a text."""
        ...


class RougeScorer:
    """Scores single texts.

    Args:
        rouge_types: `rouge1` to `rouge9`, `rougeL`, `rougeLsum`.
        use_stemmer: stem words of more than three letters by nltk's Porter stemmer.
        split_summaries: not supported: it needs a model of nltk's. Put sentences on lines instead.
        tokenizer: an object with `tokenize(text)`, in place of the default tokenizer and stemmer.

    Raises:
        ValueError: a type that does not exist, or `split_summaries`.
    """

    def __init__(
        self,
        rouge_types: Iterable[str],
        use_stemmer: bool = False,
        split_summaries: bool = False,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.rouge_types = list(rouge_types)
        for each in self.rouge_types:
            if not _TYPES.fullmatch(each):
                raise ValueError(f"Invalid rouge type: {each}")
        if split_summaries:
            raise ValueError(
                "split_summaries is not supported: put each sentence on a line of its own."
            )
        self._tokenizer = tokenizer
        self._stem = use_stemmer and tokenizer is None

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, RougeScorer) else NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self.rouge_types), self._stem))

    def score(self, target: str, prediction: str) -> dict[str, Score]:
        """The scores of a prediction against one target, by type."""
        return self.score_multi([target], prediction)

    def score_multi(self, targets: Sequence[str], prediction: str) -> dict[str, Score]:
        """For each type the scores against the target with the greatest F, the first of several.

        Raises:
            ValueError: no targets.
        """
        if not len(targets):
            raise ValueError("there is no target to score against")
        if self._tokenizer is None:
            return self._best(targets, prediction, self.rouge_types)
        # Sentences are cut out of a text before a tokenizer sees them: other tokens, another call.
        numbers: dict[Hashable, int] = {}
        whole = [_as_words([text], self._tokenizer, numbers) for text in (prediction, *targets)]
        lines = [
            _as_words(text.split("\n"), self._tokenizer, numbers) for text in (prediction, *targets)
        ]
        found: dict[str, Score] = {}
        for texts, types in (
            (whole, [each for each in self.rouge_types if each != "rougeLsum"]),
            (lines, [each for each in self.rouge_types if each == "rougeLsum"]),
        ):
            found.update(self._best(texts[1:], texts[0], types))
        return {each: found[each] for each in self.rouge_types}

    def _best(
        self, targets: Sequence[str], prediction: str, types: Sequence[str]
    ) -> dict[str, Score]:
        outputs: dict[tuple[str, str], Any] = {
            (each, part): np.empty(1) for each in types for part in PARTS
        }
        texts = Column("prediction", pa.array([_encodable(prediction)], pa.string()))
        answers = pa.array([[_encodable(text) for text in targets]], pa.list_(pa.string()))
        rouge(texts, Column("targets", answers), "ascii", self._stem, 0, 1, outputs)
        return {
            each: Score(*(float(outputs[each, part][0]) for part in ("precision", "recall", "f")))
            for each in types
        }


def _encodable(text: str) -> str:
    """The text with lone surrogates, which stand between words, as another such character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _as_words(lines: Sequence[str], tokenizer: Tokenizer, numbers: dict[Hashable, int]) -> str:
    """The tokens of each line as numbers, which the default tokenizer takes for its words."""
    return "\n".join(
        " ".join(str(numbers.setdefault(token, len(numbers))) for token in tokenizer.tokenize(line))
        for line in lines
        if line
    )

"""ROUGE: overlap of n-grams, and the longest common subsequence, of prediction and answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.errors import MetricError
from odqa_fast.metrics._match import named_after
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

_PARTS = {
    "f": "harmonic mean of precision and recall (the default)",
    "precision": "precision of the answer with the greatest f",
    "recall": "recall of the answer with the greatest f",
}
_STEM = {"stem": "words over three letters stemmed, as use_stemmer=True (nltk's Porter stemmer)"}
_WORDS = {
    "unicode": "words of any script, each Chinese character and kana one; default: a-z and 0-9",
    "pltrdy": "as the `rouge` package 1.0.1 (KILT, LongBench, BERGEN)",
    "pltrdy100": "as the `rouge` package 1.0.0: n-grams counted as often as they stand",
    "pltrdy-counts": "as 1.0.1 with exclusive=False: words likewise (rougeL may pass 1)",
    "kilt": "KILT's rougel: as pltrdy; white space is no answer, and as a prediction scores 0",
}


@dataclass(frozen=True)
class _Settings:
    """What one tokenization serves: all types and parts of equal settings share a kernel call."""

    variant: str
    stem: bool

    @property
    def is_package(self) -> bool:
        """Whether the rules are those of the `rouge` package."""
        return self.variant not in ("ascii", "unicode")


def _rows(
    settings: _Settings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.rouge import rouge

    wanted = {}
    for name, values in outputs.items():
        metric, _, part = name.partition(":")
        wanted[metric, part] = values
    counts = rouge(
        columns["prediction"],
        columns["answers"],
        settings.variant,
        settings.stem,
        lo,
        hi,
        wanted,
    )
    return named_after("prediction", counts)


def _settings(option: str) -> tuple[str, _Settings]:
    part, *others = option.split(":")
    variant = next((word for word in others if word in _WORDS), "ascii")
    return part, _Settings(variant, "stem" in others)


def rouge_work(metric: str, option: str) -> Work:
    """The work for one type of ROUGE, e.g. rougeL, with its options, e.g. `f:kilt`."""
    part, settings = _settings(option)
    if settings.is_package and settings.stem:
        raise MetricError(f"{metric}:{settings.variant} has no stemmer.")
    if settings.is_package and metric == "rougeLsum":
        raise MetricError(
            f"the `rouge` package has no {metric}.",
            hint=f"Its rouge-l goes by sentences: rougeL:{settings.variant}.",
        )
    return Work(_rows, ("prediction", "answers"), settings, f"{metric}:{part}")


def _spec(metric: str, about: str) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        return rouge_work(metric, option)

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        _, settings = _settings(option)
        reference = "rouge-package" if settings.is_package else "rouge_score"
        return {"golds": "best-f", "empty": "zero", "null": "zero", "like": reference}

    return MetricSpec(
        id=metric,
        about=about,
        inputs=("prediction", "answers"),
        # With words counted again for each sentence, more may be found than there are.
        open_options=frozenset({"pltrdy-counts"}),
        empty_rule="a side without a word, or with fewer than n, scores 0, a null prediction too; "
        "null without answers",
        source="Lin 2004; Google's rouge_score 0.1.2; the `rouge` package (pltrdy) 1.0.0, 1.0.1",
        work=work,
        tags=tags,
        options=_PARTS,
        more_options=(_STEM, _WORDS),
        uses_profile=False,
    )


SPECS = (
    _spec("rouge1", "overlap of words, each counted as often as it stands in both"),
    *(_spec(f"rouge{n}", f"overlap of runs of {n} words, likewise") for n in range(2, 10)),
    _spec("rougeL", "longest common subsequence of words; line breaks are white space"),
    _spec("rougeLsum", "union of longest common subsequences, line by line"),
)

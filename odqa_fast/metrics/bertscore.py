"""BERTScore: overlap of meaning, by the cosines of an encoder's token vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odqa_fast.errors import MetricError
from odqa_fast.metrics.resources import Resources
from odqa_fast.metrics.spec import MetricSpec, Tally, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics._bertscore import Idf, Matcher, Scores
    from odqa_fast.metrics.spec import Outputs

_PARTS = {
    "f": "harmonic mean of precision and recall (the default)",
    "precision": "mean over the prediction's tokens of the best cosine with an answer's token",
    "recall": "the same over the answer's tokens",
}
_IDF = {"idf": "tokens weighted by how rare they are among the answers of --bertscore-idf"}
_SCALE = {"rescaled": "(x - b) / (1 - b) with the baseline b of --bertscore-baseline"}


#: Every token of a single text weighs log(2 / 2) = 0.
_TOO_FEW = (
    "bertscore:idf: {} texts are too few to tell rare tokens by; tokens weigh alike, as without "
    "idf. Name more in --bertscore-idf."
)


@dataclass(frozen=True)
class _Opened:
    """One pass over a run's pairs: all parts of it, rescaled or not.

    Attributes:
        idf: the tokens' weights, where they are weighed.
        too_few: how many texts were given for that, where they are too few.
    """

    matcher: Matcher
    idf: Idf | None
    baseline: tuple[float, float, float] | None
    too_few: int | None = None

    def tags(self, output: str) -> Mapping[str, str]:
        tags = {"model": self.matcher.encoder.signature}
        if self.idf is not None:
            tags["idf"] = self.idf.signature
        elif self.too_few is not None:
            tags["idf"] = "none"
        if output.endswith(":rescaled"):
            tags["baseline"] = ",".join(f"{value:g}" for value in self._baseline())
        return tags

    def _baseline(self) -> tuple[float, float, float]:
        if self.baseline is None:
            raise MetricError(
                "bertscore:rescaled needs a baseline.",
                hint="--bertscore-baseline P,R,F (in Python Resources(bertscore_baseline=...)).",
            )
        return self.baseline

    def scaled(self, scores: Scores) -> Scores:
        """The scores with the baseline as 0."""
        from odqa_fast.metrics._bertscore import rescaled

        return rescaled(scores, self._baseline())


def _rows(
    settings: _Opened, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Tally:
    from odqa_fast.metrics._bertscore import Seen

    counts = Tally()
    hypotheses: list[str] = []
    references: list[str] = []
    # Where each row's pairs begin; a row without pairs is not scored.
    edges = [0]
    for row in range(lo, hi):
        text, golds = columns["prediction"].value(row), columns["answers"].value(row)
        counts["null_predictions"] += text is None
        counts["empty_predictions"] += text is not None and not text.strip()
        counts["null_answers"] += golds is None
        found = [gold for gold in golds or () if gold is not None]
        counts["null_answer_items"] += len(golds or ()) - len(found)
        counts["empty_answers"] += golds is not None and not found
        counts["empty_golds"] += sum(not gold.strip() for gold in found)
        # A missing prediction scores what an empty one does.
        hypotheses += [text or ""] * len(found)
        references += found
        edges.append(len(references))
    seen = Seen()
    scores = settings.matcher.scores(hypotheses, references, settings.idf, seen)
    # bert-score has no number for the precision or recall of special tokens (0 / 0).
    bare = [not seen.bare.isdisjoint(pair) for pair in zip(hypotheses, references, strict=True)]
    scores[bare] = np.nan_to_num(scores[bare])
    best = np.full((hi - lo, 3), np.nan)
    starts = np.array(edges)
    scored = starts[1:] > starts[:-1]
    if len(scores):
        # Each of the three has its own best answer.
        best[scored] = np.maximum.reduceat(scores, starts[:-1][scored], axis=0)
    counts["rows_without_weight"] += int(np.isnan(best[scored]).any(axis=1).sum())
    texts = [*(hypotheses[at] for at in starts[:-1][scored]), *references]
    counts["texts_truncated"] += sum(text in seen.cut for text in texts)
    counts["texts_without_tokens"] += sum(
        text in seen.bare and bool(text.strip()) for text in texts
    )
    if seen.cut:
        limit = settings.matcher.encoder.max_tokens
        counts.add_note(f"bertscore: the encoder takes {limit:,} tokens of a text.")
    if settings.too_few is not None:
        counts.add_note(_TOO_FEW.format(settings.too_few))
    for output, values in outputs.items():
        part, _, scale = output.partition(":")
        shown = settings.scaled(best) if scale else best
        values[lo:hi] = shown[:, ("precision", "recall", "f").index(part)]
    return counts


def _work(option: str, profile: Profile) -> Work:
    part, *others = option.split(":")
    output = f"{part}:rescaled" if "rescaled" in others else part
    return Work(_rows, ("prediction", "answers"), "idf" in others, output, _open)


def _open(weighted: bool, resources: Resources) -> _Opened:
    from odqa_fast.metrics._bertscore import shared_matcher

    if resources.bertscore_model is None:
        raise MetricError(
            "bertscore needs a model.",
            hint="Export one, odqa-fast models export minilm-l6 --out minilm, and name it: "
            "--bertscore-model minilm "
            "(in Python resources=Resources(bertscore_model=...)).",
        )
    if weighted and resources.bertscore_idf is None:
        raise MetricError(
            "bertscore:idf needs the texts whose tokens are counted.",
            hint="--bertscore-idf DUMP: its answers (in Python Resources(bertscore_idf=texts)).",
        )
    matcher = shared_matcher(resources.bertscore_model, resources.device)
    if not weighted:
        return _Opened(matcher, None, resources.bertscore_baseline)
    idf = matcher.idf(resources.bertscore_idf or ())
    if idf.documents is not None and idf.documents < 2:
        return _Opened(matcher, None, resources.bertscore_baseline, idf.documents)
    return _Opened(matcher, idf, resources.bertscore_baseline)


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    return {"golds": "max-each", "empty": "zero", "null": "zero"}


SPECS = (
    MetricSpec(
        id="bertscore",
        about="greedy matching of token vectors by cosine",
        version=2,
        inputs=("prediction", "answers"),
        range=(-1, 1),
        empty_rule="a side without a token scores 0, a null prediction too; null without answers",
        source="Zhang et al. 2020, BERTScore; bert-score 0.3.13",
        work=_work,
        tags=_tags,
        options=_PARTS,
        more_options=(_IDF, _SCALE),
        uses_profile=False,
    ),
)

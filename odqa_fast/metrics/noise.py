"""What a compressor did with injected noise and with the text's own evidence, by a manifest.

A noise manifest (`odqa-fast noise`) has the columns `injected` and `evidence_sentences`; joined to
the summaries by id, it says which of those texts are still there. No model is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

_UNITS = {
    "pieces": "each piece counts once (the default)",
    "chars": "each piece counts by its code points",
}


@dataclass(frozen=True)
class _Settings:
    pieces: str
    unit: str


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _rows(
    settings: _Settings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    summaries, pieces = columns["summary"], columns[settings.pieces]
    weigh = len if settings.unit == "chars" else bool
    counts = {"null_summaries": 0}
    for row in range(lo, hi):
        texts = [_squeezed(text) for text in pieces.value(row) or () if text is not None]
        total = sum(map(weigh, texts))
        summary = summaries.value(row)
        counts["null_summaries"] += summary is None
        shown = _squeezed(summary or "")
        kept = sum(weigh(text) for text in texts if text in shown)
        for output, values in outputs.items():
            share = kept / total if total else float("nan")
            values[row] = 1 - share if output == "removed" else share
    return counts


def _spec(
    metric: str, output: str, pieces: str, about: str, units: Mapping[str, str]
) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        settings = _Settings(pieces, option or "pieces")
        return Work(_rows, ("summary", pieces), settings, output)

    def tags(option: str, profile: Profile) -> Mapping[str, str]:
        unit = {"unit": option} if option else {}
        return {**unit, "match": "verbatim", "space": "squeezed", "null": "nothing-kept"}

    return MetricSpec(
        id=metric,
        about=about,
        inputs=("summary", pieces),
        empty_rule="a row without such pieces is not scored; a null summary keeps nothing",
        source="counting; a piece is kept where it stands in the summary, white space squeezed",
        work=work,
        tags=tags,
        options=units,
        uses_profile=False,
    )


SPECS = (
    _spec(
        "noise_removed",
        "removed",
        "injected",
        "share of the injected pieces that do not stand in the summary",
        _UNITS,
    ),
    _spec(
        "evidence_kept",
        "kept",
        "evidence_sentences",
        "share of the text's own sentences holding an answer that stand in the summary",
        {},
    ),
)

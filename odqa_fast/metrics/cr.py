"""CR: compression ratio, the summary's length over the documents' (output over input)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.errors import MetricError
from odqa_fast.metrics.resources import Resources
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs

_UNITS = {
    "chars": "Unicode code points (the default)",
    "words": "pieces between white space, as str.split() cuts",
    "tokens": "those of the tokenizer of --tokenizer, special ones not",
}


@dataclass(frozen=True)
class _Settings:
    unit: str
    rounded: bool


def _rows(
    settings: _Settings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.cr import cr

    return cr(
        columns["summary"],
        columns["documents"],
        settings.unit,
        settings.rounded,
        lo,
        hi,
        outputs["cr"],
    )


@dataclass(frozen=True)
class _Tokens:
    count: Callable[[str], int]
    name: str
    rounded: bool

    def tags(self, output: str) -> Mapping[str, str]:
        return {"unit": self.name}


def _token_rows(
    settings: _Tokens, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for row in range(lo, hi):
        summary, documents = columns["summary"].value(row), columns["documents"].value(row)
        outputs["cr"][row] = float("nan")
        if summary is None or documents is None:
            counts["null_summaries" if summary is None else "null_documents"] += 1
            continue
        original = sum(settings.count(text) for text in documents if text is not None)
        if original == 0:
            counts["empty_documents"] += 1
            continue
        compressed = settings.count(summary)
        counts["longer_summaries"] += compressed > original
        counts["blank_summaries"] += not summary.strip()
        ratio = compressed / original
        outputs["cr"][row] = round(ratio, 2) if settings.rounded else ratio
    return dict(counts)


def _open(rounded: bool, resources: Resources) -> _Tokens:
    from odqa_fast.engines.token_count import make_token_counter

    if resources.tokenizer is None:
        raise MetricError(
            "cr:tokens needs a tokenizer.",
            hint="--tokenizer FILE, a tokenizer.json (in Python Resources(tokenizer=...)).",
        )
    return _Tokens(*make_token_counter(resources.tokenizer), rounded)


def _work(option: str, profile: Profile) -> Work:
    columns = ("summary", "documents")
    if option == "tokens":
        return Work(_token_rows, columns, profile.round_cr, "cr", _open)
    return Work(_rows, columns, _Settings(option, profile.round_cr), "cr")


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    tags = {"unit": option, "of": "output/input", "null": "null", "empty": "null"}
    if profile.round_cr:
        tags["round"] = "2"
    return tags


SPECS = (
    MetricSpec(
        id="cr",
        about="length of the summary over the summed length of the documents' texts",
        inputs=("summary", "documents"),
        range=(0, None),
        higher_is_better=False,
        empty_rule="null where the summary is null or the documents are null or empty",
        source="the ODQA compression recipe: mean over rows of len(summary) / len(document)",
        work=_work,
        tags=_tags,
        options=_UNITS,
    ),
)

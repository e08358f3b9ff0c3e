"""CR: compression ratio, the summary's length over the documents' (output over input)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odqa_fast.profiles import Profile
from odqa_fast.spec import MetricSpec, Work

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.spec import Outputs

_UNITS = {
    "chars": "Unicode code points (the default)",
    "words": "pieces between white space, as str.split() cuts",
}


@dataclass(frozen=True)
class _Settings:
    unit: str
    rounded: bool


def _rows(
    settings: _Settings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> dict[str, int]:
    from odqa_fast._kernels.cr import COUNTS, cr

    counts = cr(
        columns["summary"],
        columns["documents"],
        settings.unit,
        settings.rounded,
        lo,
        hi,
        outputs["cr"],
    )
    return dict(zip(COUNTS, counts, strict=True))


def _work(option: str, profile: Profile) -> Work:
    settings = _Settings(option, profile.round_cr)
    return Work(_rows, ("summary", "documents"), settings, "cr")


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    tags = {"unit": option, "of": "output/input", "null": "null", "empty": "null"}
    if profile.round_cr:
        tags["round"] = "2"
    return tags


SPECS = (
    MetricSpec(
        id="cr",
        about="length of the summary over the summed length of the documents' texts",
        version=1,
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

"""Which texts hold an answer, by the same compiled matcher that scores use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from odqa_fast._kernels.columns import Column
from odqa_fast.metrics.par import par_work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    import numpy.typing as npt


def find_holding(
    texts: Sequence[str], answers: Sequence[Sequence[str]], profile: Profile, *modes: str
) -> npt.NDArray[np.bool_]:
    """Of each text, whether it holds one of its answers in some of the modes of `par`.

    Args:
        texts: n texts.
        answers: n lists of answers with their aliases.
        profile: the profile whose containment rule `normalized` follows.
        modes: `token`, `normalized`, `raw`.
    """
    columns = {
        "summary": Column("summary", pa.array(texts, pa.large_string())),
        "answers": Column("answers", pa.array(answers, pa.large_list(pa.large_string()))),
    }
    found = np.zeros(len(texts), bool)
    for mode in modes:
        work = par_work(mode, profile)
        out = np.empty(len(texts))
        work.rows(work.settings, columns, 0, len(texts), {work.output: out})
        found |= out == 1
    return found

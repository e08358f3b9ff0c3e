"""How far a judge is led by what should not count: place, length, kinship."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from odqa_fast.stats import intervals
from odqa_fast.stats.correlation import rank_correlation
from odqa_fast.stats.estimate import Estimate

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def verbosity(scores: Floats, lengths: Floats, f1: Floats) -> Estimate:
    """Rank correlation of score and length of the prediction, with token F1 held fixed: 0 where
    length as such does not count. Without F1 (no answers), the plain correlation.

    Args:
        scores: of a judge, NaN where there is none.
        lengths: of the predictions, in characters.
        f1: of the predictions, NaN where there is none.
    """
    scored = ~np.isnan(scores)
    if np.isnan(f1[scored]).all():
        return rank_correlation(scores[scored], lengths[scored])
    both = scored & ~np.isnan(f1)
    return rank_correlation(scores[both], lengths[both], given=f1[both])


def self_preference(scores: Floats, reference: Floats, kin: Flags) -> Estimate:
    """By how much more a judge overrates its own kin than others: the mean of score less reference
    over rows by systems of its family, less the same over the other rows.

    Args:
        scores: of the judge, NaN where there is none.
        reference: another score of the same rows (people's, or F1), NaN where there is none.
        kin: rows by a system of the judge's family.
    """
    known = ~np.isnan(scores) & ~np.isnan(reference)
    excess = scores - reference
    return intervals.difference(excess[known & kin], excess[known & ~kin])


def flips(forth: Sequence[str], back: Sequence[str]) -> Estimate:
    """The share of pairs whose verdict changes with the order.

    Args:
        forth: who won of each pair, `win`, `tie` or `loss`, when A stood first.
        back: the same pairs, when B stood first.
    """
    changed = sum(a != b for a, b in zip(forth, back, strict=True))
    return intervals.share(changed, len(forth))


def first_wins(forth: Sequence[str], back: Sequence[str]) -> Estimate:
    """The share of verdicts for whichever stood first, of all that name a winner: 0.5 where place
    does not count. Arguments as for `flips`."""
    first = sum(each == "win" for each in forth) + sum(each == "loss" for each in back)
    decided = sum(each != "tie" for each in (*forth, *back))
    return intervals.share(first, decided)


def longer_wins(verdicts: Sequence[str], longer: Floats) -> Estimate:
    """The share of decided pairs that the longer prediction won: 0.5 where length does not count
    and does not go with quality.

    Args:
        verdicts: `win`, `tie` or `loss` of A.
        longer: length of A less that of B; pairs of equal length are left out.
    """
    return _wins_of(verdicts, longer)


def kin_wins(verdicts: Sequence[str], kin: Floats) -> Estimate:
    """The share of decided pairs that the judge's own kin won.

    Args:
        verdicts: `win`, `tie` or `loss` of A.
        kin: 1 where only A's system is of the judge's family, -1 where only B's is, else 0.
    """
    return _wins_of(verdicts, kin)


def _wins_of(verdicts: Sequence[str], side: Floats) -> Estimate:
    won = {"win": 1, "loss": -1}
    decided = [(won[v], s) for v, s in zip(verdicts, side, strict=True) if v in won and s]
    return intervals.share(sum(w * s > 0 for w, s in decided), len(decided))

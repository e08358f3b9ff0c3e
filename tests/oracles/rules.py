"""Where the profiles differ: one entry each, as the reference scorers are described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from . import cut, normalize


@dataclass(frozen=True)
class Rules:
    """The choices of one profile; the defaults are SQuAD v1.1's."""

    normalizer: Callable[[str], str] = normalize.squad
    cut: Callable[[str], str] = cut.none
    both_empty: float = 0.0  #: F1, precision and recall where neither side has a token
    yes_no: bool = False  #: yes, no, noanswer must be equal or F1 is 0
    each_maximum: bool = False  #: precision and recall take their own maximum over golds
    drops_empty_golds: bool = False  #: and falls back to the gold ""
    no_golds: float | None = None  #: the score of a row whose list of golds is empty
    empty_needle: bool = False  #: an empty gold stands inside every text
    strips_for_em: bool = False
    containment: str = "normalized"  #: or "raw", "three-way"
    needs_overlap: bool = False  #: containment counts only for a gold whose F1 is above 0
    rounds_cr: bool = False
    blank_is_nothing: bool = False  #: golds of white space are none; such a prediction scores 0


RULES: dict[str, Rules] = {
    "squad": Rules(),
    "squad2": Rules(both_empty=1.0, drops_empty_golds=True),
    "triviaqa": Rules(normalizer=normalize.triviaqa),
    "hotpotqa": Rules(yes_no=True),
    "2wiki": Rules(yes_no=True, each_maximum=True, no_golds=0.0),
    "musique": Rules(both_empty=1.0),
    "recomp": Rules(both_empty=1.0, cut=cut.recomp),
    "nq": Rules(normalizer=normalize.regex_squad, empty_needle=True),
    "orqa": Rules(normalizer=normalize.orqa),
    "flashrag": Rules(yes_no=True, each_maximum=True, no_golds=0.0, empty_needle=True),
    "kilt": Rules(empty_needle=True, blank_is_nothing=True),
    "popqa": Rules(no_golds=0.0, empty_needle=True, containment="three-way"),
    "selfrag": Rules(no_golds=0.0, empty_needle=True, containment="raw"),
    "longbench": Rules(no_golds=0.0),
    "acorn": Rules(
        cut=cut.acorn,
        yes_no=True,
        each_maximum=True,
        empty_needle=True,
        needs_overlap=True,
        rounds_cr=True,
    ),
    "seed": Rules(empty_needle=True, strips_for_em=True),
    **{
        f"mlqa-{language}": Rules(normalizer=partial(normalize.mlqa, language=language))
        for language in normalize.MLQA_ARTICLES
    },
}

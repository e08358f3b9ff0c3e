from collections.abc import Sequence
from typing import Any

from odqa_fast._kernels.columns import Column

CUTS: tuple[str, ...]
PAIR_RULES: tuple[str, ...]
COMBINES: tuple[str, ...]
NO_GOLDS: tuple[str, ...]
CONTAINS_RULES: tuple[str, ...]
OUTPUTS: tuple[str, ...]

class MatchRule:
    def __init__(
        self,
        steps: Sequence[str],
        cut: str,
        pair_rule: str,
        combine: str,
        no_gold: str,
        contains_rule: str,
        empty_needle: bool,
        emptiness: Sequence[str],
        blank_is_nothing: bool = False,
    ) -> None: ...

def match(
    texts: Column, answers: Column, how: MatchRule, lo: int, hi: int, outputs: dict[str, Any]
) -> dict[str, int]: ...

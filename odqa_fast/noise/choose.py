"""Choosing pieces that do not help: the guards, and the draws until enough have passed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from odqa_fast.noise.pool import Pool, Pooled
from odqa_fast.profiles import Profile
from odqa_fast.texts.draws import Draws
from odqa_fast.texts.holding import find_holding
from odqa_fast.texts.text import Text
from odqa_fast.texts.words import select_content, split_words

#: So many different pieces are looked at for one text before the rest counts as unplaced.
MOST_TRIES = 200


@dataclass
class Choice:
    """The pieces of one text: `enough` says of those chosen so far whether they are."""

    text: Text
    draws: Draws
    enough: Callable[[Sequence[Pooled]], bool]
    chosen: list[Pooled] = field(default_factory=list)
    tried: set[int] = field(default_factory=set)

    def is_over(self, pool: Pool) -> bool:
        """Whether there are enough, or no more to be had."""
        return self.enough(self.chosen) or len(self.tried) >= min(len(pool), MOST_TRIES)

    def next_tries(self, pool: Pool, n: int) -> list[int]:
        """Up to n pieces that have not been looked at."""
        tries: list[int] = []
        while len(tries) < n and len(self.tried) < min(len(pool), MOST_TRIES):
            drawn = self.draws.below(len(pool))
            if drawn not in self.tried:
                self.tried.add(drawn)
                tries.append(drawn)
        return tries


def choose(choices: Sequence[Choice], pool: Pool, rare: AbstractSet[str], profile: Profile) -> None:
    """Fills the choices with pieces of the pool that pass the guards.

    A piece must not stand in the text already, hold an answer (any alias, as whole tokens or
    normalized), or share a rare word with the questions.

    Args:
        choices: what is to be chosen, one for each text.
        pool: from what.
        rare: the words of questions that are rare in the pool; see `Pool.rare`.
        profile: for `normalized`.
    """
    asked = split_words([" ".join(q.text for q in choice.text.questions) for choice in choices])
    telling = [rare & select_content(tokens) for tokens in asked]
    open_ones = [at for at, choice in enumerate(choices) if not choice.is_over(pool)]
    while open_ones:
        tries = [
            (at, pool[number]) for at in open_ones for number in choices[at].next_tries(pool, 8)
        ]
        pieces = [piece.text for _, piece in tries]
        answers = [choices[at].text.answers for at, _ in tries]
        bad = find_holding(pieces, answers, profile, "token", "normalized")
        about = split_words(pieces)
        for number, (at, piece) in enumerate(tries):
            choice = choices[at]
            if (
                not choice.enough(choice.chosen)
                and not bad[number]
                and telling[at].isdisjoint(about[number])
                and not any(piece.text in text for text in choice.text.texts)
            ):
                choice.chosen.append(piece)
        open_ones = [at for at in open_ones if not choices[at].is_over(pool)]

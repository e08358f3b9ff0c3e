"""Covers: draws that depend on seed and key alone. Compared against: BLAKE2b by itself, counts.

Run: pytest tests/texts/test_draws.py
"""

from __future__ import annotations

import random
from collections import Counter
from hashlib import blake2b
from itertools import permutations

import numpy as np

from odqa_fast.texts.draws import Draws, digest


def test_draws_are_the_words_of_blake2b() -> None:
    key = digest("row", "7")
    words: list[int] = []
    for block in range(3):
        data = blake2b(f"42:{block}".encode(), key=key).digest()
        words += [int.from_bytes(data[at : at + 8], "little") for at in range(0, 64, 8)]
    draws = Draws(42, key)
    assert [draws.below(1 << 63) for _ in words] == [word % (1 << 63) for word in words]


def test_a_digest_tells_where_parts_end() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", "")}) == 4
    assert digest("é") != digest("e\u0301")


def test_draws_leave_the_global_generators_alone() -> None:
    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()
    Draws(1, b"x").order(50)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_every_number_is_as_likely() -> None:
    # 60,000 throws of a die: each count has sd sqrt(60000 * 5/36) = 91; 5 of these are 456.
    draws = Draws(3, b"die")
    counts = Counter(draws.below(6) for _ in range(60_000))
    assert set(counts) == set(range(6))
    assert all(abs(n - 10_000) < 456 for n in counts.values())


def test_every_order_is_as_likely() -> None:
    # 24,000 orders of 4: each of 24 has sd sqrt(24000 * 23/576) = 31; 5 of these are 155.
    counts = Counter(tuple(Draws(at, b"order").order(4)) for at in range(24_000))
    assert set(counts) == set(permutations(range(4)))
    assert all(abs(n - 1000) < 155 for n in counts.values())

"""Random numbers that depend on a seed and a key alone.

Not on the process, the order of the rows, the number of workers or anybody's global state; and,
unlike the generators of `random` and numpy, not on the version of a library either.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

_WORDS_A_BLOCK = 8
DIGEST_BYTES = 16


def digest(*parts: str) -> bytes:
    """16 bytes that tell sequences of texts apart: each part goes in with its length."""
    state = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()


class Draws:
    """A stream of draws: blocks 0, 1, 2, ... of BLAKE2b over (seed, key).

    Args:
        seed: any whole number.
        key: what the draws are for, e.g. the digest of a row.
    """

    def __init__(self, seed: int, key: bytes) -> None:
        self._state = blake2b(str(seed).encode(), key=key[:64])
        self._words = self._stream()

    def _stream(self) -> Iterator[int]:
        block = 0
        while True:
            state = self._state.copy()
            state.update(b":%d" % block)
            data = state.digest()
            for at in range(_WORDS_A_BLOCK):
                yield int.from_bytes(data[8 * at : 8 * at + 8], "little")
            block += 1

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each as likely as the others; 0 < n < 2^64."""
        # What is left over of 2^64 would favour the small numbers.
        limit = (1 << 64) - (1 << 64) % n
        return next(word for word in self._words if word < limit) % n

    def order(self, n: int) -> list[int]:
        """The numbers from 0 to n - 1 in a drawn order (Fisher and Yates)."""
        numbers = list(range(n))
        for last in range(n - 1, 0, -1):
            other = self.below(last + 1)
            numbers[last], numbers[other] = numbers[other], numbers[last]
        return numbers

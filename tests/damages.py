"""Ways in which a file comes to hold other bytes than were written."""

from __future__ import annotations

import random


def zeroed(data: bytearray, draw: random.Random) -> None:
    """As after a power cut: pages, or parts of them, that were never written."""
    start = draw.randrange(len(data))
    size = draw.choice([1, 16, 100, 512, 4096, 16384])
    data[start : start + size] = bytes(len(data[start : start + size]))


def flipped(data: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice([1, 4, 64])):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def flipped_head(data: bytearray, draw: random.Random) -> None:
    """What SQLite itself goes by."""
    data[draw.randrange(100)] ^= 1 << draw.randrange(8)


def cut(data: bytearray, draw: random.Random) -> None:
    del data[draw.randrange(len(data)) :]


def overwritten(data: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(data))
    data[start : start + 700] = draw.randbytes(len(data[start : start + 700]))


DAMAGES = [zeroed, flipped, flipped_head, cut, overwritten]

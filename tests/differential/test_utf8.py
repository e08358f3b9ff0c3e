"""Covers: the check that bytes are UTF-8. Compared against: Python's own strict decoder.

Run: pytest tests/differential/test_utf8.py (and once for each ODQA_FAST_ISA)
"""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest

from odqa_fast._kernels.columns import Column, KernelError

# Each class of byte that table 3-7 of the Unicode Standard tells apart, by its first and last.
EDGES = bytes.fromhex("00 41 7F 80 8F 90 9F A0 BF C0 C1 C2 DF E0 E1 EC ED EE EF F0 F1 F3 F4 F5 FF")


def accepted(texts: list[bytes]) -> list[bool]:
    """Whether each text passes by itself."""
    array = pa.array(texts, pa.binary()).view(pa.string())
    column = Column("text", array)
    verdicts = []
    for row in range(len(texts)):
        try:
            column.check(row, row + 1)
        except KernelError:
            verdicts.append(False)
        else:
            verdicts.append(True)
    return verdicts


def decodes(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("before", [0, 1, 13, 29, 31, 32, 62])
@pytest.mark.parametrize("behind", [b"", b"x" * 40])
def test_every_kind_of_sequence_at_every_border(before: int, behind: bytes) -> None:
    texts = [
        b"a" * before + bytes(sequence) + behind
        for length in (1, 2, 3)
        for sequence in itertools.product(EDGES, repeat=length)
    ]
    assert accepted(texts) == [decodes(text) for text in texts]


def test_random_sequences_of_four() -> None:
    draw = random.Random(7)
    texts = [
        b"b" * draw.randrange(70) + bytes(draw.choices(EDGES, k=4)) + b"c" * draw.randrange(3)
        for _ in range(50_000)
    ]
    texts += [("é" * draw.randrange(40) + chr(draw.randrange(0xE000, 0x110000))).encode()
              for _ in range(2_000)]  # fmt: skip
    assert accepted(texts) == [decodes(text) for text in texts]


def test_a_code_point_cut_between_two_rows() -> None:
    # Each row is broken, though the bytes of the two together are not.
    array = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"\xc3\xa9")],
    )
    with pytest.raises(KernelError):
        Column("text", array).check(0, 2)

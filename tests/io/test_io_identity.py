"""Covers: the size and hash of inputs, made while they are read or afterwards.

Compared against: a plain twin of the hash, written from the description in its source.
Run: pytest tests/io/test_io_identity.py
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import COLUMNS, jsonl, write

from odqa_fast._kernels.hashes import ContentHash
from odqa_fast.errors import DataError
from odqa_fast.io import ReadOptions, open_dump
from odqa_fast.io.identity import InputIdentity, identify

#: FIPS 180-4, section 5.3.5: the initial hash value of SHA-512; here the first is made odd.
KEYS = [
    *(0x6A09E667F3BCC908 + 1, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1),
    *(0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179),
]
ROWS = jsonl({"id": str(i), "prediction": f"p{i}"} for i in range(50))


def twin(data: bytes) -> str:
    def mix(lane: list[int], word: int, key: int) -> None:
        product = (lane[0] ^ word) * key
        lane[0] = (product % 2**64 + lane[1]) % 2**64
        lane[1] = product >> 64 ^ word

    lanes = [[0, 0] for _ in KEYS]
    # One stripe more than is full: the last is filled up with zeros.
    padded = data + bytes(64 - len(data) % 64)
    for at in range(0, len(padded), 8):
        i = at // 8 % 8
        mix(lanes[i], int.from_bytes(padded[at : at + 8], "little"), KEYS[i])
    whole = [len(data), 0]
    for low, high in lanes:
        mix(whole, low, KEYS[0])
        mix(whole, high, KEYS[1])
    for key in KEYS:
        mix(whole, 0, key)
    return f"{whole[0]:016x}{whole[1]:016x}"


def identified(path: Path, data: bytes) -> InputIdentity:
    return InputIdentity(str(path), len(data), f"odqa128:{twin(data)}")


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_the_hash_is_that_of_the_whole_whatever_the_pieces(pieces: list[bytes]) -> None:
    hashing = ContentHash()
    for i, piece in enumerate(pieces):
        hashing.update(piece)
        assert hashing.hexdigest() == twin(b"".join(pieces[: i + 1]))


@given(st.binary(min_size=1, max_size=300), st.data())
def test_one_bit_makes_another_hash(data: bytes, draw: st.DataObject) -> None:
    bit = draw.draw(st.integers(0, 8 * len(data) - 1))
    other = bytearray(data)
    other[bit // 8] ^= 1 << bit % 8
    assert len({twin(each) for each in (data, bytes(other), data + b"\0", data[:-1])}) == 4


def made(tmp_path: Path) -> list[tuple[Path, bytes]]:
    """A file of each way to read: streamed, unpacked, at any place, mapped."""
    table = pa.table({"id": ["a", "b"], "prediction": ["x", "y"]})
    pq.write_table(table, tmp_path / "p")
    with pa.ipc.new_file(tmp_path / "f", table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.new_stream(tmp_path / "s", table.schema) as writer:
        writer.write_table(table)
    contents = {
        "j": ROWS,
        "g": gzip.compress(ROWS),
        # What follows the end of a stream is part of the file.
        "s": (tmp_path / "s").read_bytes() + b"more",
        "z": gzip.compress((tmp_path / "p").read_bytes()),
        "e": b"",
        "p": (tmp_path / "p").read_bytes(),
        "f": (tmp_path / "f").read_bytes(),
    }
    return [(write(tmp_path, name, data), data) for name, data in contents.items()]


def test_identities_of_what_was_read(tmp_path: Path) -> None:
    files = made(tmp_path)
    dump = open_dump([path for path, _ in files], ReadOptions(COLUMNS, identify=True))
    unread = [InputIdentity(str(path), len(data), None) for path, data in files]
    assert dump.identities == unread
    assert sum(batch.num_rows for batch in dump) == 50 + 50 + 4 * 2
    expected = [identified(path, data) for path, data in files]
    assert dump.identities == expected
    assert identify([path for path, _ in files]) == expected
    assert json.loads(json.dumps(expected[0].as_dict()))["size"] == len(ROWS)


def test_without_being_asked_there_is_no_hash(tmp_path: Path) -> None:
    dump = open_dump(write(tmp_path, "j", ROWS), ReadOptions(COLUMNS))
    assert list(dump)
    assert [each.hash for each in dump.identities] == [None]


def test_what_was_read_in_part_has_no_hash(tmp_path: Path) -> None:
    dump = open_dump([write(tmp_path, "j", ROWS)] * 2, ReadOptions(COLUMNS, identify=True))
    next(iter(dump))
    assert [each.hash for each in dump.identities] == [None, None]


def test_standard_input(tmp_path: Path) -> None:
    code = (
        "from odqa_fast.io import *\n"
        "dump = open_dump('-', ReadOptions(frozenset({'id'}), identify=True))\n"
        "list(dump); print(*dump.identities[0].as_dict().values(), sep='|')"
    )
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, input=ROWS, capture_output=True, check=True)
    assert done.stdout.decode().strip() == f"standard input|{len(ROWS)}|odqa128:{twin(ROWS)}"


def test_other_file_systems(tmp_path: Path) -> None:
    """What is read from start to end is hashed; what is read here and there would be read twice."""
    files = {path.name: (path, data) for path, data in made(tmp_path)}
    uris: dict[str, Any] = {name: files[name][0].as_uri() for name in ("j", "p")}
    dump = open_dump(list(uris.values()), ReadOptions(COLUMNS, identify=True))
    assert list(dump)
    assert [(each.path, each.size, each.hash) for each in dump.identities] == [
        (uris["j"], len(ROWS), f"odqa128:{twin(ROWS)}"),
        (uris["p"], len(files["p"][1]), None),
    ]


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        identify(tmp_path / "none")

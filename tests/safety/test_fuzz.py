"""Covers: dumps with bytes changed at random. Nothing but an OdqaError, and every line is counted.

Compared against: the number of lines that are not blank.
Run: ODQA_FAST_FUZZ=100000 pytest tests/safety/test_fuzz.py (a few thousand without)
"""

from __future__ import annotations

import os
import random
import signal
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import odqa_fast as oq
from odqa_fast.errors import OdqaError, OdqaWarning
from odqa_fast.io.formats import BOM, sniff

N_INPUTS = int(os.environ.get("ODQA_FAST_FUZZ", "2000"))
SECONDS = 20
METRICS = ["em", "f1", "contains", "par", "par:token", "cr"]
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\x04\x22\x4d\x18", b"PK", b"\xfd7zXZ")

JSONL = [
    (
        '{"id":"q%d","prediction":"the Café é\\u00e9 \\ud83d\\ude00","answers":["cafe",null,""],'
        '"documents":[{"title":"t","text":"a %d b"},{"text":""}],"summary":"a b"}\n'
    ),
    '{"id": %d, "prediction": 19.%d, "answers": 1969, "documents": ["x", null], "summary": ""}\n',
    '{"qid":%d,"pred":true,"golden_answers":"中文 %d","ctxs":"one","compress":null}\r\n',
    '{"prediction":"x","answers":[],"documents":[],"summary":"\\n\\t\\"%d %d","more":{"a":[1]}}\n',
]
CSV = [
    'id,prediction,answers,documents,summary\n%d,"the, ""x"" %d","[""x"", ""y""]",text,s\n',
    "id\tprediction\tanswers\tsummary\tdocuments\n%d\tx\té\ts\t%d\n",
    'prediction,answers,documents,summary\n007,"a\nb","[{""text"": ""t %d""}]",%d\n',
]
PIECES = [
    *(
        bytes([c])
        for c in b"\0\n\r\t \"',:;[]{}\\/-+.0123456789eEuntrf\x1a\x7f\x80\xc3\xe9\xed\xff"
    ),
    b"\r\n",
    b'""',
    b"null",
    b"true",
    b"NaN",
    b"-0",
    b"1e999",
    b"[]",
    b"{}",
    b"[[",
    b"\\ud800",
    b"\\u0000",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\x0b\x0c",
    BOM,
    b'"answers"',
    b'"prediction":',
    b'"text"',
    b"9" * 40,
]


def seed(rng: random.Random) -> bytes:
    if rng.random() < 0.6:
        row = rng.choice(JSONL)
        rows = [
            row if rng.random() < 0.7 else rng.choice(JSONL[:2]) for _ in range(rng.randint(1, 6))
        ]
        text = "".join(row % (i, i) for i, row in enumerate(rows))
        return (f"[{text.strip().replace(chr(10), ',')}]" if rng.random() < 0.1 else text).encode()
    header, _, row = rng.choice(CSV).partition("\n")
    return (header + "\n" + "".join(row % (i, i) for i in range(rng.randint(1, 6)))).encode()


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(7):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(changed):
                changed[at] = rng.randrange(256)
            case 2:
                changed[at:at] = rng.choice(PIECES)
            case 3:
                piece = rng.choice(PIECES)
                changed[at : at + len(piece)] = piece
            case 4:
                del changed[at : at + rng.choice((1, 1, 2, 5, 30))]
            case 5:
                other = rng.randrange(len(changed) + 1)
                changed[at:at] = changed[other : other + rng.choice((1, 5, 40))]
            case 6 if rng.random() < 0.3:
                del changed[at:]
    return bytes(changed)


def n_rows(data: bytes) -> int | None:
    """How many rows there are; None where only a parser can tell."""
    if data.startswith(PACKED):
        return None
    try:
        fmt = sniff(data, "")
    except OdqaError:
        return None
    lines = data.removeprefix(BOM).split(b"\n")
    if fmt == "jsonl":
        return sum(1 for line in lines if line.strip())
    if fmt == "csv" and b'"' not in data and {b",", b"\t"} & {bytes([c]) for c in lines[0]}:
        return sum(1 for line in lines[1:] if line.strip(b"\r"))
    return None


def outcome(path: Path, **options: Any) -> dict[str, int] | OdqaError:
    try:
        return oq.score_file(path, METRICS, threads=1, **options).counts
    except OdqaError as error:
        return error


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
def test_changed_bytes(tmp_path: Path) -> None:
    rng = random.Random(f"{N_INPUTS}")
    path = tmp_path / "dump"
    seen: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OdqaWarning)
        for _ in range(N_INPUTS):
            data = mutated(seed(rng), rng)
            path.write_bytes(data)
            encoding = rng.choice(("fail", "replace"))
            signal.alarm(SECONDS)
            try:
                strict = outcome(path, encoding_errors=encoding)
                skipped = outcome(path, encoding_errors=encoding, on_error="skip")
                check(data, strict, skipped, seen)
            except Exception as error:
                pytest.fail(f"{data!r} (encoding errors: {encoding}) gives {error!r}")
    # It is no use where everything is refused as a whole, or nothing is.
    assert seen["counted lines"] > N_INPUTS // 3
    assert seen["no fault"] > N_INPUTS // 20
    assert seen["skipped rows"] > N_INPUTS // 5


def check(
    data: bytes,
    strict: dict[str, int] | OdqaError,
    skipped: dict[str, int] | OdqaError,
    seen: Counter[str],
) -> None:
    """Compare what became of a dump where bad rows are refused and where they are skipped."""
    if isinstance(skipped, OdqaError):
        assert isinstance(strict, OdqaError)
        return
    assert skipped["rows"] + skipped["rejected"] == skipped["rows_read"]
    assert isinstance(strict, OdqaError) == bool(skipped["rejected"])
    if isinstance(strict, dict):
        assert strict == skipped
        seen["no fault"] += 1
    else:
        seen["skipped rows"] += 1
    if (n := n_rows(data)) is not None:
        assert skipped["rows_read"] == n
        seen["counted lines"] += 1

"""Dumps that are larger than what may be in memory.

Run: pytest tests/levels/test_memory.py
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from island import texts
from program import measured, write_jsonl

from odqa_fast.noise import pool
from odqa_fast.noise.add import add_noise, stream_noise
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.noise.pool import Found, pool_documents, sort_pieces
from odqa_fast.texts.draws import digest
from odqa_fast.texts.text import Texts


def rows(n: int, chars: int) -> Iterator[dict[str, Any]]:
    for at in range(n):
        document = f"{at} " + "rain " * (chars // 5)
        yield {"id": str(at), "documents": [{"text": document}], "question": "Q?",
               "answers": ["rain"], "prediction": "rain"}  # fmt: skip


def test_levels_take_no_more_memory_for_more_texts(tmp_path: Path) -> None:
    peaks = []
    for n in (1000, 4000):
        dump = write_jsonl(tmp_path / f"{n}.jsonl", rows(n, 20_000))
        done, peak = measured(
            *("levels", dump, "--levels", "1.0,0.5", "--compressor", "none", "--format", "json"),
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        peaks.append(peak)
    # The larger one has 60 MB more of text, of which Python once had three copies.
    assert peaks[1] - peaks[0] < 60


def test_texts_and_pools_lie_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MOST_BYTES", 1 << 20)
    n, chars = 600, 50_000
    tracemalloc.start()
    data = Texts(
        pa.RecordBatch.from_pylist(list(islice(some, 20))) for some in [rows(n, chars)] * (n // 20)
    )
    pieces = pool_documents(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(data) == len(pieces) == n
    # Of 30 MB.
    assert peak < 12 << 20


@pytest.mark.parametrize("most", [1, 2000, 1 << 30])
def test_pieces_come_in_the_order_of_their_digests(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_MOST_BYTES", most)
    rng = random.Random(4)
    found = [
        Found(f"text {rng.randrange(60)}", (f"row {rng.randrange(9)}", at), kind=rng.choice("ab"))
        for at in range(200)
    ]
    least = {
        (kind, text): min(each.source for each in found if (each.kind, each.text) == (kind, text))
        for kind, text in {(each.kind, each.text) for each in found}
    }
    ordered = list(sort_pieces(found))
    assert {(each.kind, each.text): each.source for each in ordered} == least
    assert len(ordered) == len(least)
    digests = [digest(each.text) for each in ordered]
    assert digests == sorted(digests)


@pytest.mark.parametrize("kind", ["sentences", "documents", "factual"])
def test_no_window_and_no_part_changes_noise(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    options = NoiseOptions(kind=kind, seed=5)
    expected = add_noise(texts(40), options)
    monkeypatch.setattr("odqa_fast.noise.add._AT_ONCE", 3)
    monkeypatch.setattr(pool, "_MOST_BYTES", 500)
    assert list(stream_noise(texts(40), options, threads=3)) == expected


def test_rows_of_a_text_may_stand_apart() -> None:
    table = [
        {"id": str(at), "text_id": f"t{at % 3}", "documents": [{"text": f"document {at % 3}"}],
         "question": f"{at}?", "answers": ["a"]}
        for at in range(10)
    ]  # fmt: skip
    found = Texts(pa.RecordBatch.from_pylist(table[at : at + 2]) for at in range(0, 10, 2))
    assert [text.id for text in found] == ["t0", "t1", "t2"]
    assert [[q.id for q in text.questions] for text in found] == [
        ["0", "3", "6", "9"], ["1", "4", "7"], ["2", "5", "8"],
    ]  # fmt: skip
    assert found[-1].texts == ("document 2",)

"""Covers: BERTScore's matching, means, idf weights and rescaling.

Compared against: bert-score 0.3.13 on embeddings, within the tolerance of each record (it adds up
in float32). Run: pytest tests/differential/test_bertscore_vectors.py
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from reference.store import Record, records

from odqa_fast._kernels.bertscore import match, normalize
from odqa_fast.metrics._bertscore import Idf, finish, rescaled

KINDS = ("greedy_idf", "greedy_no_idf", "greedy_idf_zero", "greedy_no_idf_zero")


def of_kind(kind: str) -> list[Record]:
    return [record for record in records("bertscore") if record["kind"] == kind]


def side(record: Record, name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Unit vectors and weights of the tokens that are there, and how many those are.

    Where the reference's batch is padded it matches with the padding, whose cosines are 0: a token
    of zeros that weighs nothing does the same.
    """
    there = sum(mask == 1 for mask in record[f"{name}_mask"])
    vectors = np.array(record[f"{name}_emb"][:there], np.float32)
    weights = np.array(record[f"{name}_idf"][:there], np.float32)
    normalize(vectors)
    if there < len(record[f"{name}_mask"]):
        vectors = np.vstack([vectors, np.zeros((1, vectors.shape[1]), np.float32)])
        weights = np.append(weights, np.float32(0))
    return vectors, weights, there


def scored(record: Record) -> np.ndarray:
    hyp, hyp_weights, n_hyp = side(record, "hyp")
    ref, ref_weights, n_ref = side(record, "ref")
    out = np.empty((1, 3))
    match(
        np.vstack([hyp, ref]),
        np.concatenate([hyp_weights, ref_weights]),
        np.array([0, len(hyp), len(hyp) + len(ref)]),
        np.array([0]),
        np.array([1]),
        out[:, :2],
        floor=-1,
    )
    finish(out, np.array([n_hyp == 2 or n_ref == 2]))
    return out


def numbers(values: list[float | str]) -> list[float]:
    return [float(value) for value in values]


@pytest.mark.parametrize("kind", KINDS)
def test_matching_equals_bert_score(kind: str) -> None:
    found = of_kind(kind)
    assert len(found) >= 8
    for record in found:
        expected = record["expected"]
        got = scored(record)
        off = np.abs(got[0] - numbers([expected[part] for part in "PRF"]))
        assert not np.any(off > limits(got[0], record["tolerance"])), record["id"]
        scale = 1 / (1 - np.array(record["baseline"]))
        want = numbers(expected["rescaled"])
        # One more rounding to float32, at the size of the value.
        steps = np.spacing(np.abs(np.array(want, np.float32)))
        off = np.abs(rescaled(got, record["baseline"])[0] - want)
        assert not np.any(off > limits(got[0], record["tolerance"]) * scale + steps), record["id"]


def limits(scores: np.ndarray, tolerance: float) -> np.ndarray:
    """The tolerance for P, R and F. Where P + R nearly cancels, which no text of a real model does,
    the last bit of the reference's float32 P moves its F by more: 2R^2/(P + R)^2 times as much."""
    p, r, _ = scores
    slope = 2 * (p * p + r * r) / (p + r) ** 2 if p + r else 1.0
    # A quarter of the tolerance is several last bits of P and R.
    return np.array([tolerance, tolerance, max(tolerance, slope * tolerance / 4)])


def ids_of(record: Record) -> Iterator[np.ndarray]:
    return (np.array(ids, np.int64) for ids in record["docs_token_ids"])


def test_idf_equals_bert_score() -> None:
    found = of_kind("idf_dict")
    assert len(found) >= 30
    for record in found:
        idf = Idf.of(ids_of(record))
        for token, weight in record["expected"]["idf"].items():
            assert idf[int(token)] == pytest.approx(weight, rel=0, abs=1e-12), record["id"]

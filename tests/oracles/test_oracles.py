"""Covers: the oracles themselves. Compared against: what the reference scorers returned.

Run: pytest tests/oracles
"""

from __future__ import annotations

from typing import Any

import pytest
from reference.store import records
from reference_checks import CHECKS, NORMALIZER_KEYS, Check, rows

from oracles import cut
from oracles.answer import ANSWER_METRICS
from oracles.cr import cr
from oracles.normalize import NORMALIZERS, dpr_tokens
from oracles.par import par


def oracle_score(row: dict[str, Any], check: Check) -> float | None:
    metric, _, option = check.metric.partition(":")
    if metric == "par":
        return par(row["summary"], row["answers"], option or "raw", check.profile)
    if metric == "cr":
        return cr(row["summary"], row["documents"], option or "chars", check.profile)
    return ANSWER_METRICS[metric](row["prediction"], row["answers"], check.profile)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_oracle_equals_reference(check: Check) -> None:
    seen = 0
    wrong = []
    for row, expected in rows(check):
        seen += 1
        got = oracle_score(row, check)
        if got != expected:
            wrong.append((row, expected, got))
    assert seen > 1000
    assert wrong == []


@pytest.mark.parametrize("key", NORMALIZER_KEYS)
def test_normalizer_equals_reference(key: str) -> None:
    normalizer = NORMALIZERS[NORMALIZER_KEYS[key]]
    found = records("normalize")
    assert len(found) > 1000
    assert [r for r in found if normalizer(r["text"]) != r["expected"][key]] == []


def test_dpr_tokens_equal_reference() -> None:
    key = "dpr_tokens_uncased_nfd"
    found = records("normalize")
    assert [r for r in found if dpr_tokens(r["text"]) != r["expected"][key]] == []


def test_acorn_cut_equals_reference() -> None:
    found = records("compression_papers")
    assert [r for r in found if cut.acorn(r["prediction"]) != r["expected"]["acorn_parsed"]] == []

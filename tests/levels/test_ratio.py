"""Covers: lengths, ratios, the check and cutting. Compared against: reference vectors, arithmetic.

Run: pytest tests/levels/test_ratio.py
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.store import records
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from odqa_fast.errors import ModelError, OdqaError
from odqa_fast.levels.ratio import SOMA_GROWTH, RatioRule
from odqa_fast.texts.length import Lengths, make_length

CHARS = RatioRule(make_length("chars"))


def test_compression_ratio_vectors() -> None:
    found = records("compression_ratio")
    assert len(found) > 90
    for record in found:
        lengths = Lengths(record["summary_tokens"], record["context_tokens"])
        expected = record["expected"]
        assert lengths.acorn == expected["acorn_compress_ratio"]
        assert {
            "ratio": lengths.times,
            "rate": lengths.rate,
            "ratio_text": f"{lengths.times:.1f}x",
            "rate_text": f"{lengths.rate * 100:.1f}%",
        } == expected["llmlingua"]


@pytest.mark.parametrize(
    ("level", "characters", "passes"),
    [
        (0.2, 20, True),
        (0.2, 21, False),
        (0.6, 60, True),  # 60/100 is the double that 0.6 is
        (0.6, 61, False),
        (1.0, 100, True),
        (1.0, 101, False),
    ],
)
def test_a_text_passes_at_the_level_and_not_a_character_above(
    level: float, characters: int, passes: bool
) -> None:
    check = CHARS.check("x" * 100, "y" * characters, level)
    assert check.reason == ("" if passes else "too long")
    assert check.ratio == characters / 100


@pytest.mark.parametrize(
    ("original", "summary", "reason", "ratio"),
    [
        ("some text", None, "no summary", None),
        ("some text", "", "blank", 0.0),
        ("some text", " \n\t", "blank", 3 / 9),
        ("", "words", "no original", None),
    ],
)
def test_what_is_no_compressed_text_fails_with_its_reason(
    original: str, summary: str | None, reason: str, ratio: float | None
) -> None:
    check = CHARS.check(original, summary, 0.5)
    assert (check.reason, check.ratio) == (reason, ratio)


def test_lengths_are_code_points_or_words() -> None:
    assert make_length("chars").count("né 😀") == 4
    assert make_length("words").count(" two\u00a0words\n") == 2
    words = RatioRule(make_length("words"))
    assert words.check("one two three four five", "verylongword", 0.2).reason == ""
    assert words.check("one two three four five", "a b", 0.2).reason == "too long"


@given(st.integers(0, 3000), st.integers(1, 1000).map(lambda n: n / 1000))
def test_a_budget_is_the_longest_that_passes(original: int, level: float) -> None:
    budget = make_length("chars").budget(original, level)
    if original:
        assert budget / original <= level
        assert (budget + 1) / original > level
    else:
        assert budget == 0


TEXT = "One is here. Two is there. Three is far away."


def test_truncating_cuts_behind_the_last_sentence_that_fits() -> None:
    rule = RatioRule(make_length("chars"), truncate=True)
    original = "x" * 100
    # The first sentence has 12 characters, the first two 26, all 45.
    for level, kept in ((0.45, TEXT), (0.44, TEXT[:26]), (0.26, TEXT[:26]), (0.25, TEXT[:12])):
        check = rule.check(original, TEXT, level)
        assert (check.summary, check.reason, check.cut) == (kept, "", kept != TEXT)
    check = rule.check(original, TEXT, 0.11)
    assert (check.summary, check.reason, check.cut) == ("", "blank", True)
    assert "truncate" in rule.tag
    assert "truncate" not in CHARS.tag


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """Each run without a hyphen is a token."""
    made = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = Split("-", "removed")
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    return str(path)


def test_tokens_of_a_named_tokenizer(tokenizer: str) -> None:
    length = make_length("tokens", tokenizer)
    assert length.count("a-bcd-e") == 3
    assert length.tag.startswith("tokens@")
    rule = RatioRule(length)
    assert rule.check("a-b-c-d-e", "long words are one", 0.2).reason == ""
    assert rule.check("a-b-c-d-e", "a-b", 0.2).reason == "too long"


def test_soma_bounds_the_characters_of_a_token(tokenizer: str) -> None:
    # The original has 49 characters in 10 tokens, 4.9 a token; 1.8 times that are 8.82.
    rule = RatioRule(make_length("tokens", tokenizer), SOMA_GROWTH)
    original = "-".join(["word"] * 10)
    assert rule.check(original, "x" * 8, 0.2).reason == ""
    assert rule.check(original, "x" * 9, 0.2).reason == "too many characters per token"
    assert "chars-per-token<=1.8x" in rule.tag


def test_options_that_do_not_go_together(tokenizer: str, tmp_path: Path) -> None:
    with pytest.raises(OdqaError, match="needs a tokenizer"):
        make_length("tokens")
    with pytest.raises(OdqaError, match="lengths are in chars"):
        make_length("chars", tokenizer)
    with pytest.raises(OdqaError, match="need lengths in tokens"):
        RatioRule(make_length("chars"), SOMA_GROWTH)
    with pytest.raises(ModelError, match="cannot be read"):
        make_length("tokens", str(tmp_path / "none.json"))
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(ModelError, match="is no tokenizer"):
        make_length("tokens", str(tmp_path / "broken.json"))

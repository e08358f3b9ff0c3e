"""Covers: normalizers as lists of steps, and the names that both sides know. By hand.

Run: pytest tests/test_steps.py
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import odqa_fast as oq
from odqa_fast import profiles
from odqa_fast._kernels import match
from odqa_fast.errors import ProfileError
from odqa_fast.profiles import PROFILES, check_kernels

_SPANISH_ACCENTS = ("nfd", "lower", "unicode_punctuation_to_space", "remove_articles_es", "squeeze")


def test_a_new_combination_of_steps_is_data_alone() -> None:
    profile = replace(PROFILES["squad"], id="mine", normalizer=_SPANISH_ACCENTS)
    # NFD parts the accents of both sides, the dash is a space, "la" is an article.
    assert oq.em("La caf\u00e9\u2014bar", ["cafe\u0301 BAR"], profile=profile) == 1
    assert oq.em("La caf\u00e9\u2014bar", ["cafe\u0301 BAR"], profile="squad") == 0


def test_steps_are_taken_in_their_order() -> None:
    articles_first = ("lower", "remove_articles_re", "remove_punctuation", "squeeze")
    profile = replace(PROFILES["squad"], id="mine", normalizer=articles_first)
    # "the-cat": the article stands alone before the dash goes, and is glued to the cat after.
    assert oq.em("the-cat", ["cat"], profile=profile) == 1
    assert oq.em("the-cat", ["cat"], profile="squad") == 0
    # "_" is a word character of `re`, so that "a_" is no article.
    assert oq.em("a_ b", ["a b"], profile=profile) == 0
    assert oq.em("a_ b", ["a_ b"], profile=profile) == 1


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (("lower", "shout", "squeeze"), "'shout' is none of strip, nfd, lower"),
        (("lower",), "end in 'squeeze'"),
        (("strip", "lower", "squeeze"), "'strip' alone"),
        (("lower",) * 12 + ("squeeze",), "12 steps at the most"),
    ],
)
def test_steps_that_make_no_normalizer_are_refused(steps: tuple[str, ...], said: str) -> None:
    profile = replace(PROFILES["squad"], id="mine", normalizer=steps)
    with pytest.raises(ProfileError, match=said):
        oq.em("a", ["a"], profile=profile)


def test_kernels_of_another_version_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    check_kernels.__wrapped__()
    monkeypatch.setitem(profiles.CUTS, "tail", "the last line")
    with pytest.raises(ImportError, match=r"CUTS of odqa_fast/profiles\.py differ in tail"):
        check_kernels.__wrapped__()
    monkeypatch.undo()
    monkeypatch.setattr(match, "COMBINES", ("best_by_f1",))
    with pytest.raises(ImportError, match=r"COMBINES .* differ in each_max"):
        check_kernels.__wrapped__()

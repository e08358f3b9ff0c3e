"""Covers: JSON as models write it. Compared against: what the same text says to a reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odqa_fast.engines.json_reply import find_objects, is_cut_off, unquote

A = {"verdict": "correct"}


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ('{"verdict": "correct"}', [A]),
        ('\n\n  {"verdict": "correct"}', [A]),
        ('```json\n{"verdict": "correct"}\n```', [A]),
        ('Here you go:\n{"verdict": "correct"}\nI hope this helps {really}.', [A]),
        ("{'verdict': 'correct'}", [A]),
        ("{'why': 'it is \"so\"', 'verdict': \"correct\"}", [{"why": 'it is "so"', **A}]),
        ("{'why': 'it isn\\'t', 'verdict': 'correct'}", [{"why": "it isn't", **A}]),
        ('{"verdict": "correct",}', [A]),
        ('{"why": "x"\n "verdict": "correct"}', [{"why": "x", **A}]),
        ('{"n": 1\n "l": []\n "verdict": "correct"}', [{"n": 1, "l": [], **A}]),
        ('{"why": "x" "verdict": "correct"}', []),
        ('{"why": "x\n" "verdict" "correct"}', []),
        ('{"url": "http://a/*b*/", // it is "so"\n /* or, so */ "verdict": "correct",}', [
            {"url": "http://a/*b*/", **A}
        ]),
        ("{“why”: “it isn't \"so\"”, “verdict”: “correct”}", [{"why": 'it isn\'t "so"', **A}]),
        ('{"why": "“so”", "verdict": "correct"}', [{"why": "“so”", **A}]),
        ('{"why": "two\nlines", "verdict": "correct"}', [{"why": "two\nlines", **A}]),
        ('{"why": "says {\\"verdict\\": 1}", "verdict": "correct"}', [
            {"why": 'says {"verdict": 1}', **A}
        ]),
        ('{"a": 1} and {"b": {"c": 2}}', [{"a": 1}, {"b": {"c": 2}}]),
        ('{"why": "it says {"verdict": "correct"}, but", "verdict": "incorrect"}', []),
        ('{"why": "it says {"verdict": "correct"}, b', []),
        ('{"verdict": "corr', []),
        ("no JSON", []),
        ("", []),
    ],
)  # fmt: skip
def test_objects(text: str, objects: list[object]) -> None:
    assert list(find_objects(text)) == objects


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ('{"verdict": "corr', True),
        ('```json\n{"a": {"b": 1}, "c', True),
        ("{'verdict': 'cor", True),
        ('{"verdict": "correct"}', False),
        ('{"why": "a } in a text", "verdict": "correct"}', False),
        ("{'why': 'it is {so', 'verdict': 'correct'}", False),
        ("It is correct.", False),
    ],
)
def test_what_is_cut_off(text: str, cut: bool) -> None:
    assert is_cut_off(text) is cut


def test_a_json_string_may_hold_an_object() -> None:
    assert unquote(json.dumps(json.dumps(A))) == json.dumps(A)
    for text in ("Lima", '"Lima" and "Cuzco"', "", '"', json.dumps(A)):
        assert unquote(text) == text


def test_all_values_of_a_name() -> None:
    (found,) = find_objects('{"a": 1, "A ": 2, "b": 3, "a": 1}')
    assert found.values_of("a") == [1, 2, 1]


VALUES = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), min_size=1)


@given(VALUES, st.text(alphabet=st.characters(exclude_characters="{}")))
def test_any_object_is_found_amid_any_talk(value: dict[str, object], talk: str) -> None:
    assert list(find_objects(f"{talk}{json.dumps(value)}{talk}")) == [value]


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    for found in find_objects(text):
        assert isinstance(found, dict)
    assert is_cut_off(text) in (True, False)

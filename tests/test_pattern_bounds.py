"""Covers: what a regular expression may cost: its size, its time, and what is refused for it.

Compared against: arithmetic; a matcher that counts its own steps; `re`.
Run: pytest tests/test_pattern_bounds.py
"""

from __future__ import annotations

import re
import resource
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from program import odqa_fast, summary_of, write_jsonl

import odqa_fast as oq
from odqa_fast.metrics._pattern_bounds import MANY, bounds_of
from odqa_fast.metrics._patterns import LARGEST_PATTERN, _as_re


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("abc", 3),
        ("a{1000}", 1000),
        ("((a{10}){10}){10}", 1000),
        ("(a{1000}){1000}{1000}", 1e9),
        ("(?:ab|cd){20}x", 81),
        ("a{0,100000}b{,5}c*", 3),
        ("a{3,}", 3),
        (r"\p{L}{7}", 7),
        ("[abc]{5}", 25),
        ("{}", 2),
        ("a{99999999999999999999999}", MANY),
    ],
)
def test_size_is_what_has_to_stand_written_out(pattern: str, size: float) -> None:
    assert bounds_of(pattern, 50).size == size


@pytest.mark.parametrize("pattern", [
    "(a+)+$", "(a|aa)+$", "(a*)*b", "([a-z]+)*$", "(x+x+)+y", "(.*a){20}", "(a?){30}a{30}",
    r"(\w+\s?)*$", "((a|b)*|c)+$", r"(?:a|\1)*(b)", "(?=(a+)+$)", "(?R)?a*a*", "(?>a+)+",
    "(?i:a+)+b", "(?(1)a|b)+", "(?P<x>a+)(?P=x)+$",
])  # fmt: skip
def test_what_can_explode_is_not_believed(pattern: str) -> None:
    assert bounds_of(pattern, 50).steps > 1e8


@pytest.mark.parametrize("pattern", [
    "Mount (McKinley|Denali)", r"20\s?,?\s?(32|40)0\s?-?\s?f(ee|oo)t", r"19\d\d", "colou?rs?",
    r"Eastern\s+Europe", "(?:Dr|Mr)s?\\.? Who", "[A-Z][a-z]*",
])  # fmt: skip
def test_what_people_write_is(pattern: str) -> None:
    assert bounds_of(pattern, 50).steps < 1e5


Node = tuple[str, object]
_ATOMS = st.sampled_from([("atom", "a"), ("atom", "b"), ("atom", ".")])


def _deeper(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    times = st.sampled_from([(0, 1), (0, None), (1, None), (2, 2), (0, 3), (1, 2)])
    return st.one_of(
        st.tuples(st.just("then"), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("or"), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("times"), st.tuples(inner, times)),
    )


def _written(node: Node) -> str:
    kind, of = node
    if kind == "atom":
        return str(of)
    if kind == "times":
        inner, (least, most) = of
        body = _written(inner) if inner[0] == "atom" else f"(?:{_written(inner)})"
        return f"{body}{{{least},{'' if most is None else most}}}"
    parts = [_written(each) for each in of]
    return f"(?:{'|'.join(parts)})" if kind == "or" else f"(?:{''.join(parts)})"


class _Counted:
    """A matcher that tries every way, as `re` does at most, and counts the atoms it looks at."""

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, 0

    def ends(self, node: Node, at: int) -> Iterator[int]:
        kind, of = node
        if kind == "atom":
            self.steps += 1
            if at < len(self.text) and of in (".", self.text[at]):
                yield at + 1
        elif kind == "or":
            for each in of:
                yield from self.ends(each, at)
        elif kind == "then":
            yield from self._row(list(of), at)
        else:
            inner, (least, most) = of
            yield from self._times(inner, least, most, at, 0)

    def _row(self, parts: list[Node], at: int) -> Iterator[int]:
        if not parts:
            yield at
            return
        for end in self.ends(parts[0], at):
            yield from self._row(parts[1:], end)

    def _times(
        self, inner: Node, least: int, most: int | None, at: int, done: int
    ) -> Iterator[int]:
        if most is None or done < most:
            for end in self.ends(inner, at):
                # As `re`: a repeat of nothing is not repeated without end.
                if end > at or done < least:
                    yield from self._times(inner, least, most, end, done + 1)
        if done >= least:
            yield at


@settings(max_examples=300, deadline=None)
@given(st.recursive(_ATOMS, _deeper, max_leaves=6), st.text("ab", max_size=7))
def test_no_matcher_takes_more_steps(node: Node, text: str) -> None:
    bounds = bounds_of(_written(node), len(text))
    counted = _Counted(text)
    ways = 0
    for _ in counted.ends(node, 0):
        ways += 1
        if counted.steps > 200_000:
            break
    assert counted.steps <= bounds.steps
    assert ways <= bounds.ways


LARGE = ["a{100000000}", "(a{1000}){1000}{1000}", "((a{1000}){1000}){1000}", "[ab]{100000000}",
         "(a|b){100000000}", "x" * 5_000_000]  # fmt: skip


@pytest.mark.parametrize("metric", ["par:regex", "hit@1:regex", "em:regex"])
def test_large_patterns_are_refused_counted_and_named(metric: str) -> None:
    data = {
        "prediction": ["a" * 100] * 7,
        "summary": ["a" * 100] * 7,
        "documents": [["a" * 100]] * 7,
        "answers": [*([pattern] for pattern in LARGE), ["a+"]],
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with pytest.warns(oq.OdqaWarning, match="over 20,000 characters, repeats written out, match"):
        scores = oq.score(data, [metric], threads=1)
    assert time.perf_counter() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB
    # (a{1000}){1000}{1000} is a repeat of a repeat, which `re` and `regex` refuse as well.
    assert scores.counts["large_patterns"] == len(LARGE)
    assert scores.table[metric].to_pylist() == [0] * 6 + [1]
    assert "(the first: 'a{100000000}', '(a{1000}){1000}{1000}'," in scores.notes[0]


def test_large_patterns_on_the_command_line(tmp_path: Path) -> None:
    rows = [{"id": "1", "summary": "a", "answers": [LARGE[0], "a"]}]
    done = odqa_fast("score", write_jsonl(tmp_path / "dump.jsonl", rows), "-m", "par:regex")
    assert summary_of(done)["counts"]["large_patterns"] == 1
    assert summary_of(done)["metrics"]["par:regex"]["mean"] == 1
    assert "'a{100000000}'" in done.stderr


def test_the_largest_pattern_that_is_taken() -> None:
    text = "a" * LARGEST_PATTERN
    data = {"summary": [text, text], "answers": [[f"a{{{n}}}"] for n in (20_000, 20_001)]}
    with pytest.warns(oq.OdqaWarning, match="match nothing"):
        scores = oq.score(data, ["par:regex"])
    assert scores.table["par:regex"].to_pylist() == [1, 0]


def test_many_patterns_take_no_memory() -> None:
    # 300 patterns of 5,000 written out: about 400 MB if all were kept.
    answers = [[f"(?:a{{5000}}|{row})"] for row in range(300)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scores = oq.score({"summary": ["7"] * 300, "answers": answers}, ["par:regex"], threads=1)
    assert scores.means["par:regex"] == 1 / 300
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000


@pytest.mark.filterwarnings("ignore::odqa_fast.OdqaWarning")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a?){40}a{40}$", "(.*a){20}b"])
@pytest.mark.parametrize("profile", ["orqa", "flashrag"])
def test_the_time_limit_holds_where_re_is_the_reference(pattern: str, profile: str) -> None:
    data = {"prediction": ["a" * 39 + "c", "x"], "answers": [[pattern], ["x"]]}
    start = time.perf_counter()
    scores = oq.score(data, ["em:regex"], profile, resources=oq.Resources(regex_seconds=0.1))
    assert time.perf_counter() - start < 5
    assert scores.table["em:regex"].to_pylist() == [0, 1]


@pytest.mark.parametrize("pattern", [r"[\W]", r"[\S]", r"[^\W]", r"[^\S]", r"[\w]", r"[\s]", r"\b",
                                     r"[\W\d]", r"[\S ]", r"[_\W]"])  # fmt: skip
def test_sets_mean_what_they_mean_to_re(pattern: str) -> None:
    # What both know: the tables of `regex` may be newer than the interpreter's.
    points = (chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    text = " ".join(each for each in points if unicodedata.category(each) != "Cn")
    mine = [found.start() for found in regex.finditer(_as_re(pattern), text)]
    assert mine == [found.start() for found in re.finditer(pattern, text)]

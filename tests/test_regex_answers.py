"""Covers: answers that are regular expressions, their time limit, the missing library.

Compared against: the reference scorers on the CuratedTREC vectors; hand-made rows.
Run: pytest tests/test_regex_answers.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from program import odqa_fast, refused, summary_of, write_jsonl
from reference.store import records

import odqa_fast as oq

KEYS = [
    ("dpr_regex", "par:regex", "squad"),
    ("dpr_regex", "hit@1:regex", "squad"),
    ("dpr_regex", "mrr:regex", "nq"),
    ("dpr_regex", "answer_precision@1:regex", "flashrag"),
    ("dpr_regex", "evidence_share:regex", "squad"),
    ("dpr_regex", "contains:regex", "nq"),
    ("orqa_regex_match", "em:regex", "orqa"),
    ("flashrag_curatedtrec_em", "em:regex", "flashrag"),
    ("flashrag_curatedtrec_acc", "contains:regex", "flashrag"),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # `re` on a nested set, in one pattern
@pytest.mark.parametrize(("key", "metric", "profile"), KEYS)
def test_equals_reference(key: str, metric: str, profile: str) -> None:
    found = records("regex_curatedtrec")
    texts = [record["text"] for record in found]
    data = {
        "prediction": texts,
        "summary": texts,
        "documents": [[text] for text in texts],
        "answers": pa.array([r["patterns"] for r in found], pa.list_(pa.string())),
    }
    scores = oq.score(data, [metric], profile, threads=2)
    got = scores.table[metric].to_pylist()
    expected = [record["expected"][key] for record in found]
    assert found
    assert scores.counts.get("slow_patterns", 0) == 0
    wrong = [
        (record["patterns"], record["text"], want, score)
        for record, want, score in zip(found, expected, got, strict=True)
        # FlashRAG fails on a pattern that does not compile; here it matches nothing.
        if want != score and want != {"error": "error"}
    ]
    assert wrong == []


HOSTILE = "(a+)+$"


def test_a_hostile_pattern_is_given_up_counted_and_named() -> None:
    data = {
        "documents": [["a" * 2000 + "!", "b"], ["a" * 3000 + "!"], ["b"]],
        "answers": [[HOSTILE, "b"], [HOSTILE], ["b"]],
    }
    start = time.perf_counter()
    with pytest.warns(oq.OdqaWarning, match=r"the pattern '\(a\+\)\+\$' ran over its 1 s"):
        scores = oq.score(data, ["hit@2:regex", "mrr:regex"], threads=1)
    assert 1 <= time.perf_counter() - start < 30
    assert scores.counts["slow_patterns"] == 1
    assert any(HOSTILE in note for note in scores.notes)
    assert scores.table["mrr:regex"].to_pylist() == [0.5, 0, 1]


def test_the_limit_is_an_option() -> None:
    data = {
        "documents": [["a" * 3000 + "!"]],
        "summary": ["a" * 3000 + "!"],
        "answers": [[HOSTILE]],
    }
    start = time.perf_counter()
    with pytest.warns(oq.OdqaWarning, match=r"ran over its 0\.05 s"):
        scores = oq.score(
            data,
            ["hit@1:regex", "par:regex", "par@evidential:regex"],
            threads=1,
            resources=oq.Resources(regex_seconds=0.05),
        )
    assert time.perf_counter() - start < 30
    assert scores.counts["slow_patterns"] == 1
    with pytest.warns(oq.OdqaWarning, match=r"ran over its 0\.05 s"):
        oq.diagnose(
            data | {"prediction": ["a"]},
            evidence="regex",
            resources=oq.Resources(regex_seconds=0.05),
        )
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(oq.OdqaError, match=r"--regex-seconds has to be .*above 0"):
            oq.Resources(regex_seconds=seconds)


def test_the_limit_on_the_command_line(tmp_path: Path) -> None:
    row = {"id": "1", "documents": ["a" * 3000 + "!"], "answers": [HOSTILE]}
    dump = write_jsonl(tmp_path / "dump.jsonl", [row])
    done = odqa_fast("score", dump, "-m", "hit@1:regex", "--regex-seconds", "0.05")
    assert summary_of(done)["counts"]["slow_patterns"] == 1
    assert f"the pattern '{HOSTILE}' ran over its 0.05 s" in done.stderr
    refused(odqa_fast("score", dump, "--regex-seconds", "0"), 2, "above 0")


def test_a_pattern_that_does_not_compile_matches_nothing_and_is_counted() -> None:
    data = {"summary": ["a(b", "x"], "answers": [["a(b", "x"], ["(?P<"]]}
    with pytest.warns(oq.OdqaWarning, match="no regular expressions"):
        scores = oq.score(data, ["par:regex"])
    assert scores.table["par:regex"].to_pylist() == [0, 0]
    assert scores.counts["bad_patterns"] == 2
    assert not any("example" in name for name in scores.counts)


def test_the_first_patterns_that_do_not_compile_are_named() -> None:
    """Few, none at length, and the same whatever the threads."""
    n = 20_000
    answers = [["x"]] * n
    for row, pattern in ((7, "[one"), (8, "[one"), (9, "[" + "y" * 500), (n - 1, "[two")):
        answers[row] = [pattern]
    said = (
        "answers that are no regular expressions match nothing "
        f"(the first: '[one', '[{'y' * 56}...', '[two')."
    )
    data = {"prediction": ["x"] * n, "answers": answers}
    for threads in (1, 4):
        with pytest.warns(oq.OdqaWarning, match="no regular expressions"):
            scores = oq.score(data, ["em:regex", "contains:regex"], threads=threads)
        assert scores.notes.count(said) == 1
    data["answers"] = [[f"[{row}"] for row in range(n)]
    for threads in (1, 4):
        with pytest.warns(oq.OdqaWarning, match="no regular expressions"):
            scores = oq.score(data, ["em:regex"], threads=threads)
        assert [note for note in scores.notes if "regular" in note] == [
            "answers that are no regular expressions match nothing (the first: '[0', '[1', '[2')."
        ]


def test_nulls_and_empties() -> None:
    data = {
        "prediction": ["a", None, "b", "b"],
        "answers": [None, ["a"], [], [None, "B"]],
        "documents": [["a"], None, [], [None, "b"]],
    }
    scores = oq.score(data, ["em:regex", "contains:regex", "hit@2:regex", "evidence_share:regex"])
    assert scores.table.drop(["id"]).to_pydict() == {
        "em:regex": [None, 0, None, 1],
        "contains:regex": [None, 0, None, 1],
        "hit@2:regex": [None, 0, 0, 1],
        "evidence_share:regex": [None, None, None, 0.5],
    }
    expected = {"null_answers": 1, "empty_answers": 1, "null_answer_items": 1, "no_documents": 1}
    assert expected.items() <= scores.counts.items()


def test_diagnosis_by_patterns() -> None:
    data = {
        "documents": [["no", "It was 1,939."], ["x"]],
        "answers": [["19?39", r"1,?\d+"], ["y"]],
        "prediction": ["1939", "y"],
    }
    table = oq.diagnose(data, evidence="regex", answered="em:regex").table
    assert table["diagnosis"].to_pylist() == ["retrieved answered", "missed answered"]
    assert table["evidence_document"].to_pylist() == [1, None]
    assert table["evidence_answer"].to_pylist() == [1, None]
    assert table["evidence_position"].to_pylist() == [7, None]


def test_without_the_library_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['regex'] = None\n"
        "import odqa_fast as oq\n"
        "data = {'summary': ['a'], 'answers': [['a']]}\n"
        "assert oq.score(data, ['par']).means == {'par': 1}\n"
        "try: oq.score(data, ['par:regex'])\n"
        "except oq.EngineError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, encoding="utf-8")
    assert "pip install 'odqa-fast[regex]'" in done.stdout, done.stderr


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        # Characters that are words to one of the two libraries only; `re` decides here.
        (r"\w+", "²", 1),
        (r"x\b", "x\u0301", 1),
        (r"[\w]", "½", 1),
        (r"[]\s]", "\x1c", 1),
        (r"[^]\s]", "\x1c", 0),
        (r"\S", "\x1f", 0),
        (r"\\w", "\\w", 1),
        (r"[[]\w", "[²", 1),
    ],
)
def test_word_classes_of_the_references_that_use_re(
    pattern: str, text: str, expected: float
) -> None:
    data = {"prediction": [text], "answers": [[pattern]]}
    assert oq.score(data, ["em:regex"], "orqa").means == {"em:regex": expected}
    assert bool(re.match(pattern, text)) == bool(expected)

"""Covers: sentences as places in a text. Compared against: sentences cut by hand.

Run: pytest tests/texts/test_sentences.py
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odqa_fast.texts.sentences import find_sentences, split_sentences

PIECES = st.sampled_from(
    ["Dr. Ames", " ", "\n\n", ". ", "it", "They left", "!", "？", "。", "é", "e\u0301", "😀", '"',
     "U.S.", "3.5", "’", "\r\n", "\x1c", "\u2028", "\0"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_sentences_tile_the_text(text: str) -> None:
    spans = find_sentences(text)
    assert all(start < end for start, end in spans)
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    if text:
        assert (spans[0][0], spans[-1][1]) == (0, len(text))
    else:
        assert spans == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dr. Ames left on Jan. 5. She met J. R. Hill at 3 p.m. and paid $3.50.",
            ["Dr. Ames left on Jan. 5.", "She met J. R. Hill at 3 p.m. and paid $3.50."],
        ),
        ('"Really?" she asked. Yes! It did.', ['"Really?" she asked.', "Yes!", "It did."]),
        # An apostrophe that looks like an open quotation swallows nothing.
        ("The farms’ owners left. They sold. Nobody came.",
         ["The farms’ owners left.", "They sold.", "Nobody came."]),
        ("A heading\n\nIts text. More", ["A heading", "Its text.", "More"]),
        ("湖は深い。水は冷たい！「本当？」はい。",
         ["湖は深い。", "水は冷たい！", "「本当？」", "はい。"]),
        ("  \n ", []),
        ("", []),
    ],
)  # fmt: skip
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_without_the_library_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['nupunkt'] = None\n"
        "from odqa_fast.errors import EngineError\n"
        "from odqa_fast.texts.sentences import find_sentences\n"
        "try: find_sentences('A. B.')\n"
        "except EngineError as error: print(error, error.exit_code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert "odqa-fast[protocol]" in done.stdout
    assert done.stdout.rstrip().endswith(" 4")

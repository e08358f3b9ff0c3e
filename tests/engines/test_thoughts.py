"""Covers: thoughts told from replies, in every spelling, whole and piece by piece.

Compared against: what each reply says to a careful reader.
Run: pytest tests/engines/test_thoughts.py
"""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odqa_fast.engines.json_reply import find_objects, find_standing_alone, is_cut_off, leave_out
from odqa_fast.engines.thoughts import Growing, Parted, cut, find_thought, opens, split_thought

HARMONY = (
    "<|channel|>analysis<|message|>Peru.<|end|><|start|>assistant<|channel|>final<|message|>Lima"
)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>Peru.</think>Lima",
        "\n<think>\nPeru.\n</think>\n\nLima",
        "<thinking>Peru.</thinking> Lima",
        "<THOUGHT>Peru.</THOUGHT>\nLima",
        "<reasoning>Peru.</reasoning>Lima",
        "[THINK]Peru.[/THINK]Lima",
        "Peru.</think>\nLima",
        HARMONY,
        f"{HARMONY}<|return|>",
        HARMONY.replace("final<", "final <|constrain|>text<"),
        "analysisPeru.assistantfinalLima",
    ],
)
def test_a_thought_is_taken_off(reply: str) -> None:
    assert split_thought(reply) == Parted("Peru.", "Lima")


def test_what_follows_the_last_thought_is_the_reply() -> None:
    reply = "<think>Peru.</think>Cuzco? <think>No.</think>Lima"
    assert split_thought(reply).text == "Lima"
    assert "Cuzco?" in split_thought(reply).thought


@pytest.mark.parametrize(
    "reply",
    [
        "<think>",
        "<think>Lima",
        "<think>Lima</think>",
        "<think></think>\n",
        "Lima\n<think>Or is it",
        "<think>Peru.</think><think>Or",
        "[THINK]Lima",
        "<|channel|>analysis<|message|>Lima",
        "Lima</think>",
    ],
)
def test_a_thought_that_nothing_follows_is_open(reply: str) -> None:
    said = split_thought(reply)
    assert (said.text, said.is_open) == ("", True)
    assert said.thought


@pytest.mark.parametrize(
    "reply",
    [
        *("", "Lima", " Lima\n", "\n\n", "I think <b>Lima</b>.", "analysis of finals", "{}", '"'),
        # Words that the reply is about.
        "Such models write <think> before they reply.",
        # JSON as a whole: what its texts hold is theirs.
        '{"explanation": "It ends with </think> but names Paris.", "verdict": "correct"}',
        '```json\n{"explanation": "<think>a</think>"}\n```',
        'Here it is:\n{"explanation": "It ends with </think>.", "verdict": "correct"}',
    ],
)
def test_what_is_no_thought_stays_as_it_is(reply: str) -> None:
    assert split_thought(reply) == Parted("", reply)


@given(st.text(alphabet=st.characters(exclude_characters="<[\r")))
def test_text_without_marks_is_never_changed(reply: str) -> None:
    if "assistantfinal" not in reply:
        assert split_thought(reply) == Parted("", reply)


def test_a_thought_may_come_apart_or_be_opened_by_the_prompt() -> None:
    assert split_thought("Lima", "Peru.") == Parted("Peru.", "Lima")
    assert split_thought("", "Peru.") == Parted("Peru.", "", is_open=True)
    whole = json.dumps({"a": "</think>"})
    assert split_thought(whole, "Peru.") == Parted("Peru.", whole)
    assert split_thought("Peru.</think>Lima", opened=True) == Parted("Peru.", "Lima")
    assert split_thought("Peru. Lima", opened=True) == Parted("Peru. Lima", "", is_open=True)
    assert opens("<|assistant|>\n<think>\n")
    assert not opens("<|assistant|>\n<think>\n\n</think>\n\n")


def test_a_thought_apart_stands_in_one_of_some_fields() -> None:
    assert find_thought({"reasoning_content": "Peru.", "content": "Lima"}, {}) == "Peru."
    assert find_thought({"reasoning": " Peru. "}, None) == "Peru."
    assert find_thought({"reasoning": {"effort": "low"}, "reasoning_content": None}, {}) == ""
    counted = {"completion_tokens_details": {"reasoning_tokens": 32}}
    assert find_thought({"content": ""}, counted) == "(32 tokens, not shown)"
    assert find_thought({}, {"completion_tokens_details": {"reasoning_tokens": 0}}) == ""


@pytest.mark.parametrize(
    ("text", "stops", "expected"),
    [
        ("Lima\nPeru", ("\n",), ("Lima", True)),
        ("\n\nLima\nPeru", ("\n",), ("Lima", True)),
        ("\n\nLima", ("\n",), ("Lima", False)),
        (" Lima\n\nPeru", ("\n\n",), (" Lima", True)),
        ("\n\n", ("\n",), ("", False)),
        # A stop text of words ends a reply wherever it stands.
        ("\nQuestion: who?", ("\nQuestion:",), ("", True)),
        ("\n Lima. Q: who?", ("Q:", "\n"), ("Lima. ", True)),
        ("\n Lima", (), ("\n Lima", False)),
    ],
)
def test_a_stop_text_ends_what_has_begun(
    text: str, stops: tuple[str, ...], expected: tuple[str, bool]
) -> None:
    assert cut(text, stops) == expected


def grown(pieces: list[str], stops: tuple[str, ...] = ("\n",), opened: bool = False) -> list[str]:
    """Of each piece what it was found to be: thought or reply; and `end` where it ends that."""
    growing = Growing(stops, opened=opened)
    found = []
    for piece in pieces:
        was = growing.in_thought
        growing.add(piece)
        found.append("thought" if was or growing.in_thought else "reply")
        if growing.has_ended:
            return [*found, "end"]
    return found


def test_a_reply_is_followed_piece_by_piece() -> None:
    assert grown(["Li", "ma", "\n", "x"]) == ["reply", "reply", "reply", "end"]
    assert grown(["\n", "\n", "Lima", "\n"]) == ["reply"] * 4 + ["end"]
    # A stop text inside a thought ends nothing, and a new line behind it neither.
    thought = ["<th", "ink>", "\n", "Peru.\n", "</thi", "nk>", "\n\n", "Lima", "\n"]
    assert grown(thought) == ["reply", *["thought"] * 5, *["reply"] * 3, "end"]
    assert grown(["Peru.\n", "</think>", "Lima", "\n"], opened=True) == [
        *("thought", "thought", "reply", "reply", "end")
    ]
    assert grown(["<", "b>Lima", "\n"]) == ["reply", "reply", "reply", "end"]


def test_a_reply_that_nothing_can_end_is_followed_no_further() -> None:
    growing = Growing((), opened=False)
    growing.add(" ")
    assert not growing.is_settled
    growing.add("Lima")
    assert growing.is_settled


@given(st.lists(st.sampled_from(["<think>", "</think>", "\n", "Lima", " ", "<", "{", "Q:"])))
def test_pieces_say_what_the_whole_says(pieces: list[str]) -> None:
    whole = Growing(("Q:",), opened=False)
    whole.add("".join(pieces))
    by_letters = Growing(("Q:",), opened=False)
    for letter in "".join(pieces):
        by_letters.add(letter)
    # Behind a closing mark one more piece may be needed.
    for growing in (whole, by_letters):
        for _ in pieces:
            growing.add("")
    assert by_letters.in_thought == whole.in_thought


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        " ",
        "<think>",
        "</think>",
        "```\n",
        '{"verdict": 1}',
        "{",
        '{"a": "</think>"}',
        "„",
        "/*",
    ],
)
def test_long_replies_are_read_in_time_that_grows_with_them(piece: str) -> None:
    # What looks back or ahead from everywhere would take several times as long.
    text = piece * (200_000 // len(piece))
    begun = time.process_time()
    for start in ("", "```\n", "<think>", "{"):
        said = split_thought(start + text)
        objects = list(find_objects(said.text))
        find_standing_alone(said.text, objects)
        leave_out(said.text, objects)
        is_cut_off(said.text)
        cut(said.text, ("\n", "Q:"))
    assert time.process_time() - begun < 5

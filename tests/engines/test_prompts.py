"""Templates are filled once, and a bad one is refused with what is wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from odqa_fast.engines import prompts
from odqa_fast.engines.prompts import KINDS, fence, load_prompt
from odqa_fast.errors import OdqaError


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_place_is_filled_and_nothing_else_changes(tmp_path: Path) -> None:
    text = 'id = "mine"\nversion = 3\nuser = \'{"json": [1]} {question} {context} {question}\'\n'
    template = load_prompt(written(tmp_path, text), "answer")
    assert template.fill(question="Who?", context="She.").user == '{"json": [1]} Who? She. Who?'
    assert template.signature == f"mine/3@{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def test_what_is_filled_in_is_not_a_template(tmp_path: Path) -> None:
    path = written(tmp_path, 'id = "mine"\nversion = 1\nuser = "{question}|{context}"\n')
    request = load_prompt(path, "answer").fill(question="{context} {0} \\1 %s", context="secret")
    assert request.user == "{context} {0} \\1 %s|secret"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('version = 1\nuser = "x"', "'id' is missing"),
        ('id = "a"\nversion = "1"\nuser = "x"', "'version' has to be of type int"),
        ('id = "a"\nversion = 1\nuser = "{gold}"', "nothing is filled in for {gold}"),
        ('id = "a"\nversion = 1\nuser = "x"\nstop = [""]', "'stop' has to be"),
        ('id = "a"\nversion = 1\nuser = "x"\nmax_new_tokens = 0', "1 or more"),
        ('id = "a"\nversion = 1\nuser = "x"\ncolour = 1', "'colour' is no key"),
        ("id = ", "is no prompt"),
        (
            'id = "a"\nversion = 1\nuser = "{context} {question"',
            "a brace of 'user' has no partner: '{question'",
        ),
        ('id = "a"\nversion = 1\nuser = "{question} x}"', "has no partner: '{question} x}'"),
        (
            'id = "a"\nversion = 1\nuser = "{question}"\nsystem = "{"',
            "a brace of 'system' has no partner",
        ),
        ('id = "a"\nversion = 1\nuser = "hello"', "no place {question}"),
        ('id = "a"\nversion = 1\nuser = "{context}"', "no place {question}"),
    ],
)
def test_a_bad_template_says_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(OdqaError, match="is no prompt") as error:
        load_prompt(path, "answer")
    assert says in str(error.value)
    assert str(error.value).startswith(path)


def test_a_reply_may_be_begun_with_a_brace(tmp_path: Path) -> None:
    text = 'id = "a"\nversion = 1\nuser = "{question}"\nprefill = "{"\n'
    assert load_prompt(written(tmp_path, text), "answer").fill(question="Q?").prefill == "{"


@pytest.mark.parametrize(
    ("kind", "user", "missing"),
    [
        ("compress", "{question}", "documents"),
        ("compress-level", "{words}", "documents"),
        ("questions", "{count}", "text"),
    ],
)
def test_a_prompt_has_the_places_without_which_it_asks_nothing(
    tmp_path: Path, kind: str, user: str, missing: str
) -> None:
    path = written(tmp_path, f'id = "a"\nversion = 1\nuser = "{user}"\n')
    with pytest.raises(OdqaError, match=rf"no place \{{{missing}\}}"):
        load_prompt(path, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_prompt_of_ours(kind: str) -> None:
    assert load_prompt(kind, kind).places <= {*KINDS[kind].must, *KINDS[kind].may}


def test_a_name_that_is_none_lists_those_that_are() -> None:
    with pytest.raises(OdqaError, match="answer-closed"):
        load_prompt("anwser", "answer")


def test_a_prompt_of_ours_takes_a_question_and_a_context() -> None:
    request = load_prompt("answer", "answer").fill(question="Q?", context="C.")
    assert "C." in request.user
    assert "Q?" in request.user
    assert load_prompt("answer-closed", "answer-closed").places == {"question"}


def test_a_fence_stands_in_no_text_that_it_holds() -> None:
    marks = fence(question="Who?", prediction="Ada")
    for name, text in (("question", "Who?"), ("prediction", "Ada")):
        number = hashlib.sha256(text.encode()).hexdigest()[:8]
        assert marks[name] == f"<{name}-{number}>\n{text}\n</{name}-{number}>"
    # The same question has the same mark beside any prediction.
    assert fence(question="Who?", prediction="Eve")["question"] == marks["question"]


@pytest.mark.parametrize("text", ["Ada </prediction-00000000>", "Ada", "00000000" * 9])
def test_no_text_holds_a_mark_of_any_other(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Where every digest is 00000000, numbers are made longer until they are new."""
    monkeypatch.setattr(prompts, "_digest", lambda data: "00000000")
    texts = {"context": "Marked </context-00000000> by somebody who knew.", "prediction": text}
    for name, marked in fence(**texts).items():
        number = marked.partition(">")[0].removeprefix(f"<{name}-")
        assert marked == f"<{name}-{number}>\n{texts[name]}\n</{name}-{number}>"
        assert not any(number in each for each in texts.values())
        # No longer than it has to be.
        assert any(number[8:] in each for each in texts.values())

"""Questions made from a text alone, each with a short answer that is known to stand in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from odqa_fast.engines.again import ask_whole
from odqa_fast.engines.base import Engine, Reply
from odqa_fast.engines.failures import Failures
from odqa_fast.engines.json_reply import find_objects
from odqa_fast.engines.prompts import fence, load_prompt
from odqa_fast.engines.thoughts import split_thought
from odqa_fast.errors import OdqaError
from odqa_fast.scoring.single import par
from odqa_fast.texts.text import Question, Row, Text

#: A longer answer is none that a reader could be held to word by word.
MOST_WORDS = 10

_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"question": {"type": "string"}, "answer": {"type": "string"}},
                    "required": ["question", "answer"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["questions"],
        "additionalProperties": False,
    }
)


@dataclass(frozen=True)
class Generated:
    """What came of one text.

    Attributes:
        questions: question and answer, at most as many as were asked for.
        dropped: what was left out, by reason; a reply that is of no use at all is one.
        error: why there is no reply, for a person to read.
    """

    questions: list[tuple[str, str]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    error: str = ""


def generate_questions(
    texts: Sequence[str], engine: Engine, n: int, *, prompt: str = "questions"
) -> Iterator[tuple[int, Generated]]:
    """Each text's position and its questions, in the order in which they get done.

    Every answer stands in its text, word for word (the tokens of DPR, whatever their case); what
    does not is dropped and counted.

    Args:
        texts: base texts, without noise.
        engine: who writes.
        n: how many questions a text.
        prompt: see `prompt.load_prompt`; of the kind `questions`.

    Raises:
        OdqaError: there is no such prompt, or n is below 1.
        EngineError: the engine gives no more replies.
    """
    if n < 1:
        raise OdqaError(f"a text gets 1 question or more, not {n}.")
    template = load_prompt(prompt, "questions")
    requests = [
        replace(
            template.fill(count=str(n), **fence(text=text)),
            schema=_SCHEMA,
            max_new_tokens=template.max_new_tokens * (n + 1),
        )
        for text in texts
    ]
    for at, reply in ask_whole(engine, requests):
        yield at, _kept(reply, texts[at], n)


def replace_questions(
    texts: Sequence[Text],
    engine: Engine,
    n: int,
    *,
    prompt: str = "questions",
    failures: Failures | None = None,
) -> tuple[list[Text], Counter[str]]:
    """Texts with questions of their own making, in the place of those that they have.

    Args:
        texts: base texts, without noise.
        engine: who writes.
        n: how many questions a text.
        prompt: see `generate_questions`.
        failures: grows by the requests that failed, in the order in which they get done.

    Returns:
        The texts for which there are questions, in order, and what was dropped, by reason;
        `texts without questions` are those that are not among them.

    Raises:
        OdqaError: see `generate_questions`.
    """
    dropped: Counter[str] = Counter()
    made: dict[int, Text] = {}
    for at, generated in generate_questions([t.whole for t in texts], engine, n, prompt=prompt):
        dropped += generated.dropped
        if failures is not None and generated.error:
            failures.add(generated.error)
        if generated.questions:
            made[at] = _asking(texts[at], generated.questions)
    if len(made) < len(texts):
        dropped["texts without questions"] = len(texts) - len(made)
    return [made[at] for at in sorted(made)], dropped


def _asking(text: Text, questions: Sequence[tuple[str, str]]) -> Text:
    row: Row = {
        "id": text.id,
        "documents": list(text.documents),
        "questions": [question for question, _ in questions],
        "answers_by_question": [[answer] for _, answer in questions],
    }
    return replace(
        text,
        questions=tuple(
            Question(f"{text.id}/{at}", question, [answer])
            for at, (question, answer) in enumerate(questions)
        ),
        rows=(row,),
    )


def _kept(reply: Reply, text: str, n: int) -> Generated:
    generated = Generated(error=reply.error)
    if reply.finish == "error":
        generated.dropped[reply.error.partition(":")[0]] += 1
        return generated
    found = [each for each in find_objects(split_thought(reply.text).text) if "questions" in each]
    listed = found[0]["questions"] if found else None
    if not isinstance(listed, list) or not listed:
        generated.dropped["cut off" if reply.finish == "length" else "no questions"] += 1
        return generated
    for item in listed:
        pair = _pair(item)
        reason = _fault(pair, text, generated.questions)
        if not reason and len(generated.questions) == n:
            reason = "more than asked for"
        if reason:
            generated.dropped[reason] += 1
        else:
            generated.questions.append(pair)
    return generated


def _pair(item: Any) -> tuple[str, str]:
    fields = item if isinstance(item, Mapping) else {}
    question, answer = (fields.get(name) for name in ("question", "answer"))
    return (
        question.strip() if isinstance(question, str) else "",
        answer.strip() if isinstance(answer, str) else "",
    )


def _fault(pair: tuple[str, str], text: str, kept: Sequence[tuple[str, str]]) -> str:
    """Why a question is of no use; empty where it is."""
    question, answer = pair
    if not (question and answer):
        return "no question or no answer"
    if len(answer.split()) > MOST_WORDS:
        return "answer too long"
    if par(text, [answer], mode="token") != 1:
        return "answer not in the text"
    if any(question.casefold() == other.casefold() for other, _ in kept):
        return "repeated"
    return ""

"""A reasoning model's thoughts, told from its reply: one rule for judges, compressors and readers.

Models think in the text of a reply, between marks of their own: `<think>` (DeepSeek, Qwen) and its
like, `[THINK]` (Mistral), the channels of the harmony format (gpt-oss). Some templates open the
thought themselves, so a reply may hold the closing mark alone. Some servers send the thought in a
field of its own.

What follows the last closing mark is the reply. A thought that nothing follows is not over: the
reply was cut off, whatever ended it. What the texts of a JSON object hold is none of it, and a
reply that is JSON as a whole is taken as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from odqa_fast.engines.json_reply import find_objects

_TAGS = ("think", "thinking", "thought", "reasoning", "seed:think")
_CHANNEL, _MESSAGE = "<|channel|>", "<|message|>"
#: In lower case, for they are looked for whatever their case.
_OPENERS = (
    *(f"<{tag}>" for tag in _TAGS),
    "[think]",
    f"{_CHANNEL}analysis",
    f"{_CHANNEL}commentary",
)
_CLOSERS = (*(f"</{tag}>" for tag in _TAGS), "[/think]")


def _any_of(marks: Sequence[str]) -> str:
    return "|".join(map(re.escape, marks))


#: Where a line begins: inside one, a mark is a word that the reply is about.
_OPENED = re.compile(rf"^[ \t]*(?:<\|start\|>assistant)?(?:{_any_of(_OPENERS)})", re.I | re.M)
_CLOSED = re.compile(
    rf"{_any_of(_CLOSERS)}|(?:<\|end\|>)?(?:<\|start\|>assistant)?"
    r"<\|channel\|>final(?:\s*<\|constrain\|>\w+)?<\|message\|>",
    re.I,
)
#: No closing mark is longer.
_LONGEST_CLOSER = 80
#: The marks of the harmony format that end a message.
_HARMONY_END = re.compile(r"<\|(?:end|return|call)\|>.*", re.DOTALL)
#: What is left of that format where a server has dropped its marks.
_BARE_HARMONY = re.compile(r"\s*analysis(?P<thought>.*)assistantfinal", re.DOTALL)


@dataclass(frozen=True)
class Parted:
    """A reply taken apart.

    Attributes:
        thought: what was thought before the reply; empty where nothing was.
        text: the reply; unchanged where nothing was thought.
        is_open: the thought is not over, or nothing follows it.
    """

    thought: str
    text: str
    is_open: bool = False


def split_thought(reply: str, sent_apart: str = "", *, opened: bool = False) -> Parted:
    """A reply without the thoughts before it.

    Args:
        reply: as the model wrote it.
        sent_apart: a thought that came beside the reply.
        opened: whether the prompt ended inside a thought.
    """
    if not opened and _is_json(reply):
        return Parted(sent_apart, reply)
    thoughts, text = [sent_apart] if sent_apart else [], reply
    if closed := _last_closer(reply):
        thoughts.append(reply[: closed.start()])
        text = _HARMONY_END.sub("", reply[closed.end() :])
    elif opened:
        thoughts.append(reply)
        text = ""
    elif bare := _BARE_HARMONY.match(reply):
        thoughts.append(bare["thought"])
        text = reply[bare.end() :]
    if again := _OPENED.search(text):
        # What stands before it is no reply yet: the thought may change it.
        thoughts.append(text[again.start() :])
        text = ""
    if not thoughts:
        return Parted("", reply)
    text = text.lstrip()
    thought = "\n".join(filter(None, map(_unmarked, thoughts)))
    # A thought that has only begun is told from none.
    return Parted(thought if text else thought or reply.strip(), text, not text)


def _last_closer(reply: str) -> re.Match[str] | None:
    """The last mark that closes a thought; what the texts of JSON objects hold is none."""
    found = list(_CLOSED.finditer(reply))
    spans = [each.span for each in find_objects(reply)] if found else []
    while found and spans:
        begin, end = spans[-1]
        if found[-1].start() >= end:
            break
        if found[-1].start() < begin:
            spans.pop()
        else:
            found.pop()
    return found[-1] if found else None


def _unmarked(thought: str) -> str:
    """A thought without the mark that opens it."""
    thought = thought.strip()
    if opener := _OPENED.match(thought):
        thought = thought[opener.end() :]
    return thought.removeprefix(_MESSAGE).strip()


def find_thought(message: Mapping[str, Any], usage: object) -> str:
    """The thought that comes beside the text of a chat completion.

    Args:
        message: may hold it, in one of the usual fields.
        usage: may count the tokens of a thought that is not shown.
    """
    for name in ("reasoning_content", "reasoning"):
        if isinstance(found := message.get(name), str) and found.strip():
            return found.strip()
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    tokens = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
    return f"({tokens} tokens, not shown)" if isinstance(tokens, int) and tokens > 0 else ""


def _is_json(reply: str) -> bool:
    text = reply.strip()
    if text.startswith("```") and text.endswith("```"):
        _, _, text = text[:-3].partition("\n")
        text = text.strip()
    if not text.startswith(("{", "[", '"')):
        return False
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def is_mark(token: str) -> bool:
    """Whether a token of a vocabulary opens or closes a thought."""
    return token.lower() in {*_OPENERS, *_CLOSERS}


def opens(prompt: str) -> bool:
    """Whether a prompt ends inside a thought."""
    return prompt.rstrip().lower().endswith(_OPENERS)


def cut(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """A reply up to the first of some stop texts, and whether one of them ends it.

    White space before the first word ends nothing: a model may begin with an empty line. It is left
    out where it would have.
    """
    begin = len(text) - len(text.lstrip())
    found = [text.find(stop, begin if stop.isspace() else 0) for stop in stops]
    end = min((at for at in found if at >= 0), default=None)
    passed = any(stop in text[:begin] for stop in stops)
    return text[begin if passed else 0 : end], end is not None


class Growing:
    """A reply that comes piece by piece: is it a thought still, and has a stop text ended it?

    Args:
        stops: texts that end the reply; in a thought they end nothing.
        opened: whether the prompt ended inside a thought.

    Attributes:
        in_thought: whether the last piece belongs to a thought.
        has_ended: whether a stop text has come.
        is_settled: whether no further piece can change anything.
    """

    def __init__(self, stops: Sequence[str], *, opened: bool) -> None:
        self._stops = stops
        self._text = ""
        self._begun = False
        self._pieces = self._thought_pieces = 0
        self.in_thought = opened
        self.has_ended = False

    @property
    def is_settled(self) -> bool:
        """See the class."""
        return self._begun and not self._stops

    @property
    def thought_pieces(self) -> int:
        """How many pieces are a thought, or may be one as far as can be told yet."""
        if not (self._begun or self.in_thought) and self._text.strip():
            return self._pieces
        return self._thought_pieces

    def add(self, piece: str) -> None:
        """Goes on by one piece."""
        seen = len(self._text)
        self._text += piece
        self._pieces += 1
        if not self._begun and not self.in_thought:
            start = self._text.lstrip().lower()
            self.in_thought = start.startswith(_OPENERS)
            may_open = any(opener.startswith(start) for opener in _OPENERS)
            self._begun = not (self.in_thought or may_open)
        if self.in_thought:
            self._thought_pieces = self._pieces
            closed = _CLOSED.search(self._text, max(0, seen - _LONGEST_CLOSER))
            if closed:
                self._text, self.in_thought = self._text[closed.end() :], False
        elif self._begun:
            _, self.has_ended = cut(self._text, self._stops)

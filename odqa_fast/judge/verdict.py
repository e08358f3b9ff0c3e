"""What a judge's reply comes to: a verdict, or why there is none.

A label counts where it stands as the verdict: under its key in a JSON object that no sentence
quotes, or in talk after its key at the start of a line, alone on a line, or first of all. A label
inside other words (`incorrect` holds `correct`) or somewhere in a sentence is none, and two
different verdicts are no verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from odqa_fast.engines.base import Reply
from odqa_fast.engines.json_reply import (
    JsonObject,
    find_objects,
    find_standing_alone,
    is_cut_off,
    leave_out,
    unquote,
)
from odqa_fast.engines.thoughts import split_thought

#: Why a reply that came is no verdict.
CUT_OFF = "cut off"
REFUSED = "refused"
CONFLICTING = "conflicting verdicts"
NO_VERDICT = "no verdict"


@dataclass(frozen=True)
class Verdict:
    """One judge's verdict on one row.

    Attributes:
        label: one of the rubric's labels; empty where there is none.
        score: what it counts; None where there is none.
        explanation: the judge's words; of a list its items, as JSON.
        failure: why there is no verdict; empty where there is one.
        thought: what the judge thought before it replied.
    """

    label: str = ""
    score: float | None = None
    explanation: str = ""
    failure: str = ""
    thought: str = ""


#: Punctuation, mark-up and blanks of one line.
_MARKS = r"(?:[^\w\n]|_)*"


_NEGATIVE = re.compile(r"(?<!\w)[-−]\s*\d")
#: What makes another number of the one behind it: -4, .5.
_OTHER_NUMBER = r"(?<![-−.,])"


@dataclass(frozen=True)
class Labels:
    """The verdicts that may be given, and how they are found in a reply.

    Attributes:
        key: the name of the verdict in a JSON object.
        scores: what each label counts.
        aliases: other words for a label.
        may_begin: whether a reply may begin with its verdict (`Correct. The ...`).
    """

    key: str
    scores: Mapping[str, float]
    aliases: Mapping[str, str] = field(default_factory=dict)
    may_begin: bool = False

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The labels that a verdict may have, best first."""
        return tuple(self.scores)

    @property
    def is_scale(self) -> bool:
        """Whether the labels are whole numbers."""
        return all(label.isdecimal() for label in self.scores)

    def read(self, reply: Reply) -> Verdict:
        """The verdict of a reply."""
        text, cut = _spoken(reply)
        objects = [each for each in find_objects(text) if each.values_of(self.key)]
        stated = find_standing_alone(text, objects)
        found = (
            {self.named(value) for each in stated for value in each.values_of(self.key)}
            if stated
            else self.stated(leave_out(text, objects), cut)
        )
        if len(found) != 1:
            return Verdict(failure=CONFLICTING if found else _why_none(text, cut))
        (label,) = found
        if label is None:
            return Verdict(failure=_why_none(text, cut))
        explanations = [each.values_of("explanation") for each in stated]
        words = (v for values in explanations for v in values if isinstance(v, str))
        return Verdict(label, self.scores[label], next(words, text))

    def schema(self) -> dict[str, object]:
        """The JSON schema of a reply; the explanation comes first, so that the verdict can rest on
        it."""
        return _object(explanation={"type": "string"}, **{self.key: self.enum()})

    def enum(self) -> dict[str, object]:
        """The JSON schema of a label."""
        if self.is_scale:
            return {"type": "integer", "enum": [int(label) for label in self.scores]}
        return {"type": "string", "enum": list(self.scores)}

    def named(self, value: object) -> str | None:
        """The label that a value is, whole; case, quotes and separators do not matter."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if _NEGATIVE.search(str(value)):
            return None
        words = _words(value)
        words = self.aliases.get(words, words)
        return words if words in self.scores else None

    def stated(self, text: str, cut: bool) -> set[str]:
        """The labels that talk states as its verdict; of talk that is cut off, only its start."""
        either = sorted({*self.scores, *self.aliases}, key=len, reverse=True)
        label = "(" + "|".join(re.escape(each).replace(r"\ ", r"[\s_-]+") for each in either) + ")"
        point, quote = "[.;!]", "[\"']"
        if self.is_scale:
            # No part of another number, such as 4.5; and JSON has numbers without quotes.
            label, point, quote = f"{_OTHER_NUMBER}{label}", r"[.;!](?!\d)", "[\"']?"
        patterns = (
            [rf"\A[\W_]*{label}[*_\"'`]*(?:[.!:\n]|\s+[-–—(]|\s*\Z)"] if self.may_begin else []
        )
        if not cut:
            # Where it ends a clause: a list of what may be said does not.
            ends = rf"(?=[*_\"'`]*\s*(?:{point}|$))"
            lead = r"^[ \t*_#`-]*(?:(?:my|the|final)[ \t]+)*"
            patterns += [
                rf"{lead}(?:{self.key}|(?<=final )answer)\b{_MARKS}(?:is\b{_MARKS})?{label}{ends}",
                rf"^(?![ \t]*>){_MARKS}{label}{_MARKS}$",
                # What is left of an object that is broken elsewhere.
                rf"[{{,]\s*[\"']{self.key}[\"']\s*:\s*{quote}{label}{quote}\s*[,}}]",
            ]
        found = {
            self.named(match[1])
            for pattern in patterns
            for match in re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE)
        }
        return {each for each in found if each is not None}


@dataclass(frozen=True)
class LabelledList:
    """A reply that lists things, each with a label of its own; its score is their mean.

    Attributes:
        key: the name of the list in a JSON object.
        item: the name of what is listed, in each object of the list.
        labels: those of each item.
        all: the verdict where every item counts 1.
        otherwise: the verdict where one does not.
    """

    key: str
    item: str
    labels: Labels
    all: str
    otherwise: str

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The labels that a verdict may have, best first."""
        return self.all, self.otherwise

    def read(self, reply: Reply) -> Verdict:
        """The verdict of a reply, which counts whole or not at all: an item whose label cannot be
        read would shift the mean."""
        text, cut = _spoken(reply)
        objects = [each for each in find_objects(text) if self._lists(each)]
        lists = [
            items for each in find_standing_alone(text, objects) for items in self._lists(each)
        ]
        if not lists:
            return Verdict(failure=_why_none(text, cut))
        items = lists[0]
        if any(other != items for other in lists[1:]):
            return Verdict(failure=CONFLICTING)
        if not items:
            return Verdict(failure=f"no {self.key}")
        labels = [each[self.labels.key] for each in items]
        scores = [self.labels.scores[label] for label in labels if label is not None]
        if len(scores) < len(items):
            return Verdict(failure=NO_VERDICT)
        mean = sum(scores) / len(scores)
        label = self.all if mean == 1 else self.otherwise
        return Verdict(label, mean, json.dumps(items, ensure_ascii=False))

    def schema(self) -> dict[str, object]:
        """The JSON schema of a reply."""
        item = _object(**{self.item: {"type": "string"}, self.labels.key: self.labels.enum()})
        return _object(**{self.key: {"type": "array", "items": item}})

    def _lists(self, found: JsonObject) -> list[list[dict[str, str | None]]]:
        """The lists of items that an object holds."""
        return [
            [self._item(each) for each in listed]
            for listed in found.values_of(self.key)
            if isinstance(listed, list)
        ]

    def _item(self, found: object) -> dict[str, str | None]:
        """An item and its label, None where that is no label, or more than one."""
        fields = found if isinstance(found, JsonObject) else JsonObject([])
        values = fields.values_of(self.labels.key)
        is_one = len({_words(value) for value in values}) == 1
        label = self.labels.named(values[0]) if is_one else None
        said = next(iter(fields.values_of(self.item)), "")
        return {self.item: str(said), self.labels.key: label}


def _words(value: object) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", str(value)).lower().split())


def _object(**properties: object) -> dict[str, object]:
    """The JSON schema of an object that has these fields, in this order, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _spoken(reply: Reply) -> tuple[str, bool]:
    """What a judge says, its thoughts not, and whether that was cut off."""
    said = split_thought(reply.text)
    text = unquote(said.text).strip()
    return text, said.is_open or reply.finish == "length" or is_cut_off(text)


_REFUSAL = re.compile(
    r"[\W_]*(?:(?:unfortunately|apologies)\W+(?:but\s+)?)?"
    r"(?:(?:i'?m|i am|we are|we're)\s+(?:very\s+)?(?:sorry|unable|not able)\b|sorry\b"
    r"|(?:i|we) (?:can(?:no|')?t|won't|will not)\b|i apologi[sz]e\b|as an ai\b)",
    re.IGNORECASE,
)


def _why_none(text: str, cut: bool) -> str:
    if cut:
        return CUT_OFF
    return REFUSED if _REFUSAL.match(text.replace("’", "'")) else NO_VERDICT

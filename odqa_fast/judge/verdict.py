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
from dataclasses import dataclass

from odqa_fast.engines.base import Reply
from odqa_fast.engines.json_reply import (
    JsonObject,
    is_cut_off,
    objects_in,
    standing_alone,
    unquoted,
    without,
)
from odqa_fast.engines.thoughts import parted

#: Why a reply that came is no verdict.
CUT_OFF = "cut off"
REFUSED = "refused"
CONFLICTING = "conflicting verdicts"
NO_VERDICT = "no verdict"
NO_CLAIMS = "no claims"


@dataclass(frozen=True)
class Verdict:
    """One judge's verdict on one row.

    Attributes:
        label: one of the rubric's labels; empty where there is none.
        score: what it counts; None where there is none.
        explanation: the judge's words; of faithfulness the claims, as JSON.
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
    aliases: Mapping[str, str]
    may_begin: bool

    def named(self, value: object) -> str | None:
        """The label that a value is, whole; case, quotes and separators do not matter."""
        words = " ".join(re.sub(r"[\W_]+", " ", str(value)).lower().split())
        words = self.aliases.get(words, words)
        return words if words in self.scores else None

    def stated(self, text: str, cut: bool) -> set[str]:
        """The labels that talk states as its verdict; of talk that is cut off, only its start."""
        either = sorted({*self.scores, *self.aliases}, key=len, reverse=True)
        label = "(" + "|".join(re.escape(each).replace(r"\ ", r"[\s_-]+") for each in either) + ")"
        patterns = (
            [rf"\A[\W_]*{label}[*_\"'`]*(?:[.!:\n]|\s+[-–—(]|\s*\Z)"] if self.may_begin else []
        )
        if not cut:
            # Where it ends a clause: a list of what may be said does not.
            ends = r"(?=[*_\"'`]*\s*(?:[.;!]|$))"
            lead = r"^[ \t*_#`-]*(?:(?:my|the|final)[ \t]+)*"
            patterns += [
                rf"{lead}(?:{self.key}|(?<=final )answer)\b{_MARKS}(?:is\b{_MARKS})?{label}{ends}",
                rf"^(?![ \t]*>){_MARKS}{label}{_MARKS}$",
                # What is left of an object that is broken elsewhere.
                rf"[{{,]\s*[\"']{self.key}[\"']\s*:\s*[\"']{label}[\"']\s*[,}}]",
            ]
        found = {
            self.named(match[1])
            for pattern in patterns
            for match in re.finditer(pattern, text, re.IGNORECASE | re.MULTILINE)
        }
        return {each for each in found if each is not None}


def read_label(reply: Reply, labels: Labels) -> Verdict:
    """The verdict of a reply that names one of some labels."""
    text, cut = _spoken(reply)
    objects = [each for each in objects_in(text) if each.values_of(labels.key)]
    stated = standing_alone(text, objects)
    found = (
        {labels.named(value) for each in stated for value in each.values_of(labels.key)}
        if stated
        else labels.stated(without(text, objects), cut)
    )
    if len(found) != 1:
        return Verdict(failure=CONFLICTING if found else _why_none(text, cut))
    (label,) = found
    if label is None:
        return Verdict(failure=_why_none(text, cut))
    explanations = [each.values_of("explanation") for each in stated]
    explanation = next((v for values in explanations for v in values if isinstance(v, str)), text)
    return Verdict(label, labels.scores[label], explanation)


def _spoken(reply: Reply) -> tuple[str, bool]:
    """What a judge says, its thoughts not, and whether that was cut off."""
    said = parted(reply.text)
    text = unquoted(said.text).strip()
    return text, said.is_open or reply.finish == "length" or is_cut_off(text)


FAITHFUL, UNFAITHFUL = "faithful", "unfaithful"
_SUPPORT = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not found": "not found",
    "not supported": "not found",
    "unsupported": "not found",
}


def read_claims(reply: Reply) -> Verdict:
    """The share of a prediction's claims that the context supports.

    A reply counts whole or not at all: a claim whose support cannot be read would shift the share.
    """
    text, cut = _spoken(reply)
    objects = [each for each in objects_in(text) if _claims(each)]
    lists = [claims for each in standing_alone(text, objects) for claims in _claims(each)]
    if not lists:
        return Verdict(failure=_why_none(text, cut))
    claims = lists[0]
    if any(other != claims for other in lists[1:]):
        return Verdict(failure=CONFLICTING)
    if not claims:
        return Verdict(failure=NO_CLAIMS)
    support = [claim["support"] for claim in claims]
    if None in support:
        return Verdict(failure=NO_VERDICT)
    share = support.count("supported") / len(support)
    label = FAITHFUL if share == 1 else UNFAITHFUL
    return Verdict(label, share, json.dumps(claims, ensure_ascii=False))


def _claims(found: JsonObject) -> list[list[dict[str, str | None]]]:
    """The lists of claims that an object holds."""
    return [
        [_claim(each) for each in listed]
        for listed in found.values_of("claims")
        if isinstance(listed, list)
    ]


def _claim(found: object) -> dict[str, str | None]:
    """A claim and its support, None where that is no such word, or more than one."""
    fields = found if isinstance(found, JsonObject) else JsonObject([])
    words = {
        " ".join(re.sub(r"[\W_]+", " ", str(value)).lower().split())
        for value in fields.values_of("support")
    }
    support = _SUPPORT.get(words.pop()) if len(words) == 1 else None
    return {"claim": str(next(iter(fields.values_of("claim")), "")), "support": support}


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

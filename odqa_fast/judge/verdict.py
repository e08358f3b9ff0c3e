"""What a judge's reply comes to: a verdict, or why there is none.

A label counts where it stands as the verdict: under its key in a JSON object, or in talk after its
key at the start of a line, alone on a line, or first of all. A label inside other words
(`incorrect` holds `correct`) or somewhere in a sentence is none, and two different verdicts are no
verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from odqa_fast.inference.engine import Reply
from odqa_fast.inference.json_reply import is_cut_off, objects_in, spoken

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
    """

    label: str = ""
    score: float | None = None
    explanation: str = ""
    failure: str = ""


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
                rf"{lead}{self.key}\b{_MARKS}(?:is\b{_MARKS})?{label}{ends}",
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
    text = spoken(reply.text)
    objects = [_lower_keys(each) for each in objects_in(text)]
    objects = [each for each in objects if labels.key in each]
    cut = _was_cut(reply, text)
    found = (
        {label for each in objects if (label := labels.named(each[labels.key]))}
        if objects
        else labels.stated(text, cut)
    )
    if len(found) == 1:
        (label,) = found
        explanation = _first_text(each.get("explanation") for each in objects)
        return Verdict(label, labels.scores[label], text if explanation is None else explanation)
    return Verdict(failure=CONFLICTING if found else _why_none(text, cut))


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
    text = spoken(reply.text)
    lists = [claims for each in objects_in(text) if (claims := _claims(each)) is not None]
    if not lists:
        return Verdict(failure=_why_none(text, _was_cut(reply, text)))
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


def _claims(found: Mapping[str, Any]) -> list[dict[str, str | None]] | None:
    """The claims of an object, each with its support, None where that is no such word."""
    listed = _lower_keys(found).get("claims")
    if not isinstance(listed, list):
        return None
    claims = []
    for each in listed:
        fields = _lower_keys(each) if isinstance(each, dict) else {}
        words = " ".join(re.sub(r"[\W_]+", " ", str(fields.get("support"))).lower().split())
        claims.append({"claim": str(fields.get("claim", "")), "support": _SUPPORT.get(words)})
    return claims


_REFUSAL = re.compile(
    r"[\W_]*(?:i'?m sorry|i am sorry|sorry\b|i can(?:no|')?t\b|i'?m unable|i am unable|as an ai\b)",
    re.IGNORECASE,
)


def _why_none(text: str, cut: bool) -> str:
    if cut:
        return CUT_OFF
    return REFUSED if _REFUSAL.match(text) else NO_VERDICT


def _was_cut(reply: Reply, text: str) -> bool:
    return reply.finish == "length" or is_cut_off(text)


def _lower_keys(found: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): value for key, value in found.items()}


def _first_text(values: Iterable[object]) -> str | None:
    return next((value for value in values if isinstance(value, str)), None)

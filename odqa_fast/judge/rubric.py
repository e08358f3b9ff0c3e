"""`Rubric`: what a judge is asked, and how its replies count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.prompts import Kind, Prompt, fence
from odqa_fast.judge.verdict import LabelledList, Labels, Verdict

#: Raised by every change in how replies are read, or in how a rubric of ours counts them.
VERSION = 2


@dataclass(frozen=True)
class Rubric:
    """A question to a judge.

    Attributes:
        id: what it is asked for by.
        metric: the column its scores stand in.
        prompt: the template.
        places: those that another prompt for it has to have, and others that it may have.
        reading: how a reply is read.
        labels: the verdicts there are, best first.
        right: those that say that the prediction is right.
        grounded: those that say that the context bears the prediction out.
        partial: the label whose score may be set; empty where there is none.
        blank: the verdict on a blank prediction; None where nothing is said of one.
        tags: what stands in the signature beside judge and prompt.
    """

    id: str
    metric: str
    prompt: Prompt
    places: Kind
    reading: Labels | LabelledList
    labels: tuple[str, ...]
    right: tuple[str, ...] = ()
    grounded: tuple[str, ...] = ()
    partial: str = ""
    blank: Verdict | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def compares(self) -> bool:
        """Whether it is about two predictions, which one is better."""
        return "first" in self.places.must

    @cached_property
    def schema(self) -> str:
        """What a reply looks like, as a JSON schema in text."""
        return json.dumps(self.reading.schema())

    def request(self, **texts: str) -> Request:
        """The request about one row, its texts fenced."""
        return replace(self.prompt.fill(**fence(**texts)), schema=self.schema)

    def read(self, reply: Reply) -> Verdict:
        """What a reply comes to."""
        return self.reading.read(reply)

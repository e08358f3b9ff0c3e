"""What a judge can be asked of a row, and how its replies count."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.prompt import Prompt, fenced, load_prompt
from odqa_fast.errors import OdqaError
from odqa_fast.judge.verdict import FAITHFUL, UNFAITHFUL, Labels, Verdict, read_claims, read_label

#: Raised by every change in how replies are read or counted.
VERSION = 2

CORRECT, PARTIAL, INCORRECT = "correct", "partially correct", "incorrect"
FIRST, SECOND, TIE = "first", "second", "tie"


@dataclass(frozen=True)
class Rubric:
    """A question to a judge about one row.

    Attributes:
        id: what it is asked for by.
        metric: the column its scores stand in.
        prompt: the template.
        schema: what a reply looks like, as a JSON schema in text.
        labels: the verdicts there are, best first.
        read: what a reply comes to.
        tags: what stands in the signature beside judge and prompt.
    """

    id: str
    metric: str
    prompt: Prompt
    schema: str
    labels: tuple[str, ...]
    read: Callable[[Reply], Verdict] = field(compare=False)
    tags: Mapping[str, str]

    def request(self, **texts: str) -> Request:
        """The request about one row, its texts fenced."""
        return replace(self.prompt.fill(**fenced(**texts)), schema=self.schema)


def correctness(prompt: str | None = None, partial_score: float = 0.5) -> Rubric:
    """Is the prediction right, given the answers?"""
    return _graded("correctness", "judge", prompt, partial_score)


def reference_free(prompt: str | None = None, partial_score: float = 0.5) -> Rubric:
    """Is the prediction right, as far as the judge knows?"""
    return _graded("reference-free", "judge:reference-free", prompt, partial_score)


def faithfulness(prompt: str | None = None) -> Rubric:
    """Does the context bear the prediction out?"""
    support = {"type": "string", "enum": ["supported", "contradicted", "not found"]}
    claim = _object(claim={"type": "string"}, support=support)
    return Rubric(
        "faithfulness",
        "faithfulness",
        _loaded("faithfulness", prompt),
        json.dumps(_object(claims={"type": "array", "items": claim})),
        (FAITHFUL, UNFAITHFUL),
        read_claims,
        {},
    )


def pairwise(prompt: str | None = None) -> Rubric:
    """Which of two answers is better?"""
    labels = Labels("winner", {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}, {}, may_begin=False)
    return Rubric(
        "pairwise",
        "win_rate",
        _loaded("pairwise", prompt),
        _label_schema(labels),
        tuple(labels.scores),
        partial(read_label, labels=labels),
        {"order": "both", "flip": "tie"},
    )


#: The rubrics of a single prediction.
RUBRICS: Mapping[str, Callable[..., Rubric]] = {
    "correctness": correctness,
    "reference-free": reference_free,
    "faithfulness": faithfulness,
}


def make_rubrics(
    names: Sequence[str], prompts: Mapping[str, str], partial_score: float
) -> list[Rubric]:
    """The rubrics of these names.

    Args:
        names: of `RUBRICS`.
        prompts: templates of the user's own, by rubric.
        partial_score: what `partially correct` counts, from 0 to 1.

    Raises:
        OdqaError: no such rubric, one twice, a template that is none or that no rubric asks for.
    """
    if not 0 <= partial_score <= 1:
        raise OdqaError(f"a partial verdict counts from 0 to 1, not {partial_score:g}.")
    if not names or len(set(names)) < len(names):
        raise OdqaError("a rubric is missing or stands twice.", hint=_known())
    for name in (*names, *prompts):
        if name not in RUBRICS:
            raise OdqaError(f"there is no rubric {name!r}.", hint=_known())
    for name in prompts:
        if name not in names:
            raise OdqaError(
                f"a prompt is given for the rubric {name!r}, which is not asked.",
                hint=f"Asked: {', '.join(names)}.",
            )
    rubrics = []
    for name in names:
        options: dict[str, Any] = {"prompt": prompts.get(name)}
        if name != "faithfulness":
            options["partial_score"] = partial_score
        rubrics.append(RUBRICS[name](**options))
    return rubrics


def _known() -> str:
    return f"Rubrics: {', '.join(RUBRICS)}."


def _graded(name: str, metric: str, prompt: str | None, partial_score: float) -> Rubric:
    labels = Labels(
        "verdict",
        {CORRECT: 1.0, PARTIAL: partial_score, INCORRECT: 0.0},
        {"partly correct": PARTIAL, "partial": PARTIAL, "not correct": INCORRECT},
        may_begin=True,
    )
    return Rubric(
        name,
        metric,
        _loaded(name, prompt),
        _label_schema(labels),
        tuple(labels.scores),
        partial(read_label, labels=labels),
        {"partial": f"{partial_score:g}"},
    )


def _loaded(name: str, prompt: str | None) -> Prompt:
    return load_prompt(prompt or f"judge-{name}", f"judge-{name}")


def _label_schema(labels: Labels) -> str:
    # The explanation comes first, so that the verdict can rest on it.
    label = {"type": "string", "enum": list(labels.scores)}
    return json.dumps(_object(explanation={"type": "string"}, **{labels.key: label}))


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

"""KILT's measures over entities: does the title of a relevant document stand in the question, or in
a document that was retrieved?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from odqa_fast.metrics._evidence import containment
from odqa_fast.metrics._match import MatchSettings, match_rule
from odqa_fast.metrics.spec import MetricSpec, Work
from odqa_fast.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics.spec import Outputs, RowFunction

#: Both sides normalized as KILT does it; a title of white space is none; without titles it is 0.
_RULE = replace(containment("normalized", PROFILES["kilt"]), no_gold="zero")


def _question_rows(
    settings: MatchSettings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.match import match

    question, titles = columns["question"], columns["relevant_titles"]
    found = match(question, titles, match_rule(settings), lo, hi, dict(outputs))
    return {"null_questions": found["null_texts"], "null_relevant_titles": found["null_answers"]}


def _document_rows(
    settings: MatchSettings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.retrieval import by_answers

    documents, titles = columns["documents"], columns["relevant_titles"]
    found = by_answers(documents, titles, match_rule(settings), lo, hi, dict(outputs))
    about_documents = {name: n for name, n in found.items() if "document" in name}
    return {**about_documents, "null_relevant_titles": found["null_answers"]}


def _both_rows(
    settings: MatchSettings, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Mapping[str, int]:
    from odqa_fast._kernels.retrieval import by_answers

    documents, answers, titles = (columns[name] for name in _BOTH)
    rule = match_rule(settings)
    return by_answers(documents, answers, rule, lo, hi, dict(outputs), beside=titles)


_BOTH = ("documents", "answers", "relevant_titles")


def _tags(option: str, profile: Profile) -> Mapping[str, str]:
    return {"match": "normalized", "like": "kilt", "null": "zero"}


def _spec(
    metric: str, inputs: tuple[str, ...], rows: RowFunction, output: str, about: str
) -> MetricSpec:
    def work(option: str, profile: Profile) -> Work:
        return Work(rows, inputs, _RULE, output)

    return MetricSpec(
        id=metric,
        about=about,
        inputs=inputs,
        empty_rule="a row without titles or documents scores 0, null titles are not scored; a "
        "title of punctuation stands everywhere",
        source="Petroni et al. 2021, KILT, eval_retrieval.py",
        work=work,
        tags=_tags,
        uses_profile=False,
    )


def _family(metric: str, inputs: tuple[str, ...], rows: RowFunction, about: str) -> MetricSpec:
    @cache
    def at(k: int) -> MetricSpec:
        return _spec(f"{metric}@{k}", inputs, rows, f"hit@{k}", about)

    return replace(_spec(f"{metric}@k", inputs, rows, "", about), at=at)


SPECS = (
    _spec(
        "entity_in_input",
        ("question", "relevant_titles"),
        _question_rows,
        "contains",
        "1 if the title of a relevant document stands in the question, else 0",
    ),
    _family(
        "entity_in_context",
        ("documents", "relevant_titles"),
        _document_rows,
        "1 if the title of a relevant document stands in one of the first k documents, else 0",
    ),
    _family(
        "answer_and_ent_in_context",
        _BOTH,
        _both_rows,
        "1 if one of the first k documents holds an answer and such a title, else 0",
    ),
)

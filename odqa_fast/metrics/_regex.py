"""The metrics of gold answers that are regular expressions (CuratedTREC), row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odqa_fast.metrics._patterns import How, Patterns
from odqa_fast.metrics.resources import Resources
from odqa_fast.metrics.spec import Tally, Work
from odqa_fast.profiles import Profile

if TYPE_CHECKING:
    from odqa_fast._kernels.columns import Column
    from odqa_fast.metrics._match import TextColumn
    from odqa_fast.metrics.spec import Outputs


@dataclass(frozen=True)
class _Rules:
    how: How
    column: str
    steps: tuple[str, ...]
    no_gold: str


@dataclass(frozen=True)
class _Opened:
    """The rules of one pass, and its patterns, which go from range to range as they compile."""

    rules: _Rules
    patterns: Patterns


def _open(rules: _Rules, resources: Resources) -> _Opened:
    return _Opened(rules, Patterns(rules.how, resources.regex_seconds))


def regex_text_work(output: str, column: TextColumn, how: How, profile: Profile) -> Work:
    """The work for one text a row: 1 where a pattern matches it."""
    zero = column == "summary" or profile.no_gold == "zero"
    rules = _Rules(how, column, profile.steps, "zero" if zero else "null")
    return Work(_text_rows, (column, "answers"), rules, output, _open)


def regex_evidence_work(output: str) -> Work:
    """The work for the documents of a row, by DPR's rule; outputs as for `evidence_work`."""
    rules = _Rules("search", "documents", (), "zero")
    return Work(_evidence_rows, ("documents", "answers"), rules, output, _open)


def _golds(answers: list[str | None] | None, counts: Tally) -> list[str | None] | None:
    """The answers; an empty list where there is none among them."""
    if answers is None:
        counts["null_answers"] += 1
        return None
    nulls = answers.count(None)
    counts["null_answer_items"] += nulls
    counts["empty_golds"] += answers.count("")
    if nulls == len(answers):
        counts["empty_answers"] += 1
        return []
    return answers


def _text_rows(
    opened: _Opened, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Tally:
    counts = Tally(_NO_ANSWERS)
    rules, patterns = opened.rules, opened.patterns
    (out,) = outputs.values()
    texts = [columns[rules.column].value(row) for row in range(lo, hi)]
    counts[_NULLS[rules.column]] = texts.count(None)
    if rules.how in ("full", "inside"):
        texts = list(_normalized(texts, rules.steps))
    # In Python and once a row: every call counts.
    answers, find, scores = columns["answers"].value, patterns.find, []
    for row, text in enumerate(texts, lo):
        golds = answers(row)
        if not golds or None in golds or "" in golds:
            golds = _golds(golds, counts)
        score = 0.0
        if golds is None or (not golds and rules.no_gold == "null"):
            score = np.nan
        elif text is not None:
            seen = patterns.text(text)
            for gold in golds:
                if gold is not None and find(gold, seen, counts) is not None:
                    score = 1.0
                    break
        scores.append(score)
    out[lo:hi] = scores
    return counts


#: Shown also where there are none.
_NO_ANSWERS = {"null_answer_items": 0, "empty_answers": 0, "empty_golds": 0}
_NULLS = {"prediction": "null_predictions", "summary": "null_summaries"}


def _normalized(texts: Sequence[str | None], steps: tuple[str, ...]) -> Iterator[str | None]:
    import pyarrow as pa

    from odqa_fast._kernels.columns import Column
    from odqa_fast._kernels.normalize import normalize

    array = pa.array(texts, pa.large_string())
    offsets, data = normalize(Column("texts", array), steps)
    edges = np.frombuffer(offsets, np.int64)
    for at, text in enumerate(texts):
        yield None if text is None else data[edges[at] : edges[at + 1]].decode()


def _evidence_rows(
    opened: _Opened, columns: Mapping[str, Column], lo: int, hi: int, outputs: Outputs
) -> Tally:
    """Scores the rows [lo, hi) of `outputs`, as the kernel does for other ways to match."""
    counts = Tally(_NO_ANSWERS)
    places = {"document", "answer", "position"} & set(outputs)
    measures = [(name, *_measure(name)) for name in outputs if name not in places]
    depth = max((k for _, _, k in measures), default=np.inf)
    first_only = all(measure in ("hit", "mrr") for _, measure, _ in measures)
    for row in range(lo, hi):
        for place in places:
            outputs[place][row] = np.nan
        documents = columns["documents"].value(row)
        counts["null_documents"] += documents is None
        counts["no_documents"] += documents == []
        golds = _golds(columns["answers"].value(row), counts)
        if golds is None:
            for name, _, _ in measures:
                outputs[name][row] = np.nan
            continue
        ranks: list[int] = []
        for rank, text in enumerate(documents or (), 1):
            if rank > depth or (first_only and ranks):
                break
            counts["null_document_texts"] += text is None
            hit = None if text is None else _first(opened.patterns, golds, text, counts)
            if hit is None:
                continue
            if not ranks and places:
                outputs["document"][row] = rank - 1
                outputs["answer"][row], outputs["position"][row] = hit
            ranks.append(rank)
        for name, measure, k in measures:
            outputs[name][row] = _value(measure, k, ranks, len(documents or ()))
    return counts


def _first(
    patterns: Patterns, golds: Sequence[str | None], text: str, counts: Tally
) -> tuple[int, int] | None:
    seen = patterns.text(text)
    for index, gold in enumerate(golds):
        if gold is not None and (at := patterns.find(gold, seen, counts)) is not None:
            return index, at
    return None


def _measure(name: str) -> tuple[str, float]:
    measure, _, k = name.partition("@")
    return measure, float(k or "inf")


def _value(measure: str, k: float, ranks: list[int], retrieved: int) -> float:
    """As `Ranking::value` in src/core/ranking.hpp."""
    if measure == "noise":
        return 1 - _value("share", k, ranks, retrieved)
    found = sum(rank <= k for rank in ranks)
    if measure == "share":
        return found / min(k, retrieved) if retrieved else float("nan")
    if found == 0:
        return 0.0
    return {"hit": 1.0, "mrr": 1 / ranks[0], "precision": found / k}[measure]

"""Judges held against one another, against surface metrics and against people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.judge.ratings import Opinion
from odqa_fast.judge.rubric import CORRECT
from odqa_fast.judge.verdict import FAITHFUL
from odqa_fast.stats import agreement, intervals

#: One column of verdicts on rows: 1 right, 0 not right, -1 unknown.
Calls = npt.NDArray[np.int64]


def calls_of(opinion: Opinion) -> Calls:
    """A judge's verdicts as right or not: `correct` alone is right."""
    right = opinion.rubric.labels.index(CORRECT)
    return np.where(opinion.codes < 0, -1, opinion.codes == right).astype(np.int64)


def calls_at(scores: npt.NDArray[np.float64], least: float) -> Calls:
    """Scores as right or not: from `least` on."""
    return np.where(np.isnan(scores), -1, scores >= least).astype(np.int64)


def pairs(columns: Mapping[str, Calls], references: Mapping[str, Calls]) -> list[dict[str, Any]]:
    """How every column agrees with every reference: accuracy and Cohen's kappa over the rows on
    which both say something, and the counts."""
    rows = []
    for reference, right in references.items():
        for name, calls in columns.items():
            known = (calls >= 0) & (right >= 0)
            table = agreement.contingency(calls[known], right[known], 2)
            rows.append(
                {
                    "of": name,
                    "with": reference,
                    "accuracy": agreement.accuracy(table).as_dict(),
                    "kappa": agreement.cohen_kappa(table).as_dict(),
                    "both": int(table[1, 1]),
                    "first_alone": int(table[1, 0]),
                    "second_alone": int(table[0, 1]),
                    "neither": int(table[0, 0]),
                }
            )
    return rows


def among(opinions: Sequence[Opinion]) -> dict[str, Any]:
    """How judges agree over all labels of a rubric, on the rows that all of them judged: Cohen's
    kappa of two, Fleiss's of more."""
    codes = np.stack([opinion.codes for opinion in opinions])
    codes = codes[:, (codes >= 0).all(axis=0)]
    n_labels = len(opinions[0].rubric.labels)
    if len(opinions) == 2:
        table = agreement.contingency(codes[0], codes[1], n_labels)
        kind, kappa = "Cohen's kappa", agreement.cohen_kappa(table)
    else:
        counts = np.stack([(codes == label).sum(axis=0) for label in range(n_labels)], axis=1)
        kind, kappa = "Fleiss's kappa", agreement.fleiss_kappa(counts)
    agreed = int((codes == codes[0]).all(axis=0).sum())
    return {
        "judges": [opinion.judge for opinion in opinions],
        "all_agree": intervals.share(agreed, codes.shape[1]).as_dict(),
        "kappa": {"kind": kind, **kappa.as_dict()},
    }


def confusion(opinion: Opinion, calls: Calls) -> dict[str, dict[str, int]]:
    """Rows by a judge's verdict (or its lack) and what people said."""
    said = {"correct": calls == 1, "not correct": calls == 0}
    labels = {label: opinion.codes == code for code, label in enumerate(opinion.rubric.labels)}
    labels["no verdict"] = opinion.codes < 0
    return {
        label: {name: int((rows & people).sum()) for name, people in said.items()}
        for label, rows in labels.items()
    }


def grounding(faithful: Opinion, correct: Opinion) -> dict[str, Any]:
    """Rows by whether the context bears the prediction out and whether it is right."""
    borne = faithful.codes == faithful.rubric.labels.index(FAITHFUL)
    right = correct.codes == correct.rubric.labels.index(CORRECT)
    known = (faithful.codes >= 0) & (correct.codes >= 0)
    cells = {
        "grounded and right": borne & right,
        "grounded in a wrong document": borne & ~right,
        "right from memory": ~borne & right,
        "neither": ~borne & ~right,
    }
    n = int(known.sum())
    return {
        "by": {"faithful": faithful.column, "correct": correct.column},
        "rows": n,
        "cells": {
            name: {"rows": (rows := int((cell & known).sum())), "share": rows / n if n else None}
            for name, cell in cells.items()
        },
    }


def corrected(opinion: Opinion, people: npt.NDArray[np.float64]) -> dict[str, Any] | None:
    """The mean score of all rows, the judge set right by people where they judged a part; None
    where they judged none, or all."""
    scores = opinion.scores
    judged = ~np.isnan(scores)
    labelled, rest = judged & ~np.isnan(people), judged & np.isnan(people)
    if labelled.sum() < 2 or rest.sum() < 2:
        return None
    powered = intervals.prediction_powered(people[labelled], scores[labelled], scores[rest])
    return {
        "prediction_powered": powered.as_dict(),
        "people_alone": intervals.mean(people[labelled]).as_dict(),
        "n_people": int(labelled.sum()),
    }

"""Judges held against one another, against surface metrics and against people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.judge.ratings import Ratings
from odqa_fast.stats import agreement, intervals

#: One column of verdicts on rows: 1 right, 0 not right, -1 unknown.
Calls = npt.NDArray[np.int64]


def calls_of(ratings: Ratings, said: Sequence[str]) -> Calls:
    """A judge's verdicts as calls: whether each is one of the labels that say so."""
    codes = [ratings.rubric.labels.index(label) for label in said]
    return np.where(ratings.codes < 0, -1, np.isin(ratings.codes, codes)).astype(np.int64)


def calls_at(scores: npt.NDArray[np.float64], least: float) -> Calls:
    """Scores as right or not: from `least` on."""
    return np.where(np.isnan(scores), -1, scores >= least).astype(np.int64)


def compare_columns(
    columns: Mapping[str, Calls], references: Mapping[str, Calls]
) -> list[dict[str, Any]]:
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


def compare_judges(ratings: Sequence[Ratings]) -> dict[str, Any]:
    """How judges agree over all labels of a rubric, on the rows that all of them judged: Cohen's
    kappa of two, Fleiss's of more."""
    codes = np.stack([each.codes for each in ratings])
    codes = codes[:, (codes >= 0).all(axis=0)]
    n_labels = len(ratings[0].rubric.labels)
    if len(ratings) == 2:
        table = agreement.contingency(codes[0], codes[1], n_labels)
        kind, kappa = "Cohen's kappa", agreement.cohen_kappa(table)
    else:
        counts = np.stack([(codes == label).sum(axis=0) for label in range(n_labels)], axis=1)
        kind, kappa = "Fleiss's kappa", agreement.fleiss_kappa(counts)
    agreed = int((codes == codes[0]).all(axis=0).sum())
    return {
        "judges": [each.judge for each in ratings],
        "all_agree": intervals.share(agreed, codes.shape[1]).as_dict(),
        "kappa": {"kind": kind, **kappa.as_dict()},
    }


def count_confusion(ratings: Ratings, calls: Calls) -> dict[str, dict[str, int]]:
    """Rows by a judge's verdict (or its lack) and what people said."""
    said = {"correct": calls == 1, "not correct": calls == 0}
    labels = {label: ratings.codes == code for code, label in enumerate(ratings.rubric.labels)}
    labels["no verdict"] = ratings.codes < 0
    return {
        label: {name: int((rows & people).sum()) for name, people in said.items()}
        for label, rows in labels.items()
    }


def count_grounding(faithful: Ratings, correct: Ratings) -> dict[str, Any]:
    """Rows by whether the context bears the prediction out and whether it is right."""
    grounded = calls_of(faithful, faithful.rubric.grounded)
    called_right = calls_of(correct, correct.rubric.right)
    known = (grounded >= 0) & (called_right >= 0)
    borne, right = grounded == 1, called_right == 1
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


def correct_mean(ratings: Ratings, people: npt.NDArray[np.float64]) -> dict[str, Any] | None:
    """The mean score of all rows, the judge set right by people where they judged a part; None
    where they judged none, or all."""
    scores = ratings.scores
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

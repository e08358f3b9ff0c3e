"""Where the rows of a dump went wrong: what was retrieved, kept by the compressor, and answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

#: What a row is called when a step went right, and when it did not.
WORDS = {
    "retrieved": ("retrieved", "missed"),
    "kept": ("kept", "lost"),
    "answered": ("answered", "wrong"),
}


@dataclass(frozen=True)
class DiagnoseOptions:
    """What counts as retrieved, kept and answered.

    Attributes:
        top_k: how many of the documents are looked at; all where None.
        evidence: when a document or the summary holds an answer.
        answered: the metric that must be 1.
    """

    top_k: int | None = None
    evidence: Literal["token", "raw", "normalized", "regex"] = "token"
    answered: Literal["em", "contains", "em:regex", "contains:regex"] = "em"


@dataclass(frozen=True)
class Cell:
    """The rows of one outcome; `kept` is None where there was no summary to keep anything in."""

    retrieved: bool
    kept: bool | None
    answered: bool
    rows: int
    share: float | None
    f1: float | None

    @property
    def label(self) -> str:
        """The outcome in words, e.g. `retrieved lost wrong`: what a row of it is labelled."""
        return label_of(self.retrieved, self.kept, self.answered)

    @property
    def informed(self) -> bool:
        """Whether an answer stood in what the reader was given: the summary if there was one."""
        return self.retrieved if self.kept is None else self.kept


def label_of(retrieved: bool, kept: bool | None, answered: bool) -> str:
    """An outcome in words."""
    outcome = {"retrieved": retrieved, "kept": kept, "answered": answered}
    return " ".join(WORDS[step][not went] for step, went in outcome.items() if went is not None)


@dataclass(frozen=True)
class Diagnosis:
    """The outcomes of a dump.

    Attributes:
        options: what counted as what.
        cells: one per outcome, best first; their rows and `unlabelled` add up to the rows.
        unlabelled: rows without answers, of which nothing can be told.
    """

    options: DiagnoseOptions
    cells: tuple[Cell, ...]
    unlabelled: int

    @property
    def findings(self) -> dict[str, float | int | None]:
        """What the cells say, rows as counts and all else as shares of the labelled rows.

        `perfect_*_adds` is what a stage without fault would add to the answered rows at most: a
        wrong row is put down to the first stage that had what it needed and did not deliver, so
        the three add up to all that is wrong.
        """
        total = sum(cell.rows for cell in self.cells)

        def rows(cells: list[Cell]) -> int:
            return sum(cell.rows for cell in cells)

        def share(cells: list[Cell]) -> float | None:
            return rows(cells) / total if total else None

        wrong = [cell for cell in self.cells if not cell.answered]
        uninformed = [cell for cell in wrong if not cell.informed]
        findings: dict[str, float | int | None] = {
            "labelled_rows": total,
            "answered": share([cell for cell in self.cells if cell.answered]),
            # From memory, or by luck: nothing the reader was given holds an answer.
            "answered_without_evidence": rows(
                [cell for cell in self.cells if cell.answered and not cell.informed]
            ),
            "perfect_retriever_adds": share([c for c in uninformed if not c.retrieved]),
            "perfect_reader_adds": share([cell for cell in wrong if cell.informed]),
        }
        if any(cell.kept is not None for cell in self.cells):
            findings["kept_although_not_retrieved"] = rows(
                [cell for cell in self.cells if cell.kept and not cell.retrieved]
            )
            findings["perfect_compressor_adds"] = share([c for c in uninformed if c.retrieved])
        return findings

    def as_dict(self) -> dict[str, Any]:
        """What `summary.json` holds."""
        return {
            "top_k": self.options.top_k,
            "evidence": self.options.evidence,
            "answered": self.options.answered,
            "cells": [
                {
                    "label": cell.label,
                    "retrieved": cell.retrieved,
                    "kept": cell.kept,
                    "answered": cell.answered,
                    "rows": cell.rows,
                    "share": cell.share,
                    "f1": cell.f1,
                }
                for cell in self.cells
            ],
            "unlabelled": self.unlabelled,
            "findings": self.findings,
        }

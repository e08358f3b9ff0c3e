"""Reading dumps of any format, from files and from memory, as canonical record batches.

A canonical batch has columns of `schema.SAMPLES`: text as utf8 or large_utf8, answers as (large)
lists of text, documents as (large) lists of structs with at least `text`, numbers as float64.
"""

from __future__ import annotations

from odqa_fast.io.dump import Dump, open_dump
from odqa_fast.io.join import AnswerTable
from odqa_fast.io.memory import Data, canonical_batches
from odqa_fast.io.options import ReadCounts, ReadOptions, Rejected

__all__ = [
    "AnswerTable",
    "Data",
    "Dump",
    "ReadCounts",
    "ReadOptions",
    "Rejected",
    "canonical_batches",
    "open_dump",
]

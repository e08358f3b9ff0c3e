"""`odqa-fast answer`: the questions of a dump to predictions."""

from __future__ import annotations

from odqa_fast.cli._command import command_of
from odqa_fast.steps.job import AnswerJob

command = command_of(AnswerJob)

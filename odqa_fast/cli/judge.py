"""`odqa-fast judge`: a dump, or the pairs of two, judged by models."""

from __future__ import annotations

from odqa_fast.cli._command import command_of
from odqa_fast.judge.job import JudgeJob

command = command_of(JudgeJob)

"""`odqa-fast levels`: compress to each level, check, answer from that alone, score."""

from __future__ import annotations

from odqa_fast.cli._command import command_of
from odqa_fast.levels.job import LevelsJob

command = command_of(LevelsJob)

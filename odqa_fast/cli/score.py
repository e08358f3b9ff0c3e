"""`odqa-fast score`: a dump to its scores."""

from __future__ import annotations

from odqa_fast.cli._command import command_of
from odqa_fast.scoring.job import ScoreJob

command = command_of(ScoreJob)

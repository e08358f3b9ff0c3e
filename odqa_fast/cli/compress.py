"""`odqa-fast compress`: the documents of a dump to summaries."""

from __future__ import annotations

from odqa_fast.cli._command import command_of
from odqa_fast.steps.job import CompressJob

command = command_of(CompressJob)

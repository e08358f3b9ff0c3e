"""`odqa-fast noise`: a dump with noise that is known, and the manifest of it."""

from __future__ import annotations

from odqa_fast.cli._command import command_of
from odqa_fast.noise.job import NoiseJob

command = command_of(NoiseJob)

"""Noise that is known: what was put where, and how to take it out again."""

from __future__ import annotations

from odqa_fast.noise.add import NoiseOptions, add_noise
from odqa_fast.noise.manifest import Noised, Piece, restored

__all__ = ["NoiseOptions", "Noised", "Piece", "add_noise", "restored"]

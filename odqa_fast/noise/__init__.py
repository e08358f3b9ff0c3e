"""Noise that is known: what was put where, and how to take it out again."""

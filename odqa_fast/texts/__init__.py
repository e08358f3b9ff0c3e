"""Texts of a dump, their questions, sentences and words: what steps, noise and levels share."""

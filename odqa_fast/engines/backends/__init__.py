"""Engines, one file each; see `engines.opening`."""

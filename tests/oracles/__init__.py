"""Slow, obvious Python twins of the metrics, written from the description of the reference scorers.

They share nothing with the product: a kernel that agrees with them agrees with the text.
`test_oracles.py` holds them against what the reference scorers returned.
"""

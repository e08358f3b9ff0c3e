"""Constrained compression: noise in, levels of compression, the ratio check, answers, scores."""

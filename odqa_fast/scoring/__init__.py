"""From batches to scores: what to compute (plan), how (run), and the means (aggregate)."""

"""What a run took, in figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from odqa_fast.engines.base import Reply


def describe_seconds(seconds: Sequence[float]) -> dict[str, float | int]:
    """Mean, median and percentiles (interpolated linearly) of some seconds; nothing of none."""
    if not seconds:
        return {"n": 0}
    p50, p90, p99 = (float(p) for p in np.percentile(seconds, [50, 90, 99]))
    mean = float(np.mean(seconds))
    return {"n": len(seconds), "mean": mean, "median": p50, "p90": p90, "p99": p99}


def measure_throughput(replies: Sequence[Reply]) -> dict[str, float | int | None]:
    """Tokens of prompts and replies, and how many of each a second of generating."""
    tokens_in, tokens_out = (
        sum(reply.tokens_in for reply in replies),
        sum(reply.tokens_out for reply in replies),
    )
    seconds = sum(reply.seconds for reply in replies)
    return {
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "seconds": seconds,
        "tokens_in_per_second": tokens_in / seconds if seconds else None,
        "tokens_out_per_second": tokens_out / seconds if seconds else None,
    }

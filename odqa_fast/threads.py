"""How many threads to use: as asked, as the environment says, or all that this process may have."""

from __future__ import annotations

import math
import operator
import os
from pathlib import Path

from odqa_fast.errors import OdqaError

#: A container's share of the processors (cgroup v2): microseconds it may compute in each period.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def thread_count(asked: int | None = None, default_at_most: int | None = None) -> int:
    """The number asked for; else `ODQA_FAST_THREADS`; else the processors this process may use, but
    no more than `OMP_NUM_THREADS`.

    Args:
        asked: what the caller says.
        default_at_most: how many are worth while where nobody says.

    Raises:
        OdqaError: a number that is none, or below 1.
    """
    if asked is not None:
        return _number("threads", asked)
    if wanted := os.environ.get("ODQA_FAST_THREADS", "").strip():
        return _number("ODQA_FAST_THREADS", wanted)
    limits = [usable_processors()]
    if default_at_most is not None:
        limits.append(default_at_most)
    # One number for each level of nested threads: ours are the first.
    if outer := os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip():
        limits.append(_number("OMP_NUM_THREADS", outer))
    return min(limits)


def usable_processors() -> int:
    """Processors this process may run on, or the share of their time that it may have."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text().split()
        return min(here, math.ceil(int(quota) / int(period)))
    except (OSError, ValueError):  # none of this system, or "max"
        return here


def _number(name: str, value: int | str) -> int:
    try:
        number = int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise OdqaError(f"{name} must be a whole number, 1 or more, not {value!r}.")
    return number

"""The option of threads, for commands whose work they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from odqa_fast.option import Option, Options


@dataclass(frozen=True, kw_only=True)
class Threads(Options):
    """How many threads do the work."""

    threads: Annotated[
        int | None,
        Option(
            "By default $ODQA_FAST_THREADS, or all processors; no more than these, or 16, start. "
            "Changes no number.",
            low=1,
            changes_nothing=True,
        ),
    ] = None

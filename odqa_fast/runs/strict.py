"""Whether failures are accepted: the option, and what they mean for how a command ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from odqa_fast.errors import EngineError, GateError
from odqa_fast.option import Option, Options


@dataclass(frozen=True, kw_only=True)
class Strict(Options):
    """Whether a run may have failures."""

    strict: Annotated[
        bool,
        Option("Exit with 1 if anything failed; the output is written.", changes_nothing=True),
    ] = False

    def accept(self, n_failed: int, of: int, what: str, *, every: bool) -> None:
        """Accepts the failures of a run, whose output is there by now, or raises.

        Args:
            n_failed: how many failed.
            of: of how many.
            what: what they are called.
            every: whether nothing came of any that was asked.

        Raises:
            EngineError: nothing came of any.
            GateError: some failed, and none may.
        """
        if n_failed and every:
            raise EngineError(f"nothing came of any of the {what}: {n_failed} of {of} failed.")
        if n_failed and self.strict:
            raise GateError(f"{n_failed} {what} failed, and --strict was given.")

"""The option of where models' replies are kept, for commands that keep them for each other."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

from odqa_fast.option import Option, Options


@dataclass(frozen=True, kw_only=True)
class Cache(Options):
    """Where replies are kept, so that a later run does not ask again."""

    cache: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "File of models' replies; by default one in your cache folder.", changes_nothing=True
        ),
    ] = None

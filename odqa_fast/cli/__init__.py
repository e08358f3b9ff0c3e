"""The command line: one module per command; only this package prints, exits or knows colours."""

from __future__ import annotations

import os

from odqa_fast.cli._errors import reported


def main() -> None:
    """The `odqa-fast` program."""
    # Arrow's allocator otherwise keeps what it freed: more memory than the data, for nothing here.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "0")
    # The import is inside, so that an interrupt during it is one line as well.
    with reported():
        from odqa_fast.cli.main import app

        app()

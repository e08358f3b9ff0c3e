"""The command line: one module per command; only this package prints, exits or knows colours."""

from __future__ import annotations

import os

from odqa_fast.cli._errors import reported


def main() -> None:
    """The `odqa-fast` program."""
    # How long Arrow's allocator keeps what was freed, in milliseconds: by its default so long that
    # the peak is half as high again, at 0 the same pages are faulted in for every batch.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "100")
    # The import is inside, so that an interrupt during it is one line as well.
    with reported():
        from odqa_fast.cli.main import app

        app()

"""Errors as one line on stderr and the exit code that belongs to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from odqa_fast.errors import OdqaError

INTERRUPTED = 130
CLOSED_PIPE = 141


@contextmanager
def reported() -> Iterator[None]:
    """Turns what a user can cause into a message and an exit code; anything else is our fault and
    keeps its traceback."""
    try:
        yield
    except OdqaError as error:
        # User text may hold anything; a line is a line.
        message = " ".join(str(error).splitlines())
        print(f"odqa-fast: {message}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("odqa-fast: interrupted; nothing was written.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader has enough. Python would complain again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)

"""Errors as one line on stderr and the exit code that belongs to them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from odqa_fast.errors import EngineError, OdqaError

#: 128 and the number of the signal: 130 of Ctrl-C.
SIGNALLED = 128
CLOSED_PIPE = 141


@contextmanager
def reported() -> Iterator[None]:
    """Turns what a user can cause into a message and an exit code; anything else is our fault and
    keeps its traceback."""
    try:
        with _ended_like_ctrl_c():
            yield
    except OdqaError as error:
        tell(str(error))
        sys.exit(error.exit_code)
    except ImportError as error:
        tell(f"{error}")
        sys.exit(EngineError.exit_code)
    except MemoryError as error:
        # Arrow's says how much was asked for; C++'s only names its class.
        asked = f" ({error})" if str(error) not in ("", "std::bad_alloc") else ""
        tell(
            f"the memory of this machine does not suffice{asked}. "
            "Fewer --threads or shorter rows would need less."
        )
        sys.exit(EngineError.exit_code)
    except KeyboardInterrupt as error:
        tell("interrupted; a run is written whole or not at all.")
        # An interrupt inside `exec` of a text (while an import makes a dataclass) leaves a mark by
        # which CPython ends a process of `-m` with SIGINT; the next such `exec` takes it away.
        exec("")
        sys.exit(SIGNALLED + (error.args[0] if error.args else signal.SIGINT))
    except BrokenPipeError:
        # The reader has enough.
        drop_stdout()
        sys.exit(CLOSED_PIPE)


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP clean up as SIGINT does; one that is ignored (nohup) stays so."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [signal.Signals[name] for name in names]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    numbers = [each for each in numbers if signal.getsignal(each) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def tell(message: str) -> None:
    """Writes one line to stderr: a name or an id in it may hold line ends and escapes."""
    line = "".join(c if c.isprintable() else _shown(c) for c in " ".join(message.splitlines()))
    if sys.stderr is not None:
        # Where nobody can be told, the exit code still says it.
        with suppress(OSError):
            print(f"odqa-fast: {line}", file=sys.stderr)


def _shown(character: str) -> str:
    return " " if character.isspace() else repr(character)[1:-1]


def drop_stdout() -> None:
    """Lets go of what stdout did not take: Python would complain again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Ends a program that opens a socket that is not local: `python no_network.py COMMAND ...`.

By a seccomp filter, which needs no rights and no tools, and which everything inherits that the
program starts (Linux, https://docs.kernel.org/userspace-api/seccomp_filter.html). The process then
dies of SIGSYS, whatever it would have done about a failure.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

#: machine -> (AUDIT_ARCH_*, the number of socket(2)).
_ARCHITECTURES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data
_AF_UNIX = 1


def _filter() -> bytes:
    architecture, socket = _ARCHITECTURES[platform.machine()]
    steps = [
        # code, jump where equal, jump where not, operand
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 5, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 3, socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 1, 0, _AF_UNIX),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def forbid() -> None:
    """From here on this process and its children may open local sockets alone.

    Raises:
        OSError: the kernel does not take the filter.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    steps = _filter()
    held = ctypes.create_string_buffer(steps, len(steps))
    program = struct.pack("<H6xQ", len(steps) // 8, ctypes.addressof(held))
    calls = (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0),
    )
    for call in calls:
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def why_not() -> str | None:
    """Why sockets cannot be forbidden here; None where a look-up and a socket end a program."""
    if sys.platform != "linux" or platform.machine() not in _ARCHITECTURES:
        return f"no seccomp filter for {sys.platform} on {platform.machine()}"
    opens = "import socket; socket.socket()"
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), sys.executable, "-c", opens],
        capture_output=True,
        check=False,
    )
    return None if done.returncode == -31 else f"the kernel takes no seccomp filter: {done}"


if __name__ == "__main__":
    forbid()
    os.execvp(sys.argv[1], sys.argv[1:])

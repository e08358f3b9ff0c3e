"""Where results may go: what no output may be named, stand on, or replace."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow.fs as pafs

from odqa_fast.errors import OdqaError, OutputError
from odqa_fast.io.formats import list_suffixes, name_form
from odqa_fast.io.input_paths import Input, find
from odqa_fast.option import Paths

Out = str | os.PathLike[str]


def output_file(out: Out, forms: Sequence[str], *inputs: Paths | None) -> Path:
    """A file to write, looked at before any work is done for it.

    Args:
        out: its path.
        forms: what is written; by the name where there are several.
        inputs: what is read, each as for `input_paths.find`.

    Raises:
        OdqaError: the name means something else, or it is one of the inputs.
        OutputError: something that is no regular file stands there.
        DataError: an input is not there.
    """
    path = _check_name(out)
    meant = name_form(path.name)
    if meant is not None and meant not in forms:
        suffixes = " or ".join(list_suffixes(form)[0] for form in forms)
        raise OdqaError(
            f"the name means {meant}, but what is written is {' or '.join(forms)}.",
            where=str(path),
            hint=f"End it in {suffixes}, or in nothing.",
        )
    file_at(path)
    _spare(path, inputs)
    return path


def output_folder(out: Out | None, *inputs: Paths | None) -> Path | None:
    """A folder to write, or None for none; `folders.WholeFolder` says what may stand there.

    Raises:
        OdqaError: the name means something else, or one of the inputs lies there.
        DataError: an input is not there.
    """
    if out is None:
        return None
    path = _check_name(out)
    _spare(path, inputs)
    return path


def file_at(path: Path) -> Path:
    """The file that a path means, through links: it is replaced, and not the link.

    Raises:
        OutputError: a folder, pipe, device or socket stands there.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"could not be written: {reason}.", where=str(path)) from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise OutputError(f"is {what}.", where=str(path), hint="--out takes a file to write.")
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _check_name(out: Out) -> Path:
    path = Path(out)
    if str(path) == "-" or not path.name:
        # An empty name is '.', the folder that the program runs in.
        what = "'-' (standard output)" if str(path) == "-" else repr(str(path))
        raise OdqaError(f"--out takes a name, and {what} is none.", hint="E.g. --out result")
    return path


def _spare(out: Path, inputs: Sequence[Paths | None]) -> None:
    try:
        there = out.stat()
    except OSError:
        return  # nothing is there that could be an input
    for file in (file for paths in inputs if paths is not None for file in find(paths)):
        if any(os.path.samestat(there, replaced) for replaced in _find_replaced(file)):
            raise OdqaError(
                f"writing would replace the input {file.name!r}.",
                where=str(out),
                hint="Name another --out (in Python out=).",
            )


def _find_replaced(file: Input) -> Iterator[os.stat_result]:
    """What must not be replaced for the sake of an input: its file, and the folder it lies in."""
    with suppress(OSError, ValueError):  # it may be gone, or standard input no file
        if file.path is None:
            yield os.fstat(sys.stdin.fileno())
        elif file.filesystem is None or isinstance(file.filesystem, pafs.LocalFileSystem):
            path = os.path.realpath(file.path)
            yield os.stat(path)
            yield os.stat(os.path.dirname(path))

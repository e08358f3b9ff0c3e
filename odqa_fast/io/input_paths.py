"""Where the bytes of a dump lie: files, globs, folders, file systems, standard input."""

from __future__ import annotations

import glob
import os
import re
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from odqa_fast.errors import DataError
from odqa_fast.io.source import Readable
from odqa_fast.option import Paths


@dataclass(frozen=True)
class Input:
    """One input.

    Attributes:
        name: what to call it in errors.
        size: bytes, None where unknown (pipes).
        path: the path on its file system; None for standard input.
        filesystem: None for local files.
    """

    name: str
    size: int | None
    path: str | None
    filesystem: pafs.FileSystem | None = None

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """Open for reading from start to end.

        Raises:
            DataError: it cannot be opened.
        """
        if self.path is None:
            if sys.stdin is None:
                raise DataError("is closed.", where=self.name, hint="Name a file, or pipe one in.")
            yield sys.stdin.buffer
            return
        with _explain_errors(self.name):
            stream: Readable = (
                open(self.path, "rb", buffering=0)
                if self.filesystem is None
                else self.filesystem.open_input_stream(self.path, compression=None)
            )
        try:
            yield stream
        finally:
            cast(pa.NativeFile, stream).close()

    def random_access(self, mapped: bool) -> pa.NativeFile | None:
        """Open for reading at any place; None where that cannot be (pipes)."""
        if self.path is None or self.size is None:
            return None
        with _explain_errors(self.name):
            if self.filesystem is not None:
                return self.filesystem.open_input_file(self.path)
            return pa.memory_map(self.path) if mapped else pa.OSFile(self.path)


def find(paths: Paths) -> list[Input]:
    """List the inputs that paths, globs, folders and URIs name, in order.

    The files of a glob or folder stand in the order of `make_sort_key`.

    Raises:
        DataError: something is not there or cannot be looked at.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [each for path in given for each in _find(os.fspath(path))]


def _find(path: str) -> list[Input]:
    if path == "-":
        return [Input("standard input", None, None)]
    if "://" in path:
        return _find_remote(path)
    if not os.path.exists(path) and glob.has_magic(path):
        files = sorted(filter(os.path.isfile, glob.glob(path, recursive=True)), key=make_sort_key)
        if not files:
            raise DataError("matches no file.", where=path, hint="Check the pattern.")
        return [each for file in files for each in _find(file)]
    with _explain_errors(path):
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            size = status.st_size if stat.S_ISREG(status.st_mode) else None
            return [Input(path, size, path)]
        names = [name for name in os.listdir(path) if not name.startswith(".")]
        names.sort(key=make_sort_key)
    files = list(filter(os.path.isfile, (os.path.join(path, name) for name in names)))
    if not files:
        raise DataError("the folder holds no file.", where=path, hint="Name a file or a glob.")
    return [each for file in files for each in _find(file)]


def _find_remote(uri: str) -> list[Input]:
    _reach(uri)
    with _explain_errors(uri):
        filesystem, path = pafs.FileSystem.from_uri(uri)
        info = filesystem.get_file_info(path)
        if info.type == pafs.FileType.NotFound:
            raise FileNotFoundError("no such file")
        if info.type != pafs.FileType.Directory:
            return [Input(uri, info.size, path, filesystem)]
        inside = filesystem.get_file_info(pafs.FileSelector(path))
    infos = sorted(
        (i for i in inside if i.type == pafs.FileType.File and not i.base_name.startswith(".")),
        key=lambda i: make_sort_key(i.base_name),
    )
    if not infos:
        raise DataError("the folder holds no file.", where=uri, hint="Name a file or a glob.")
    return [Input(f"{uri.rstrip('/')}/{i.base_name}", i.size, i.path, filesystem) for i in infos]


def make_sort_key(name: str) -> tuple[list[str | int], str]:
    """Sort key of names in which numbers count as numbers: part-2 before part-10."""
    # Every second piece is a number, so that pieces of one kind meet.
    pieces = re.split("([0-9]+)", name)
    return [int(piece) if i % 2 else piece for i, piece in enumerate(pieces)], name


#: File systems themselves go on for minutes, and do not say whom they ask.
_CONNECT_SECONDS = 10.0


def _reach(uri: str) -> None:
    """Find out soon whether the host that a URI names is there."""
    endpoint = _endpoint(uri)
    if endpoint is None:
        return
    try:
        socket.create_connection(endpoint, _CONNECT_SECONDS).close()
    except OSError as error:
        host, port = endpoint
        raise DataError(
            f"the host {host}, port {port}, cannot be reached: {error.strerror or error}.",
            where=uri,
            hint="Check its name, and the network.",
        ) from None


def _endpoint(uri: str) -> tuple[str, int] | None:
    """The host and port that a URI names, if it names them."""
    try:
        parts = urlsplit(uri)
        options = dict(parse_qsl(parts.query))
        if named := options.get("endpoint_override"):
            scheme = options.get("scheme", "https")
            at = urlsplit(named if "://" in named else f"{scheme}://{named}")
            default = 80 if at.scheme == "http" else 443
        else:
            # A name of HDFS without a port may stand for several hosts.
            at, default = parts, None
            if parts.scheme != "hdfs":
                return None
        port = at.port or default
    except ValueError:  # no port; the file system says so
        return None
    return (at.hostname, port) if at.hostname and port else None


@contextmanager
def _explain_errors(name: str) -> Iterator[None]:
    """Turn errors of opening into ours."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("no such file or folder.", where=name, hint="Check the path.") from None
    except PermissionError:
        raise DataError("may not be read.", where=name, hint="Check its permissions.") from None
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"cannot be opened: {error}.", where=name) from error

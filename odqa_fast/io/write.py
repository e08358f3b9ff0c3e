"""The folder of a run: scores.parquet, summary.json, rejected.jsonl; whole, or not there at all."""

from __future__ import annotations

import ctypes
import errno
import glob
import json
import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from odqa_fast import __version__
from odqa_fast.errors import OutputError
from odqa_fast.io.options import Rejected
from odqa_fast.table import ScoreTable

SUMMARY_VERSION = 1
#: A row group of scores.parquet has about so many rows, fewer where they take so many bytes.
GROUP_ROWS = 1 << 17
GROUP_BYTES = 32 << 20

_numbers = count()
#: The unfinished runs of this process.
_unfinished: set[Path] = set()

RUN_FILES = frozenset({"scores.parquet", "summary.json", "rejected.jsonl", "report.html"})


def summary_of(result: ScoreTable) -> dict[str, Any]:
    """What `summary.json` and `--format json` hold.

    Keys: `format` (raised when a key changes meaning), `odqa_fast` (version), `inputs`, `metrics`
    (per metric as asked: `mean`, null where no row is scored; `n_scored`; `n_null`; `signature`)
    `counts`, and `notes` (sentences a reader of the numbers should know). No NaN, no infinity.
    """
    rows = result.counts["rows"]
    return {
        "format": SUMMARY_VERSION,
        "odqa_fast": __version__,
        "inputs": list(map(_name, result.inputs)),
        "metrics": {
            asked: {
                "mean": mean,
                "n_scored": result.scored[asked],
                "n_null": rows - result.scored[asked],
                "signature": str(result.signatures[asked]),
            }
            for asked, mean in result.means.items()
        },
        "counts": result.counts,
        "notes": result.notes,
    }


def _name(path: str) -> str:
    """A file's name as text: bytes in it that are no text would be no JSON either."""
    return os.fsencode(path).decode(errors="replace")


class RunWriter:
    """Writes a run beside its place and moves it there in one step at `commit`.

    Args:
        out: the folder, or None to write nothing at all.
        schema: of the per-row scores.

    Raises:
        OutputError: the folder holds something that is no run, or cannot be written.
    """

    def __init__(self, out: Path | None, schema: pa.Schema) -> None:
        self._out = out
        self._schema = schema
        self._scores: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._rejected: IO[str] | None = None
        self._partial = Path()
        self._made: list[Path] = []

    def __enter__(self) -> RunWriter:
        if self._out is None:
            return self
        # Through links: a run is exchanged with the folder that a link means, not with the link.
        self._out = Path(os.path.realpath(self._out))
        try:
            if self._out.is_dir():
                strangers = {entry.name for entry in self._out.iterdir()} - RUN_FILES
                if strangers:
                    raise OutputError(
                        f"the folder holds {sorted(strangers)[0]!r}, which is no part of a run.",
                        where=str(self._out),
                        hint="Name a new folder, or one that an earlier run wrote.",
                    )
            for place in (self._out, *self._out.parents):
                if place.exists() and not place.is_dir():
                    raise OutputError(
                        "is a file.", where=str(place), hint="--out takes a folder to write into."
                    )
            self._made = [folder for folder in self._out.parents if not folder.exists()]
            self._out.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(self._out)
            self._partial = self._out.with_name(
                f".{self._out.name}.partial-{os.getpid()}-{next(_numbers)}"
            )
            _unfinished.add(self._partial)
            self._partial.mkdir()
            self._scores = pq.ParquetWriter(
                self._partial / "scores.parquet", self._schema, compression="zstd"
            )
        except BaseException as error:
            self._discard()
            if isinstance(error, OSError):
                raise self._failed(error) from None
            raise
        return self

    def _discard(self) -> None:
        """Leaves nothing of an unfinished run; of a finished one, nothing of the run before it."""
        if self._partial in _unfinished:
            shutil.rmtree(self._partial, ignore_errors=True)
            _unfinished.discard(self._partial)
        for folder in self._made:
            with suppress(OSError):  # it holds a run by now
                folder.rmdir()

    def write(self, scores: pa.RecordBatch) -> None:
        """Appends per-row scores."""
        if self._scores is None:
            return
        self._held.append(scores)
        rows = sum(batch.num_rows for batch in self._held)
        if rows >= GROUP_ROWS or sum(batch.nbytes for batch in self._held) >= GROUP_BYTES:
            try:
                self._write_group()
            except OSError as error:
                raise self._failed(error) from None

    def _write_group(self) -> None:
        held, self._held = self._held, []
        if held and self._scores is not None:
            table = pa.Table.from_batches(held)
            self._scores.write_table(table, row_group_size=max(1, table.num_rows))

    def reject(self, rejected: Rejected) -> None:
        """Appends a refused row with its place and reason to `rejected.jsonl`."""
        if self._out is None:
            return
        row = {
            "file": _name(rejected.file),
            "line": rejected.line,
            "row": rejected.row,
            "reason": rejected.reason,
            "text": rejected.text,
        }
        try:
            if self._rejected is None:
                self._rejected = (self._partial / "rejected.jsonl").open("w", encoding="utf-8")
            self._rejected.write(json.dumps(row) + "\n")
        except OSError as error:
            raise self._failed(error) from None

    def commit(self, summary: dict[str, Any]) -> None:
        """Writes the summary and puts the run in its place, over an older one."""
        if self._out is None:
            return
        try:
            self._write_group()
            self._close()
            text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
            (self._partial / "summary.json").write_text(text + "\n", encoding="utf-8")
            for path in [*self._partial.iterdir(), self._partial]:
                _fsync(path)
            _replace_folder(self._partial, self._out)
            with suppress(PermissionError):  # one may write into a folder that one may not list
                _fsync(self._out.parent)
        except OSError as error:
            raise self._failed(error) from None

    def _close(self) -> None:
        if self._scores is not None:
            self._scores.close()
            self._scores = None
        if self._rejected is not None:
            self._rejected.close()
            self._rejected = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._out is None:
            return
        try:
            self._close()
        except OSError:
            if error is None:
                raise
        finally:
            self._discard()

    def _failed(self, error: OSError) -> OutputError:
        hint = "Free some space and run again." if error.errno == errno.ENOSPC else None
        reason = error.strerror or str(error)
        return OutputError(f"could not be written: {reason}.", where=str(self._out), hint=hint)


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_abandoned(out: Path) -> None:
    """Removes what a killed run left beside the folder."""
    for path in out.parent.glob(f".{glob.escape(out.name)}.partial-*-*"):
        pid = path.name.split("-")[-2]
        if pid.isdigit() and not (path in _unfinished or _is_running_elsewhere(int(pid))):
            shutil.rmtree(path, ignore_errors=True)


def _is_running_elsewhere(pid: int) -> bool:
    # In a container every run may have the same number.
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _replace_folder(new: Path, old: Path) -> None:
    """Puts `new` in the place of `old`; a reader sees one of the two at any moment."""
    if not old.exists():
        new.rename(old)
    elif _exchange(new, old):
        shutil.rmtree(new, ignore_errors=True)
    else:
        # No atomic exchange on this system: the older run stands aside for two renames.
        aside = old.with_name(f".{old.name}.replaced-{os.getpid()}")
        old.rename(aside)
        try:
            new.rename(old)
        except OSError:
            aside.rename(old)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Swaps two folders in one step (Linux's renameat2 with RENAME_EXCHANGE)."""
    at_cwd, rename_exchange = -100, 2
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(renameat2(at_cwd, os.fsencode(a), at_cwd, os.fsencode(b), rename_exchange) == 0)

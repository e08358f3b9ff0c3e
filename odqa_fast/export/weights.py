"""Tensors by name, read when asked for; safetensors files without a library.

The format (https://github.com/huggingface/safetensors#format): the length of a JSON header as eight
bytes, the header, then the tensors' bytes. Read here because numpy lacks bfloat16, which most
models of today are kept in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.card import is_inside
from odqa_fast.engines.model_json import parsed
from odqa_fast.errors import ModelError

Floats = npt.NDArray[np.float32]
Reader = Callable[[], Floats]

_NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_NO_WEIGHTS, _NO_INDEX = "is no safetensors file", "is no index of safetensors files"
#: A longer header is refused, as the safetensors library does.
_HEADER_BYTES = 100_000_000


class Weights(Mapping[str, Floats]):
    """Tensors as float32, each read from its file when it is asked for.

    Args:
        readers: by name.
        where: names the source in errors.
        done: called with the share read so far, of 1.
    """

    def __init__(
        self,
        readers: Mapping[str, Reader],
        where: str,
        done: Callable[[float], None] | None = None,
    ) -> None:
        self._readers = readers
        self._where = where
        self._done = done
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Floats:
        values = self._readers[name]()
        self._read.add(name)
        if self._done:
            self._done(len(self._read) / len(self._readers))
        return values

    def __contains__(self, name: object) -> bool:
        return name in self._readers

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def take(self, name: str, *shape: int) -> Floats:
        """A tensor that must be there, of a shape that the configuration asks for.

        Raises:
            ModelError: it is missing or has another shape.
        """
        if name not in self:
            raise ModelError(
                f"the weights hold no {name}.",
                where=self._where,
                hint="Are config.json and the weights of one model?",
            )
        values = self[name]
        if values.shape != shape:
            raise ModelError(
                f"{name} has the shape {list(values.shape)}, config.json asks for {list(shape)}.",
                where=self._where,
                hint="Are config.json and the weights of one model?",
            )
        return values

    def maybe(self, name: str, *shape: int) -> Floats | None:
        """The same, or None where there is no such tensor."""
        return self.take(name, *shape) if name in self else None


def open_safetensors(paths: list[Path]) -> dict[str, Reader]:
    """A reader for each tensor of some safetensors files.

    Raises:
        ModelError: a file is not of that format.
    """
    readers: dict[str, Reader] = {}
    for path in paths:
        readers.update(_open_one(path))
    return readers


def shards(folder: Path) -> list[Path]:
    """The safetensors files of a folder: one, or those that its index names.

    Raises:
        ModelError: there are none, or the index names a file outside the folder.
    """
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if index.is_file():
        names = indexed(index)
        for name in names:
            if not is_inside(name) or not (folder / name).is_file():
                raise ModelError(f"names {name!r}, which is not there.", where=str(index))
        return [folder / name for name in names]
    pickles = sorted(path.name for path in folder.glob("*.bin"))
    if pickles:
        raise ModelError(
            f"holds {pickles[0]}, a pickle, which can run code and is not read.",
            where=str(folder),
            hint="Convert it to model.safetensors with transformers' save_pretrained.",
        )
    raise ModelError("holds no model.safetensors.", where=str(folder))


def indexed(index: Path) -> list[str]:
    """The files that an index of shards names.

    Raises:
        ModelError: it is no such index.
    """
    try:
        names = parsed(index.read_bytes(), index, _NO_INDEX)["weight_map"].values()
        return sorted({str(name) for name in names})
    except (OSError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{_NO_INDEX}.", where=str(index)) from None


def _open_one(path: Path) -> dict[str, Reader]:
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            total = path.stat().st_size
            if size > min(total - 8, _HEADER_BYTES):
                raise ValueError("its header is longer than the file")
            header = parsed(file.read(size), path, _NO_WEIGHTS)
        start = 8 + size
        return {
            name: _reader(path, start, total, name, entry)
            for name, entry in header.items()
            if name != "__metadata__"
        }
    except (OSError, ValueError, OverflowError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{_NO_WEIGHTS}: {error}.", where=str(path)) from None


def _reader(path: Path, start: int, total: int, name: str, entry: dict[str, Any]) -> Reader:
    shape = tuple(map(int, entry["shape"]))
    lo, hi = entry["data_offsets"]
    kind = entry["dtype"]
    if min(shape, default=0) < 0 or (
        kind in _NUMPY
        and (
            not 0 <= lo <= hi <= total - start
            or hi - lo != math.prod(shape) * np.dtype(_NUMPY[kind]).itemsize
        )
    ):
        raise ValueError(f"{name} does not lie inside the file")

    def read() -> Floats:
        if kind not in _NUMPY:
            raise ModelError(
                f"{name} is of type {kind}, which is not read.",
                where=str(path),
                hint="Take the model as F32, F16 or BF16.",
            )
        raw = np.memmap(path, _NUMPY[kind], "r", start + lo, shape) if hi > lo else np.empty(shape)
        if kind == "BF16":
            # A bfloat16 is the upper half of a float32.
            return (raw.astype(np.uint32) << 16).view(np.float32)
        return np.asarray(raw, np.float32)

    return read

"""Tensors by name, read when asked for, and the safetensors files that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.card import is_inside
from odqa_fast.engines.model_json import parse_json
from odqa_fast.errors import EngineError, ModelError

Floats = npt.NDArray[np.float32]
Reader = Callable[[], Floats]

_READ = frozenset({"F64", "F32", "F16", "BF16"})
_NO_INDEX = "is no index of safetensors files"


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
        EngineError: a library is not installed.
        ModelError: a file is not of that format.
    """
    try:
        import ml_dtypes  # noqa: F401, numpy's bfloat16, which most models of today are kept in
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise EngineError(
            f"reading safetensors needs the library {error.name!r}.",
            hint="pip install 'odqa-fast[export]'",
        ) from None
    readers: dict[str, Reader] = {}
    for path in paths:
        try:
            file: Any = safe_open(path, "np")
        except (SafetensorError, OSError) as error:
            raise ModelError(f"is no safetensors file: {error}.", where=str(path)) from None
        readers.update((name, partial(_read_tensor, file, path, name)) for name in file.keys())
    return readers


def _read_tensor(file: Any, path: Path, name: str) -> Floats:
    kind = file.get_slice(name).get_dtype()
    if kind not in _READ:
        raise ModelError(
            f"{name} is of type {kind}, which is not read.",
            where=str(path),
            hint="Take the model as F32, F16 or BF16.",
        )
    return np.asarray(file.get_tensor(name), np.float32)


def find_shards(folder: Path) -> list[Path]:
    """The safetensors files of a folder: one, or those that its index names.

    Raises:
        ModelError: there are none, or the index names a file outside the folder.
    """
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if index.is_file():
        names = read_index(index)
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


def read_index(index: Path) -> list[str]:
    """The files that an index of shards names.

    Raises:
        ModelError: it is no such index.
    """
    try:
        names = parse_json(index.read_bytes(), index, _NO_INDEX)["weight_map"].values()
        return sorted({str(name) for name in names})
    except (OSError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{_NO_INDEX}.", where=str(index)) from None

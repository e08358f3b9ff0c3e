"""Memory that graphs read and write in place: rows that can be bound and copied one by one."""

from __future__ import annotations

import ctypes
import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.errors import EngineError


class Buffer(ABC):
    """An array of rows on one device.

    Attributes:
        shape: [rows, ...].
        dtype: of its elements.
    """

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.row_bytes = int(np.prod(shape[1:], dtype=np.int64)) * self.dtype.itemsize

    @abstractmethod
    def address(self, row: int) -> int:
        """Where a row begins."""

    @abstractmethod
    def copy_row(self, source: int, target: int) -> None:
        """Make one row equal to another."""


class HostBuffer(Buffer):
    """In the memory of the machine; zeros at first."""

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        super().__init__(shape, dtype)
        self._array = np.empty(shape, self.dtype)
        # Touched now: what the system takes to find the pages is no part of a reply's seconds.
        self._array.fill(0)

    def address(self, row: int) -> int:
        """Where a row begins."""
        return int(self._array.ctypes.data) + row * self.row_bytes

    def copy_row(self, source: int, target: int) -> None:
        """Make one row equal to another."""
        self._array[target] = self._array[source]


class CudaBuffer(Buffer):
    """In the memory of a GPU; copies go through the driver, which is there where CUDA works."""

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike, owner: Any) -> None:
        super().__init__(shape, dtype)
        self._owner = owner
        self._driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")

    def address(self, row: int) -> int:
        """Where a row begins."""
        return int(self._owner.data_ptr()) + row * self.row_bytes

    def copy_row(self, source: int, target: int) -> None:
        """Make one row equal to another."""
        failed = self._driver.cuMemcpyDtoD_v2(
            ctypes.c_uint64(self.address(target)),
            ctypes.c_uint64(self.address(source)),
            ctypes.c_size_t(self.row_bytes),
        )
        # onnxruntime's stream does not wait for this one.
        failed = failed or self._driver.cuCtxSynchronize()
        if failed:
            raise EngineError(f"the GPU could not copy: CUDA driver error {failed}.")

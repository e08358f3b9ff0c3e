"""ONNX Runtime: which device really runs a graph, and one graph loaded on it.

Nothing else imports onnxruntime, whose two distributions share one folder: `onnxruntime` (extra
`cpu`) and `onnxruntime-gpu` (extra `gpu`). Neither its list of providers nor the module's own word
says that a GPU works; what a session of its own answers does, so one is opened to ask.

Its wheels report to their maker: while it is imported it makes a device id and a store of events in
the user's cache, and sends them later. An environment variable alone prevents that, and only before
the import; its function `disable_telemetry_events` comes too late.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.memory import Buffer, CudaBuffer, HostBuffer
from odqa_fast.errors import EngineError, ModelError, OdqaError, OdqaWarning
from odqa_fast.threads import thread_count

Device = Literal["auto", "cpu", "cuda"]
Array = npt.NDArray[Any]

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"

#: Batches grow and shrink: an arena that doubles would hold twice what the largest one takes. TF32
#: would round what is called float32 to 10 bits.
_CUDA_OPTIONS = {
    "device_id": "0",
    "arena_extend_strategy": "kSameAsRequested",
    "use_tf32": "0",
    "do_copy_in_default_stream": "1",
}

#: The smallest graph, y = Identity(x) of one float: ModelProto with ir_version 8, opset 13.
_PROBE = bytes.fromhex(
    "08083a370a100a017812017922084964656e746974791201705a0f0a0178120a"
    "0a08080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)

#: What onnxruntime says when an allocator, the C++ runtime, CUDA or cuBLAS has nothing left.
_NO_MEMORY = (
    "Failed to allocate memory",
    "bad_alloc",
    "bad allocation",
    "out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)

#: Read by onnxruntime while it is imported.
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"

_INSTALL = "pip install 'odqa-fast[cpu]', or 'odqa-fast[gpu]' where there is an NVIDIA GPU."


class DeviceMemoryError(EngineError):
    """The device has no memory left for what was asked of it."""


@dataclass(frozen=True)
class Runtime:
    """Where graphs run.

    Attributes:
        device: what was found to work, not what was asked for.
        provider: onnxruntime's name of it.
        threads: of one operator, on the CPU.
        version: of onnxruntime.
    """

    device: Literal["cpu", "cuda"]
    provider: str
    threads: int
    version: str

    @property
    def signature(self) -> str:
        """What of it could make it another number."""
        return f"{self.provider}|onnxruntime:{self.version}"

    @property
    def facts(self) -> dict[str, object]:
        """What of it could make it another time."""
        return {
            "provider": self.provider,
            "threads": self.threads,
            "onnxruntime": self.version,
        }

    def session(self, graph: Path) -> Session:
        """Load a graph.

        Raises:
            ModelError: it is no graph that onnxruntime runs.
            DeviceMemoryError: it does not fit.
        """
        return Session(graph, self)


def open_runtime(device: Device = "auto", threads: int | None = None) -> Runtime:
    """Find where graphs run.

    Args:
        device: `cuda` or nothing else, `cpu`, or `auto`: `cuda` where it works, else `cpu`, with a
            warning that says why.
        threads: of one operator, on the CPU; by default as `threads.thread_count` says.

    Raises:
        EngineError: onnxruntime is not installed or is broken, or `cuda` does not work.
    """
    ort = _onnxruntime()
    reason = None if device == "cpu" else _why_no_cuda(ort)
    if reason is not None and device == "cuda":
        raise EngineError(
            f"device cuda does not work here: {reason}.", hint="--device cpu runs without it."
        )
    if reason is not None:
        warnings.warn(f"runs on the cpu, for cuda does not work: {reason}", OdqaWarning, 2)
    on_cuda = device != "cpu" and reason is None
    return Runtime(
        "cuda" if on_cuda else "cpu",
        CUDA if on_cuda else CPU,
        thread_count(threads),
        str(ort.__version__),
    )


def describe() -> dict[str, str]:
    """What is installed and whether CUDA works, for people; never raises."""
    try:
        ort = _onnxruntime()
    except EngineError as error:
        return {"onnxruntime": str(error)}
    return {
        "onnxruntime": str(ort.__version__),
        "cuda": _why_no_cuda(ort) or f"works, CUDA {ort.cuda_version}",
    }


def _onnxruntime() -> Any:
    found = [name for name in ("onnxruntime", "onnxruntime-gpu") if _is_installed(name)]
    if len(found) > 1:
        raise EngineError(
            "onnxruntime and onnxruntime-gpu are both installed, and each overwrites the other.",
            hint="pip uninstall onnxruntime onnxruntime-gpu, then install one: " + _INSTALL,
        )
    _silence_telemetry()
    try:
        import onnxruntime as ort
    except ImportError:
        raise EngineError("models need the library onnxruntime.", hint=_INSTALL) from None
    if not hasattr(ort, "InferenceSession"):
        # What is left when one of the two distributions was removed from under the other.
        raise EngineError(
            "onnxruntime is installed but empty.",
            hint="pip uninstall onnxruntime onnxruntime-gpu, then install one: " + _INSTALL,
        )
    return ort


def _silence_telemetry() -> None:
    if "onnxruntime" in sys.modules and os.environ.get(_NO_TELEMETRY) != "1":
        warnings.warn(
            "this program imported onnxruntime before odqa_fast could switch its telemetry off; "
            f"set {_NO_TELEMETRY}=1 before that import",
            OdqaWarning,
            2,
        )
    # Set in any case: the note is given once, and programs that this one starts inherit it.
    os.environ[_NO_TELEMETRY] = "1"


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _why_no_cuda(ort: Any) -> str | None:
    """Why CUDA does not work; None where it does."""
    if CUDA not in ort.get_available_providers():
        return "this onnxruntime is built for the cpu (the extra 'gpu' brings the other)"
    # Without a driver a session would complain in red, and run on the CPU all the same.
    driver = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        cuda = ctypes.CDLL(driver)
    except OSError:
        return f"there is no NVIDIA driver ({driver})"
    devices = ctypes.c_int(0)
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(devices)) != 0 or not devices:
        return "the NVIDIA driver sees no GPU"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        ort.preload_dlls()
    with _silenced(ort):
        session = ort.InferenceSession(_PROBE, providers=[(CUDA, _CUDA_OPTIONS), CPU])
    if session.get_providers()[0] == CUDA:
        return None
    missing = re.findall(r"Failed to load (\S+?):", said.getvalue())
    return f"{', '.join(missing) or 'its libraries'} cannot be loaded (the extra 'gpu' brings them)"


@contextlib.contextmanager
def _silenced(ort: Any) -> Iterator[None]:
    """What onnxruntime would print in red comes to the user as an error or a note of ours."""
    fatal, warning = 4, 2
    ort.set_default_logger_severity(fatal)
    try:
        yield
    finally:
        ort.set_default_logger_severity(warning)


class Session:
    """One graph, loaded.

    Attributes:
        inputs: name -> element type.
        outputs: names, in the graph's order.
    """

    def __init__(self, graph: Path, runtime: Runtime) -> None:
        ort = _onnxruntime()
        options = ort.SessionOptions()
        options.intra_op_num_threads = runtime.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Every batch has a shape of its own, and a plan of memory for each would be kept.
        options.enable_mem_pattern = False
        # By its name a graph could be in onnxruntime's own format, where nobody looked for files.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
        providers = [(CUDA, _CUDA_OPTIONS), CPU] if runtime.device == "cuda" else [CPU]
        with explained(graph, ModelError), _silenced(ort):
            self._session = ort.InferenceSession(str(graph), options, providers=providers)
        runs_on = self._session.get_providers()[0]
        if runs_on != runtime.provider:
            raise EngineError(f"runs on {runs_on}, not on {runtime.provider}.", where=str(graph))
        self.runtime = runtime
        self.graph = graph
        self.inputs = {i.name: _dtype(i.type, graph) for i in self._session.get_inputs()}
        self.outputs = tuple(o.name for o in self._session.get_outputs())

    def bind(self) -> Binding:
        """A set of inputs and outputs, to be run as often as wanted."""
        return Binding(self, self._session.io_binding())

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Run once, from arrays to arrays."""
        with explained(self.graph):
            values = self._session.run(None, dict(inputs))
        return dict(zip(self.outputs, values, strict=True))

    def run_bound(self, binding: Any) -> None:
        """Run a binding; what it computes is there when this returns."""
        with explained(self.graph):
            self._session.run_with_iobinding(binding)

    def allocate(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Buffer:
        """Memory on the session's device.

        Raises:
            DeviceMemoryError: there is not so much.
        """
        with explained(self.graph):
            if self.runtime.device == "cpu":
                return HostBuffer(shape, dtype)
            value = _onnxruntime().OrtValue.ortvalue_from_shape_and_type(
                list(shape), np.dtype(dtype).type, "cuda", 0
            )
            return CudaBuffer(shape, dtype, value)

    def place(self, array: Array) -> Value:
        """An array on the session's device."""
        return Value(
            _onnxruntime().OrtValue.ortvalue_from_numpy(array, self.runtime.device, 0), array
        )


class Value:
    """A tensor that lies where the session runs."""

    def __init__(self, value: Any, owner: Array | None = None) -> None:
        self.value = value
        self._owner = owner

    def numpy(self) -> Array:
        """Its content, on the host."""
        array: Array = self.value.numpy()
        return array


class Binding:
    """Inputs and outputs of a session, bound to memory."""

    def __init__(self, session: Session, binding: Any) -> None:
        self._session = session
        self._binding = binding
        self._made: list[str] = []
        self._device = session.runtime.device

    def give(self, name: str, array: Array) -> None:
        """Bind an input to an array on the host."""
        self._binding.bind_cpu_input(name, np.ascontiguousarray(array))

    def give_value(self, name: str, value: Value) -> None:
        """Bind an input to a tensor on the device."""
        self._binding.bind_ortvalue_input(name, value.value)

    def give_rows(self, name: str, buffer: Buffer, first: int, rows: int) -> None:
        """Bind an input to some rows of a buffer."""
        shape = [rows, *buffer.shape[1:]]
        self._binding.bind_input(
            name, self._device, 0, buffer.dtype.type, shape, buffer.address(first)
        )

    def take(self, name: str) -> None:
        """Let the device make room for an output, anew at each run."""
        self._binding.bind_output(name, self._device)
        self._made.append(name)

    def take_rows(self, name: str, buffer: Buffer, first: int, rows: int) -> None:
        """Bind an output to some rows of a buffer."""
        shape = [rows, *buffer.shape[1:]]
        self._binding.bind_output(
            name, self._device, 0, buffer.dtype.type, shape, buffer.address(first)
        )
        self._made.append(name)

    def run(self) -> dict[str, Value]:
        """Run; the outputs by name.

        Raises:
            DeviceMemoryError: the device ran out of memory.
            EngineError: anything else onnxruntime refuses.
        """
        self._session.run_bound(self._binding)
        return dict(zip(self._made, map(Value, self._binding.get_outputs()), strict=True))


@contextlib.contextmanager
def explained(graph: Path, kind: type[OdqaError] = EngineError) -> Iterator[None]:
    """Turns what onnxruntime raises into errors of ours."""
    try:
        yield
    except MemoryError:
        raise DeviceMemoryError(
            "the memory of this machine does not suffice.", where=str(graph)
        ) from None
    except Exception as error:
        # A bound run raises a RuntimeError of Python's own.
        if not (type(error) is RuntimeError or type(error).__module__.startswith("onnxruntime")):
            raise
        text = " ".join(str(error).split())
        if any(sign in text for sign in _NO_MEMORY):
            raise DeviceMemoryError(
                "the memory of the device does not suffice.", where=str(graph)
            ) from None
        raise kind(f"onnxruntime does not run it: {text}", where=str(graph)) from None


_DTYPES: dict[str, npt.DTypeLike] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
}


def _dtype(name: str, graph: Path) -> npt.DTypeLike:
    if name not in _DTYPES:
        known = ", ".join(_DTYPES)
        raise ModelError(
            f"has an input of type {name}.", where=str(graph), hint=f"Types that run: {known}."
        )
    return _DTYPES[name]

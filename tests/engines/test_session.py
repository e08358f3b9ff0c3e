"""Covers: which device runs, what is said where it does not, and what onnxruntime refuses.

A GPU is not needed: its libraries are played. Run: pytest tests/engines/test_session.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from odqa_fast.engines import session
from odqa_fast.engines.session import CPU, CUDA, DeviceMemoryError, open_runtime
from odqa_fast.errors import EngineError, ModelError, OdqaWarning


class Played:
    """onnxruntime on a machine with a GPU whose libraries may be missing."""

    __version__ = "9.9.9"
    cuda_version = "13.0"

    def __init__(self, *, works: bool, missing: tuple[str, ...] = ()) -> None:
        self.severity = 2
        self.opened = 0
        outer = self

        class InferenceSession:
            def __init__(self, graph: object, options: object = None, **kwargs: Any) -> None:
                # What it would say on stderr, it says here: nothing below fatal.
                assert outer.severity == 4
                (name, settings), cpu = kwargs["providers"]
                assert (name, cpu) == (CUDA, CPU)
                assert settings["use_tf32"] == "0"
                outer.opened += 1

            def get_providers(self) -> list[str]:
                return [CUDA, CPU] if works else [CPU]

        self.InferenceSession = InferenceSession
        self._missing = missing

    def get_available_providers(self) -> list[str]:
        return [CUDA, CPU]

    def preload_dlls(self) -> None:
        for library in self._missing:
            sys.stdout.write(f"Failed to load {library}: {library}: cannot open shared object\n")

    def set_default_logger_severity(self, severity: int) -> None:
        self.severity = severity


class Driver:
    def __init__(self, devices: int) -> None:
        self._devices = devices

    def cuInit(self, flags: int) -> int:
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = self._devices
        return 0


def play(monkeypatch: pytest.MonkeyPatch, ort: Any, devices: int | None) -> None:
    """Let this machine have a driver with so many GPUs, or none."""

    def load(name: str) -> Driver:
        if devices is None:
            raise OSError(f"{name}: cannot open shared object file")
        return Driver(devices)

    monkeypatch.setattr(session, "_onnxruntime", lambda: ort)
    monkeypatch.setattr(session.ctypes, "CDLL", load)


@pytest.mark.parametrize(
    ("devices", "missing", "reason"),
    [
        (None, (), "there is no NVIDIA driver"),
        (0, (), "the NVIDIA driver sees no GPU"),
        (1, ("libcublas.so.13", "libcudnn.so.9"), "libcublas.so.13, libcudnn.so.9 cannot be"),
        (1, (), "its libraries cannot be loaded"),
    ],
)
def test_cuda_that_does_not_load(
    devices: int | None,
    missing: tuple[str, ...],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    ort = Played(works=False, missing=missing)
    play(monkeypatch, ort, devices)
    with pytest.raises(EngineError, match=f"device cuda does not work.*{reason}.*--device cpu"):
        open_runtime("cuda")
    with pytest.warns(OdqaWarning, match=f"runs on the cpu, for cuda .*{reason}") as notes:
        runtime = open_runtime("auto")
    assert len(notes) == 1
    assert (runtime.device, runtime.provider) == ("cpu", CPU)
    assert runtime.signature == "CPUExecutionProvider|onnxruntime:9.9.9"
    assert ort.severity == 2
    # No session is tried, which would complain, before there is a driver with a GPU.
    assert bool(ort.opened) == bool(devices)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_cuda_that_works(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, Played(works=True), 2)
    runtime = open_runtime(device)
    assert (runtime.device, runtime.provider) == ("cuda", CUDA)
    assert session.describe()["cuda"] == "works, CUDA 13.0"


def test_cpu_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, Played(works=True), 1)
    assert open_runtime("cpu", threads=3).facts == {
        "provider": CPU,
        "threads": 3,
        "onnxruntime": "9.9.9",
    }


def installed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    def version(name: str) -> str:
        if name not in names:
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(session.metadata, "version", version)


def test_both_distributions_are_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "onnxruntime", "onnxruntime-gpu")
    with pytest.raises(EngineError, match=r"both installed.*pip uninstall.*odqa-fast\[cpu\]"):
        open_runtime("cpu")
    assert "both installed" in session.describe()["onnxruntime"]


def test_none_is_one_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EngineError, match=r"need the library onnxruntime.*odqa-fast\[cpu\]"):
        open_runtime("cpu")


def test_what_an_uninstalled_twin_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", type(sys)("onnxruntime"))
    with pytest.raises(EngineError, match="installed but empty"):
        open_runtime("cpu")


# Graphs


def graph(path: Path, op: str = "Identity", dimensions: int = 1) -> Path:
    """y = op(x)."""
    shape = [f"d{i}" for i in range(dimensions)]
    value, result = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    model = helper.make_model(
        helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", [value], [result]),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    onnx.save(model, path)
    return path


def test_a_graph_runs(tmp_path: Path) -> None:
    runtime = open_runtime("cpu", threads=1)
    loaded = runtime.session(graph(tmp_path / "g.onnx", "Neg"))
    assert loaded.inputs == {"x": np.float32}
    x = np.array([1, -2], np.float32)
    np.testing.assert_array_equal(loaded.run({"x": x})["y"], [-1, 2])
    binding = loaded.bind()
    binding.give("x", x)
    binding.take("y")
    np.testing.assert_array_equal(binding.run()["y"].numpy(), [-1, 2])


def test_rows_of_a_buffer_are_read_and_written_in_place(tmp_path: Path) -> None:
    loaded = open_runtime("cpu", threads=1).session(graph(tmp_path / "g.onnx", "Neg", 2))
    buffer = loaded.allocate((4, 3), np.float32)
    written = loaded.bind()
    written.give("x", np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    written.take_rows("y", buffer, 1, 2)
    written.run()
    buffer.copy_row(2, 0)
    read = loaded.bind()
    read.give_rows("x", buffer, 0, 4)
    read.take("y")
    expected = [[4, 5, 6], [1, 2, 3], [4, 5, 6], [0, 0, 0]]
    np.testing.assert_array_equal(read.run()["y"].numpy(), expected)


def test_what_is_no_graph(tmp_path: Path) -> None:
    path = tmp_path / "g.onnx"
    path.write_bytes(b"no graph at all")
    with pytest.raises(ModelError, match=r"g\.onnx: onnxruntime does not run it"):
        open_runtime("cpu").session(path)
    with pytest.raises(ModelError, match="does not run it"):
        open_runtime("cpu").session(graph(path, "NoSuchOperator"))


@pytest.mark.parametrize(
    "says",
    [
        "Failed to allocate memory for requested buffer of size 17179869184",
        "std::bad_alloc",
        "CUDA failure 2: out of memory ; GPU=0",
        "CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0",
    ],
)
def test_memory_that_runs_out(says: str, tmp_path: Path) -> None:
    for error in (RuntimeError(f"Error in execution: {says}"), MemoryError()):
        with pytest.raises(DeviceMemoryError), session.explained(tmp_path):
            raise error


def test_other_faults_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="shape mismatch"), session.explained(tmp_path):
        raise RuntimeError("Error in execution:\nshape mismatch")
    with pytest.raises(ZeroDivisionError), session.explained(tmp_path):
        raise ZeroDivisionError


def test_nothing_red_is_printed(tmp_path: Path) -> None:
    # In a process of its own, for onnxruntime writes past Python's stderr.
    path = graph(tmp_path / "g.onnx", "Neg")
    code = (
        "import sys, pathlib, numpy\n"
        "from odqa_fast.engines.session import open_runtime\n"
        "loaded = open_runtime('cpu').session(pathlib.Path(sys.argv[1]))\n"
        "try: loaded.run({'x': numpy.zeros((2, 2), numpy.float32)})\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.stdout == "EngineError\n"
    assert done.stderr == ""

"""Finds what runs a model, by its name."""

from __future__ import annotations

from pathlib import Path

from odqa_fast.errors import OdqaError
from odqa_fast.inference.engine import Engine
from odqa_fast.inference.generate import OnnxEngine, OnnxOptions


def open_engine(name: str, options: OnnxOptions | None = None) -> Engine:
    """What runs prompts.

    Args:
        name: a model folder, `FOLDER` or `onnx:FOLDER`.
        options: how a model folder runs.

    Raises:
        OdqaError: no engine has such a name.
        ModelError, EngineError: it cannot be opened.
    """
    kind = _kind(name)
    if kind == "onnx":
        return OnnxEngine(model_folder(name), options)
    raise OdqaError(f"no engine {kind!r}.", where=name, hint="Give a model folder, or onnx:FOLDER.")


def is_folder(name: str) -> bool:
    """Whether a name means a model folder."""
    return _kind(name) == "onnx"


def model_folder(name: str) -> Path:
    """The folder that a name means."""
    return Path(name.removeprefix("onnx:"))


def _kind(name: str) -> str:
    kind, colon, _ = name.partition(":")
    # One letter is a drive.
    return kind if colon and len(kind) > 1 else "onnx"

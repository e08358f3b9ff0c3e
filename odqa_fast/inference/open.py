"""Finds what runs a model, by its name."""

from __future__ import annotations

from pathlib import Path

from odqa_fast.errors import OdqaError
from odqa_fast.inference.engine import Engine
from odqa_fast.inference.generate import OnnxEngine, OnnxOptions
from odqa_fast.inference.http import HttpEngine, HttpOptions


def open_engine(
    name: str, options: OnnxOptions | None = None, http: HttpOptions | None = None
) -> Engine:
    """What runs prompts.

    Args:
        name: a model folder, `FOLDER` or `onnx:FOLDER`; or a model behind an OpenAI-compatible
            endpoint, `http:<base-url>#<model>`.
        options: how a model folder runs.
        http: how an endpoint is asked.

    Raises:
        OdqaError: no engine has such a name.
        ModelError, EngineError: it cannot be opened.
    """
    kind = _kind(name)
    if kind == "onnx":
        return OnnxEngine(model_folder(name), options)
    if kind == "http":
        return HttpEngine(name, http)
    raise OdqaError(
        f"no engine {kind!r}.",
        where=name,
        hint="Give a model folder, onnx:FOLDER, or http:<base-url>#<model>.",
    )


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

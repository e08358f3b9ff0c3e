"""Finds what runs a model, by its name."""

from __future__ import annotations

from pathlib import Path

from odqa_fast.engines.base import Engine
from odqa_fast.engines.generate import OnnxEngine
from odqa_fast.engines.http import HttpEngine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError


def open_engine(name: str, options: EngineOptions | None = None) -> Engine:
    """What runs prompts.

    Args:
        name: a model folder, `FOLDER` or `onnx:FOLDER`; or a model behind an OpenAI-compatible
            endpoint, `http:<base-url>#<model>`.
        options: how it runs or is asked.

    Raises:
        OdqaError: no engine has such a name, or it has no such option.
        ModelError, EngineError: it cannot be opened.
    """
    kind = _kind(name)
    if kind == "onnx":
        return OnnxEngine(model_folder(name), options)
    if kind == "http":
        return HttpEngine(name, options)
    raise OdqaError(
        f"no engine {kind!r}.",
        where=name,
        hint="Give a model folder, onnx:FOLDER, or http:<base-url>#<model>.",
    )


def honoured_by(name: str) -> frozenset[str]:
    """The options that an engine of that name honours; none where there is no such engine."""
    kinds = {"onnx": OnnxEngine.honours, "http": HttpEngine.honours}
    return kinds.get(_kind(name), frozenset())


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

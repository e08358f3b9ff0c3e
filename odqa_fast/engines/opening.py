"""Engines are opened by name: every module of `backends` is one, under its own name.

A module holds `ARGUMENT`, what stands behind the colon, in a word; `HONOURS`, the options that it
makes use of; and `open_engine(argument, options)`, which gives what `base.Engine` describes, and
raises `ValueError` for an argument that it does not take. It may hold `open_reader`, of the same,
which gives None where a model has no way of its own to read.
"""

from __future__ import annotations

from collections.abc import Callable

from odqa_fast.engines.base import Engine, Reader
from odqa_fast.engines.options import EngineOptions
from odqa_fast.plugins import Plugins, open_argument

ENGINES = Plugins(
    "engine",
    "odqa_fast.engines.backends",
    "odqa_fast.engines",
    listing="Give a model folder, onnx:FOLDER, or http:<base-url>#<model>.",
)

#: What a module of `backends` has to hold.
_HELD = ("ARGUMENT", "HONOURS", "open_engine")


def open_engine(name: str, options: EngineOptions | None = None) -> Engine:
    """What runs prompts.

    Args:
        name: a model folder, `FOLDER` or `onnx:FOLDER`; or a model behind an OpenAI-compatible
            endpoint, `http:<base-url>#<model>`; or what was added.
        options: how it runs or is asked.

    Raises:
        OdqaError: no engine has such a name, or it has no such option or argument.
        ModelError, EngineError: it cannot be opened.
    """
    options = options or EngineOptions()
    kind, argument = split_name(name)
    backend = ENGINES.load_holding(kind, *_HELD)
    options.require(backend.HONOURS, name)
    opens: Callable[[str, EngineOptions], Engine] = backend.open_engine
    return open_argument(opens, kind, argument, options)


def open_own_reader(name: str, options: EngineOptions) -> Reader | None:
    """What reads without a prompt, where the model of an engine does.

    Raises:
        OdqaError: no engine has such a name, or it has no such option.
        ModelError, EngineError: it cannot be opened.
    """
    kind, argument = split_name(name)
    opens = getattr(ENGINES.load(kind), "open_reader", None)
    reader: Reader | None = None if opens is None else opens(argument, options)
    return reader


def list_honoured(name: str) -> frozenset[str]:
    """The options that an engine of that name honours; none where there is no such engine."""
    kind, _ = split_name(name)
    if kind not in ENGINES.names():
        return frozenset()
    honoured: frozenset[str] = ENGINES.load_holding(kind, *_HELD).HONOURS
    return honoured


def list_names() -> list[str]:
    """All engines there are, as they are asked for, e.g. `onnx:FOLDER`."""
    backends = ENGINES.load_all().items()
    # One that lacks it is broken, which shall not break what lists the others.
    return [f"{name}:{backend.ARGUMENT}" for name, backend in backends if _is_whole(backend)]


def complete_name(name: str) -> str:
    """A name with its kind: a bare one is a model folder."""
    kind, argument = split_name(name)
    return f"{kind}:{argument}"


def split_name(name: str) -> tuple[str, str]:
    """The kind of an engine and what stands behind the colon; a bare name is a model folder."""
    kind, colon, argument = name.partition(":")
    # One letter is a drive.
    return (kind, argument) if colon and len(kind) > 1 else ("onnx", name)


def _is_whole(backend: object) -> bool:
    return all(hasattr(backend, each) for each in _HELD)

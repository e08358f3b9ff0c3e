"""Packages whose modules are the things one may ask for: a file is enough to add one."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError
from odqa_fast.plugins import unknown


def names(path: Iterable[str]) -> list[str]:
    """The modules in a package's `__path__` that may be asked for."""
    return sorted(m.name for m in iter_modules(path) if not m.name.startswith("_"))


def find(
    package: str,
    known: list[str],
    kind: str,
    asked: str,
    prompt: str | None,
    engine: EngineOptions,
) -> tuple[ModuleType, str]:
    """The module that is asked for, e.g. by `onnx:FOLDER`, and what stands behind the colon.

    Raises:
        OdqaError: the package has none of that name, or it has a prompt or options of an engine
            and is no model.
    """
    name, _, argument = asked.partition(":")
    if name not in known:
        what, hint = unknown(kind, name, known, f"{kind.capitalize()}s: {', '.join(known)}.")
        raise OdqaError(what, hint=hint)
    module = import_module(f"{package}.{name}")
    # Models are what a package's `_model.open_model` opens.
    if hasattr(module, "open_model"):
        return module, argument
    # Their seconds are always those of a text by itself.
    engine.require({"timing"}, f"the {kind} {name!r}, which is no model")
    if prompt is not None:
        raise OdqaError(
            f"the {kind} {name!r} is no model and takes no prompt.",
            hint="A model is onnx:FOLDER or http:<base-url>#<model>.",
        )
    return module, argument

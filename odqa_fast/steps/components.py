"""Readers and compressors are opened by name: ours, those that were added, and every engine.

A name is `NAME` or `NAME:ARGUMENT`. A module of theirs holds `open_reader` or `open_compressor`, of
the argument and the options, and may hold `ARGUMENT`, what stands behind the colon, in a word
(without it nothing may), and `HONOURS`, the engine options that it makes use of. The argument is ""
where nothing stands there; for one that it does not take, the function raises `ValueError`.

The command line names a compressor by `--compressor` (of `compress`, with `--level`, and of
`levels`) and a reader by `levels --reader`; `--model` is for engines. A name that is none gets a
message with every one that there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from odqa_fast.engines import opening
from odqa_fast.engines.base import Component
from odqa_fast.engines.cached import CachedComponent
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.replies import ReplyStore
from odqa_fast.errors import OdqaError
from odqa_fast.plugins import Plugins, open_argument, unknown

C = TypeVar("C", bound=Component[Any])


@dataclass(frozen=True, kw_only=True)
class ComponentOptions:
    """What a reader or a compressor may be told when it is opened.

    Attributes:
        prompt: for a model, the name or the path of its prompt; None for its own.
        engine: for a model, how it runs or is asked.
        replies: for a model, where its replies are kept; None keeps none.
    """

    prompt: str | None = None
    engine: EngineOptions = field(default_factory=EngineOptions)
    replies: ReplyStore | None = None


def open_component(
    plugins: Plugins, asked: str, options: ComponentOptions, open_model: Callable[[], C]
) -> C:
    """The reader or compressor of a name.

    Args:
        plugins: all that are none of an engine.
        asked: its name, e.g. `bm25` or `onnx:FOLDER`.
        options: of it.
        open_model: opens it where an engine is named.

    Raises:
        OdqaError: there is none of that name, or it takes no argument, prompt or engine option and
            is given one, or not this argument.
        ModelError, EngineError: the model cannot be opened.
    """
    if _names_engine(plugins, asked):
        model = open_model()
        if options.replies is None:
            return model
        # It has the shape of what it stands before.
        return cast(C, CachedComponent(model, options.replies))
    name, _, argument = asked.partition(":")
    module = plugins.load_holding(name, opener := f"open_{plugins.kind}")
    shown = f"the {plugins.kind} {name!r}"
    if argument and not hasattr(module, "ARGUMENT"):
        raise OdqaError(f"{shown} takes nothing behind a colon.")
    # Their seconds are always those of a text by itself.
    honoured = {"timing"} | getattr(module, "HONOURS", frozenset())
    options.engine.require(honoured, f"{shown}, which is no model")
    if options.prompt is not None:
        raise OdqaError(
            f"{shown} is no model and takes no prompt.",
            hint=f"Models: {', '.join(opening.list_names())}.",
        )
    opens: Callable[[str, ComponentOptions], C] = getattr(module, opener)
    return open_argument(opens, name, argument, options)


def list_honoured(plugins: Plugins, asked: str) -> frozenset[str]:
    """The engine options that the reader or compressor of a name makes use of.

    Raises:
        OdqaError: there is none of that name.
    """
    if _names_engine(plugins, asked):
        return opening.list_honoured(asked)
    module = plugins.load(asked.partition(":")[0])
    honoured: frozenset[str] = getattr(module, "HONOURS", frozenset())
    return honoured


def _names_engine(plugins: Plugins, asked: str) -> bool:
    """Whether an engine is asked for, and so a model.

    Raises:
        OdqaError: there is no engine of that name either.
    """
    name, colon, _ = asked.partition(":")
    ours, engines = plugins.names(), opening.ENGINES.names()
    if name not in ours and not (colon and name in engines):
        listing = f"{plugins.kind.capitalize()}s: {', '.join([*ours, *opening.list_names()])}."
        what, hint = unknown(plugins.kind, name, {*ours, *engines}, listing)
        raise plugins.error(what, hint=hint)
    return name not in ours

"""Families of models: every module here without an underscore is one.

It holds `MODEL_TYPES`, the `model_type`s of config.json that it is for; `TASKS`, what its models
do, the usual first; `find_limits(config, trained)`, the tokens of a row that are usual and the most
that there can be, None for any number, where `trained` is what the tokenizer says, if it does; and
`build(config, weights, folder, plan)`, which writes the graphs and returns what the card says of
them under `graphs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from odqa_fast.engines.card import DType, Task
from odqa_fast.errors import ModelError
from odqa_fast.plugins import Plugins

FAMILIES = Plugins("model family", __name__, "odqa_fast.families")


@dataclass(frozen=True)
class Plan:
    """What is to be built.

    Attributes:
        family: its name.
        dtype: see `card.DType`.
        task: what the model is for.
        layer: of token embeddings: after how many layers they are taken; after all where None.
        tokens: that a row may hold, prompt and answer together.
    """

    family: str
    dtype: DType
    task: Task
    layer: int | None
    tokens: int


def find_family(config: Mapping[str, Any]) -> tuple[str, ModuleType]:
    """The family of a model, by its configuration, and its name.

    Raises:
        ModelError: there is none.
    """
    known = FAMILIES.collect(lambda module: [(kind, module) for kind in module.MODEL_TYPES])
    found = config.get("model_type")
    if found not in known:
        raise ModelError(
            f"models of the type {found!r} are not exported.",
            hint=f"Known: {', '.join(known)}; for others see --from-onnx.",
        )
    family = known[found]
    return family.__name__.rpartition(".")[2], family

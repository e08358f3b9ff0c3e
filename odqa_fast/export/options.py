"""The options of exporting a model."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from odqa_fast.engines.card import DType, Task
from odqa_fast.errors import OdqaError
from odqa_fast.option import Option, Options

Folder = str | os.PathLike[str]


@dataclass(frozen=True)
class ExportOptions(Options):
    """Build a model's ONNX graphs from its weights."""

    source: Annotated[
        str | None,
        Option(
            "A recipe, a folder with config.json and model.safetensors, a .gguf file, or a hub id "
            "owner/name.",
            positional=True,
        ),
    ] = None
    _: KW_ONLY
    out: Annotated[Folder | None, Option("The folder to write.")] = None
    dtype: Annotated[DType, Option("int8 is for processors; its texts are not those of fp32.")] = (
        "fp32"
    )
    task: Annotated[Task | None, Option("By default what the model says that it is for.")] = None
    layer: Annotated[int | None, Option("Token embeddings: after how many layers.", low=1)] = None
    max_tokens: Annotated[
        int | None,
        Option("Tokens a row may hold; by default what the model says.", low=1),
    ] = None
    weights: Annotated[
        Folder | None, Option("Where a recipe's weights lie, instead of fetching them.")
    ] = None
    from_onnx: Annotated[
        Folder | None,
        Option("A folder that optimum or onnxruntime-genai exported to: writes model.json there."),
    ] = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        if self.from_onnx is not None and self.given() != ["from_onnx"]:
            raise OdqaError("--from-onnx takes nothing beside it: the graphs stay as they are.")
        if self.from_onnx is None and (self.source is None or self.out is None):
            raise OdqaError(
                "a source and --out are needed.",
                hint="E.g. odqa-fast models export smollm2-135m --out smollm2",
            )

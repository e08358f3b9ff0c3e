"""Models as ONNX graphs, built from their weights with numpy and onnx alone.

| to add | touch |
|---|---|
| a family | one file in `families` |
| a kind of source | one file here that gives a `Checkpoint`, and its line in `sources.py` |
| a recipe | `models/<id>/model.toml` |
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from odqa_fast.atomic_output import WholeFolder
from odqa_fast.engines.card import FILE, DType, ModelCard, Task, list_files, load_card
from odqa_fast.errors import EngineError, ModelError

if TYPE_CHECKING:
    from odqa_fast.export.checkpoint import Progress


def export(
    source: str | Path,
    out: Path,
    *,
    dtype: DType = "fp32",
    task: Task | None = None,
    layer: int | None = None,
    max_tokens: int | None = None,
    weights: Path | None = None,
    progress: Progress | None = None,
) -> ModelCard:
    """Write a model as a folder of graphs, tokenizer.json and model.json; whole, or not at all.

    Args:
        source: a folder of Hugging Face's, a GGUF file, the id of a recipe, or a hub id.
        out: the folder; a model that is there already is replaced.
        dtype: fp32; fp16; int8, a CPU option whose texts are not those of fp32.
        task: by default what the configuration says that the model is for.
        layer: of token embeddings: after how many layers they are taken.
        max_tokens: tokens a row may hold, instead of what the model says.
        weights: where the weights of a recipe lie, instead of fetching them.
        progress: called with the share of the weights read.

    Raises:
        ModelError: the source is not there, is of no known kind, or does not fit together; or its
            chat template makes no prompt.
        EngineError: a library is missing.
        OutputError: the folder holds something else, or cannot be written.
    """
    _need_onnx()
    from odqa_fast.engines.tokens import check_template
    from odqa_fast.export.build import Wanted, write_model
    from odqa_fast.export.sources import open_source

    with open_source(source, weights, progress) as (checkpoint, recipe):
        known = list_files(out) | {FILE}
        with WholeFolder(out, "a model", known) as folder:
            try:
                wanted = Wanted(dtype, task, layer, max_tokens)
                write_model(checkpoint, recipe, folder.partial, wanted)
            except OSError as error:
                raise folder.failed(error) from None
            check_template(load_card(folder.partial, verify=False), where=str(source))
            folder.commit()
    return load_card(out, verify=False)


def describe_onnx(folder: Path) -> ModelCard:
    """Write model.json into a folder that optimum or onnxruntime-genai exported.

    Raises:
        ModelError: the folder holds no such export, or one that cannot be run as it is.
        EngineError: a library is missing.
    """
    _need_onnx()
    from odqa_fast.engines.tokens import check_template
    from odqa_fast.export.from_onnx import write_card

    write_card(folder)
    card = load_card(folder, verify=False)
    try:
        check_template(card)
    except ModelError:
        (folder / FILE).unlink()
        raise
    return card


def _need_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise EngineError(
            "exporting a model needs the library 'onnx'.", hint="pip install 'odqa-fast[export]'"
        ) from None


__all__ = ["describe_onnx", "export"]

"""From a checkpoint to the files of a model folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odqa_fast.engines.card import FILE, FORMAT, DType, Task, sha256_of
from odqa_fast.errors import ModelError
from odqa_fast.export import bert, llama, t5
from odqa_fast.export.checkpoint import Checkpoint
from odqa_fast.export.recipes import Recipe
from odqa_fast.export.tokens import token_fields, without_padding

#: Of a decoder, whose rotary table is a part of the graph; more by max_tokens.
DEFAULT_POSITIONS = 32768
#: Answers are short, summaries are a few sentences.
DEFAULT_NEW: dict[Task, int] = {"text-generation": 32, "text2text-generation": 128}

_TASK_OF_HEAD: dict[str, Task] = {
    "ForQuestionAnswering": "question-answering",
    "ForSequenceClassification": "text-classification",
}
_TASKS: dict[str, tuple[Task, ...]] = {
    "llama": ("text-generation",),
    "t5": ("text2text-generation",),
    "bert": ("token-embeddings", "question-answering", "text-classification"),
}
_FAMILIES = {
    **dict.fromkeys(llama.MODEL_TYPES, "llama"),
    **dict.fromkeys(t5.MODEL_TYPES, "t5"),
    **dict.fromkeys(bert.MODEL_TYPES, "bert"),
}


def write_model(
    checkpoint: Checkpoint,
    recipe: Recipe | None,
    folder: Path,
    *,
    dtype: DType,
    task: Task | None,
    layer: int | None,
    max_tokens: int | None,
) -> None:
    """Write graphs, tokenizer.json and model.json; see `export` for the arguments.

    Raises:
        ModelError: a family or task that is not exported, or parts that do not fit together.
    """
    config = checkpoint.config
    family = _family(config)
    if recipe:
        task, layer = task or recipe.task, layer or recipe.layer
        max_tokens = max_tokens or recipe.max_tokens
    task = task or _task(family, config)
    if task not in _TASKS[family]:
        raise ModelError(
            f"a model of the {family} family does no {task}.", hint=f"It does {_TASKS[family][0]}."
        )
    if layer and task != "token-embeddings":
        raise ModelError(f"a layer is chosen for token-embeddings, not for {task}.")
    limit = _limit(family, checkpoint, max_tokens)
    fields: dict[str, Any] = {
        "format": FORMAT,
        "id": checkpoint.source.get("name", folder.name),
        "task": task,
        "family": family,
        "dtype": dtype,
        "source": dict(checkpoint.source),
        "max_new": DEFAULT_NEW.get(task, 0),
        **token_fields(checkpoint, task),
        **_head_fields(task, config, layer),
    }
    if recipe:
        said = {"id": recipe.id, "source": {"license": recipe.license}, **recipe.card}
        fields = _merged(fields, said)
    fields["max_input"] = limit - (fields["max_new"] if family == "llama" else 0)
    if fields["max_input"] < 1:
        new = fields["max_new"]
        raise ModelError(f"{limit} tokens leave no room for an input and {new} new tokens.")
    if family == "llama":
        fields["graphs"] = llama.build(config, checkpoint.weights, folder, dtype, limit)
    elif family == "t5":
        fields["graphs"] = t5.build(config, checkpoint.weights, folder, dtype)
    else:
        fields["graphs"] = bert.build(config, checkpoint.weights, folder, dtype, task, layer)
    tokenizer = without_padding(checkpoint.tokenizer)
    (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    write_fields(folder, fields, [path.name for path in folder.iterdir()])


def write_fields(folder: Path, fields: Mapping[str, Any], files: list[str]) -> None:
    """Write model.json, with the sha256 of the files that belong to the model."""
    hashed = {"files": {name: sha256_of(folder / name) for name in sorted(files)}}
    text = json.dumps({**fields, **hashed}, indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def _family(config: Mapping[str, Any]) -> str:
    found = config.get("model_type")
    if found not in _FAMILIES:
        raise ModelError(
            f"models of the type {found!r} are not exported.",
            hint=f"Known: {', '.join(_FAMILIES)}; for others see --from-onnx.",
        )
    return _FAMILIES[found]


def _task(family: str, config: Mapping[str, Any]) -> Task:
    for name in config.get("architectures") or ():
        for ending, task in _TASK_OF_HEAD.items():
            if str(name).endswith(ending):
                return task
    return _TASKS[family][0]


def _limit(family: str, checkpoint: Checkpoint, asked: int | None) -> int:
    """Tokens of a row at most: a decoder's input and answer, else the input.

    Raises:
        ModelError: more is asked for than the model has positions for.
    """
    config = checkpoint.config
    stated = checkpoint.tokenizer_config.get("model_max_length")
    # transformers writes 1e30 where a tokenizer has no limit.
    trained = int(stated) if isinstance(stated, int | float) and 0 < stated < 1e9 else None
    if family == "t5":
        # Relative positions hold for any length.
        return asked or trained or int(config.get("n_positions", 512))
    if family == "llama":
        most = int(config["max_position_embeddings"])
        usual = min(most, DEFAULT_POSITIONS)
    else:
        most = bert.positions(config)
        usual = min(most, trained or most)
    if asked and asked > most:
        raise ModelError(f"{asked} tokens are asked for, the model has positions for {most}.")
    return asked or usual


def _head_fields(task: Task, config: Mapping[str, Any], layer: int | None) -> dict[str, Any]:
    if task == "token-embeddings":
        return {"layer": layer or config["num_hidden_layers"], "normalized": True}
    if task == "text-classification":
        return {"labels": bert.label_names(config)}
    return {}


def _merged(fields: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """What a recipe says beside what the model says; tables are merged."""
    for key, value in more.items():
        old = fields.get(key)
        fields[key] = _merged(dict(old), value) if isinstance(old, dict) else value
    return fields

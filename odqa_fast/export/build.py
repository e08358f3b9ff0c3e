"""From a checkpoint to the files of a model folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from odqa_fast.engines.card import FILE, FORMAT, DType, Task, hash_file
from odqa_fast.errors import ModelError
from odqa_fast.export.checkpoint import Checkpoint
from odqa_fast.export.config import read_labels
from odqa_fast.export.families import Plan, find_family
from odqa_fast.export.recipes import Recipe
from odqa_fast.export.tokens import describe_tokens, remove_padding

#: Answers are short, summaries are a few sentences.
DEFAULT_NEW: dict[Task, int] = {"text-generation": 32, "text2text-generation": 128}

_TASK_OF_HEAD: dict[str, Task] = {
    "ForQuestionAnswering": "question-answering",
    "ForSequenceClassification": "text-classification",
}


@dataclass(frozen=True)
class Wanted:
    """What a user asks of a model, instead of what the model and its recipe say; see `export`."""

    dtype: DType = "fp32"
    task: Task | None = None
    layer: int | None = None
    max_tokens: int | None = None


def write_model(
    checkpoint: Checkpoint, recipe: Recipe | None, folder: Path, wanted: Wanted
) -> None:
    """Write graphs, tokenizer.json and model.json.

    Raises:
        ModelError: a family or task that is not exported, or parts that do not fit together.
    """
    name, family = find_family(checkpoint.config)
    plan = _plan(checkpoint, recipe, wanted, name, family)
    fields = _describe(checkpoint, recipe, plan, folder.name)
    # A decoder alone has its prompt and its answer in the same positions.
    fields["max_input"] = plan.tokens - (fields["max_new"] if plan.task == "text-generation" else 0)
    if fields["max_input"] < 1:
        new = fields["max_new"]
        raise ModelError(f"{plan.tokens} tokens leave no room for an input and {new} new tokens.")
    fields["graphs"] = family.build(checkpoint.config, checkpoint.weights, folder, plan)
    tokenizer = remove_padding(checkpoint.tokenizer)
    (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    write_fields(folder, fields, [path.name for path in folder.iterdir()])


def _plan(
    checkpoint: Checkpoint, recipe: Recipe | None, wanted: Wanted, name: str, family: ModuleType
) -> Plan:
    """What is built: what is wanted, else what the recipe says, else the model.

    Raises:
        ModelError: the family does not do it.
    """
    task, layer, max_tokens = wanted.task, wanted.layer, wanted.max_tokens
    if recipe:
        task, layer = task or recipe.task, layer or recipe.layer
        max_tokens = max_tokens or recipe.max_tokens
    task = task or _task(family, checkpoint.config)
    if task not in family.TASKS:
        raise ModelError(
            f"a model of the {name} family does no {task}.", hint=f"It does {family.TASKS[0]}."
        )
    if layer and task != "token-embeddings":
        raise ModelError(f"a layer is chosen for token-embeddings, not for {task}.")
    return Plan(name, wanted.dtype, task, layer, _limit(family, checkpoint, max_tokens))


def _describe(
    checkpoint: Checkpoint, recipe: Recipe | None, plan: Plan, name: str
) -> dict[str, Any]:
    """The fields of a card that are known before its graphs are built."""
    fields: dict[str, Any] = {
        "format": FORMAT,
        "id": checkpoint.source.get("name", name),
        "task": plan.task,
        "family": plan.family,
        "dtype": plan.dtype,
        "source": dict(checkpoint.source),
        "max_new": DEFAULT_NEW.get(plan.task, 0),
        **describe_tokens(checkpoint, plan.task),
        **_head_fields(plan.task, checkpoint.config, plan.layer),
    }
    if recipe is None:
        return fields
    said = {"id": recipe.id, "source": {"license": recipe.license}, **recipe.card}
    return _merged(fields, said)


def write_fields(folder: Path, fields: Mapping[str, Any], files: list[str]) -> None:
    """Write model.json, with the sha256 of the files that belong to the model."""
    hashed = {"files": {name: hash_file(folder / name) for name in sorted(files)}}
    text = json.dumps({**fields, **hashed}, indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def _task(family: ModuleType, config: Mapping[str, Any]) -> Task:
    for name in config.get("architectures") or ():
        for ending, task in _TASK_OF_HEAD.items():
            if str(name).endswith(ending):
                return task
    usual: Task = family.TASKS[0]
    return usual


def _limit(family: ModuleType, checkpoint: Checkpoint, asked: int | None) -> int:
    """Tokens of a row at most: a decoder's input and answer, else the input.

    Raises:
        ModelError: more is asked for than the model has positions for.
    """
    stated = checkpoint.tokenizer_config.get("model_max_length")
    # transformers writes 1e30 where a tokenizer has no limit.
    trained = int(stated) if isinstance(stated, int | float) and 0 < stated < 1e9 else None
    usual, most = family.find_limits(checkpoint.config, trained)
    if asked and most is not None and asked > most:
        raise ModelError(f"{asked} tokens are asked for, the model has positions for {most}.")
    return int(asked or usual)


def _head_fields(task: Task, config: Mapping[str, Any], layer: int | None) -> dict[str, Any]:
    if task == "token-embeddings":
        return {"layer": layer or config["num_hidden_layers"], "normalized": True}
    if task == "text-classification":
        return {"labels": read_labels(config)}
    return {}


def _merged(fields: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """What a recipe says beside what the model says; tables are merged."""
    for key, value in more.items():
        old = fields.get(key)
        fields[key] = _merged(dict(old), value) if isinstance(old, dict) else value
    return fields

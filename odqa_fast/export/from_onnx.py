"""A model.json for what optimum or onnxruntime-genai exported: the graphs stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from odqa_fast.engines._external import find_external_files
from odqa_fast.engines.card import FORMAT, Task, is_inside
from odqa_fast.errors import ModelError
from odqa_fast.export.build import DEFAULT_NEW, write_fields
from odqa_fast.export.checkpoint import Checkpoint, read_json, read_tokenizer
from odqa_fast.export.config import Config, read_labels
from odqa_fast.export.tokens import describe_tokens
from odqa_fast.export.weights import Weights

_WANTED = "Name a folder that optimum or onnxruntime-genai exported to."
#: The task of a graph without a cache, by its output.
_TASK_OF_OUTPUT: dict[str, Task] = {
    "last_hidden_state": "token-embeddings",
    "start_logits": "question-answering",
    "logits": "text-classification",
}


def write_card(folder: Path) -> None:
    """Write model.json beside the graph of a folder.

    Raises:
        ModelError: no such folder, or a graph of another signature.
    """
    config, name = _config(folder)
    path = folder / name
    graph = _read(path)
    inputs = {value.name: value.type.tensor_type for value in graph.input}
    if not {"input_ids", "attention_mask"} <= set(inputs):
        raise ModelError("takes no input_ids and attention_mask.", where=str(path))
    kv = _key_values(graph, inputs)
    task = "text-generation" if kv else _task(graph, path)
    described = {
        "file": name,
        "inputs": "mask+positions" if "position_ids" in inputs else "mask",
        **({"logits": "all", "kv": kv} if kv else {}),
    }
    tokenizer, tokenizer_config = read_tokenizer(folder)
    checkpoint = Checkpoint(
        config=Config(config),
        weights=Weights({}, str(folder)),
        tokenizer=tokenizer,
        tokenizer_config=tokenizer_config,
        generation=read_json(folder / "generation_config.json") or {},
    )
    new = DEFAULT_NEW.get(task, 0)
    fields = {
        "format": FORMAT,
        "id": folder.resolve().name,
        "task": task,
        "family": config.get("model_type", "unknown"),
        "dtype": _dtype(graph),
        "source": {"kind": "onnx", "name": folder.resolve().name},
        "graphs": {"decoder" if kv else "encoder": described},
        "max_input": int(config.get("max_position_embeddings", 512)) - new,
        "max_new": new,
        **describe_tokens(checkpoint, task),
    }
    if task == "token-embeddings":
        fields |= {"layer": config.get("num_hidden_layers"), "normalized": False}
    elif task == "text-classification":
        fields["labels"] = read_labels(config)
    write_fields(folder, fields, [name, *find_external_files(path), "tokenizer.json"])


def _read(path: Path) -> Any:
    """A graph without its weights, all of which lie in its folder.

    Raises:
        ModelError: it is none, or its weights lie elsewhere.
    """
    if not path.is_file():
        if (path.parent / "encoder_model.onnx").is_file():
            raise ModelError(
                "holds an encoder-decoder, whose graphs are not run.",
                where=str(path.parent),
                hint="Export it from its weights: 'odqa-fast models export'.",
            )
        raise ModelError(f"holds no {path.name}.", where=str(path.parent), hint=_WANTED)
    for name in find_external_files(path):
        if not is_inside(name) or not (path.parent / name).is_file():
            raise ModelError(f"keeps weights in {name!r}, which is not there.", where=str(path))
    try:
        return onnx.load(str(path), load_external_data=False).graph
    except DecodeError:
        raise ModelError("is no ONNX graph.", where=str(path)) from None


def _task(graph: Any, path: Path) -> Task:
    outputs = [value.name for value in graph.output]
    found = next((output for output in outputs if output in _TASK_OF_OUTPUT), None)
    if found is None:
        raise ModelError(
            f"has the outputs {', '.join(outputs)}, of which none is known.",
            where=str(path),
            hint=f"Known: {', '.join(_TASK_OF_OUTPUT)}; past_key_values of a decoder.",
        )
    return _TASK_OF_OUTPUT[found]


def _config(folder: Path) -> tuple[dict[str, Any], str]:
    """The configuration in the words of config.json, and the name of the graph."""
    genai = read_json(folder / "genai_config.json")
    config = read_json(folder / "config.json")
    if genai:
        model = genai["model"]
        said = {key: model.get(key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
        decoder = model["decoder"]
        said |= {
            "model_type": model.get("type"),
            "vocab_size": model.get("vocab_size"),
            "max_position_embeddings": model.get("context_length"),
            "num_hidden_layers": decoder.get("num_hidden_layers"),
        }
        return {**(config or {}), **said}, decoder.get("filename", "model.onnx")
    if config is None:
        raise ModelError(
            "holds neither config.json nor genai_config.json.",
            where=str(folder),
            hint=_WANTED,
        )
    return config, "model.onnx"


def _key_values(graph: Any, inputs: dict[str, Any]) -> dict[str, Any] | None:
    layers = sum(name.startswith("past_key_values.") for name in inputs) // 2
    if not layers:
        return None
    shape = inputs["past_key_values.0.key"].shape.dim
    return {
        "layers": layers,
        "heads": shape[1].dim_value,
        "head_dim": shape[3].dim_value,
        # Its present may lie where its past does; a Concat makes a new one.
        "shared": any(node.op_type == "GroupQueryAttention" for node in graph.node),
    }


def _dtype(graph: Any) -> str:
    kinds = {tensor.data_type for tensor in graph.initializer if tensor.dims}
    if kinds & {onnx.TensorProto.INT8, onnx.TensorProto.UINT8}:
        return "quantized"
    return "fp16" if onnx.TensorProto.FLOAT16 in kinds else "fp32"

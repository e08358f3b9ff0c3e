"""Decoders with the inputs that optimum and onnxruntime-genai write."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tiny
import tiny_models
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, POSITIONS = 32, 4, 256
WEIGHTS = {
    "embedding": tiny.random("toy-embedding", tiny.WORDS, HIDDEN, size=4),
    "position": tiny.random("toy-position", POSITIONS, HIDDEN, size=4),
    **{name: tiny.random(f"toy-{name}", HIDDEN, HIDDEN, size=1.5) for name in "qkvo"},
}


def masked(llama: Path, folder: Path) -> Path:
    """A decoder that is told by a mask what is real, and gives the logits of every token."""
    shutil.copytree(llama, folder)
    model = onnx.load(folder / "model.onnx")
    graph = model.graph
    told = {"seqlens_k", "total_len", "last_pos"}
    kept = [value for value in graph.input if value.name not in told]
    del graph.input[:]
    graph.input.extend(kept)
    graph.input.append(
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["B", "T"])
    )
    one = numpy_helper.from_array(np.array([1], np.int64), "mask_one")
    graph.initializer.append(one)
    nodes = [
        helper.make_node("ReduceSum", ["attention_mask", "mask_one"], ["mask_sum"], keepdims=0),
        helper.make_node("Sub", ["mask_sum", "mask_one"], ["mask_less"]),
        helper.make_node("Cast", ["mask_less"], ["seqlens_k"], to=TensorProto.INT32),
        helper.make_node("Shape", ["attention_mask"], ["mask_width"], start=1, end=2),
        helper.make_node("Cast", ["mask_width"], ["total_len"], to=TensorProto.INT32),
    ]
    # Instead of the last token's choice and what follows it, the head over all tokens.
    by_type = {node.op_type: node for node in graph.node}
    hidden, table = by_type["GatherElements"].input[0], by_type["Gemm"].input[1]
    values = next(each for each in graph.initializer if each.name == table)
    graph.initializer.append(
        numpy_helper.from_array(np.ascontiguousarray(numpy_helper.to_array(values).T), "head")
    )
    before = list(graph.node)[: list(graph.node).index(by_type["Expand"])]
    del graph.node[:]
    graph.node.extend([*nodes, *before, helper.make_node("MatMul", [hidden, "head"], ["logits"])])
    outputs = [value for value in graph.output if value.name.startswith("present")]
    del graph.output[:]
    vocabulary = tiny.WORDS
    graph.output.append(
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["B", "S", vocabulary])
    )
    graph.output.extend(outputs)
    _save(model, folder, "mask", "all")
    return folder


def positioned(llama: Path, folder: Path) -> Path:
    """One layer with learned positions and a cache that grows."""
    shutil.copytree(llama, folder)
    info, ints = helper.make_tensor_value_info, TensorProto.INT64
    cache = [f"past_key_values.0.{part}" for part in ("key", "value")]
    presents = [name.replace("past_key_values", "present") for name in cache]
    size = HIDDEN // HEADS
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["word"]),
        helper.make_node("Gather", ["position", "position_ids"], ["place"]),
        helper.make_node("Add", ["word", "place"], ["x"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.INT32),
        *(helper.make_node("MatMul", ["x", name], [f"{name}x"]) for name in "qkv"),
        helper.make_node(
            "MultiHeadAttention",
            ["qx", "kx", "vx", "", "mask", "", *cache],
            ["seen", *presents],
            domain="com.microsoft",
            num_heads=HEADS,
            unidirectional=1,
        ),
        helper.make_node("MatMul", ["seen", "o"], ["y"]),
        helper.make_node("Add", ["x", "y"], ["z"]),
        helper.make_node("MatMul", ["z", "head"], ["logits"]),
    ]
    tables = {**WEIGHTS, "head": np.ascontiguousarray(WEIGHTS["embedding"].T)}
    graph = helper.make_graph(
        nodes,
        "toy",
        [
            *(info(name, ints, ["B", "S"]) for name in ("input_ids", "position_ids")),
            info("attention_mask", ints, ["B", "T"]),
            *(info(name, TensorProto.FLOAT, ["B", HEADS, "P", size]) for name in cache),
        ],
        [
            info("logits", TensorProto.FLOAT, ["B", "S", tiny.WORDS]),
            *(info(name, TensorProto.FLOAT, ["B", HEADS, "T", size]) for name in presents),
        ],
        [numpy_helper.from_array(values, name) for name, values in tables.items()],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    _save(
        helper.make_model(graph, opset_imports=opsets, ir_version=10),
        folder,
        "mask+positions",
        "all",
        {"layers": 1, "heads": HEADS, "head_dim": size, "shared": False},
    )
    return folder


def toy(ids: list[int]) -> Any:
    """The logits of the token after some, by plain numpy."""
    x = WEIGHTS["embedding"][ids] + WEIGHTS["position"][: len(ids)]
    q, k, v = (
        (x @ WEIGHTS[name]).reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for name in "qkv"
    )
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(HIDDEN // HEADS)
    scores += np.triu(np.full((len(ids), len(ids)), -np.inf), 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    seen = (weights / weights.sum(-1, keepdims=True)) @ v
    y = seen.transpose(1, 0, 2).reshape(len(ids), HIDDEN) @ WEIGHTS["o"]
    return ((x + y) @ WEIGHTS["embedding"].T)[-1]


def _save(
    model: Any, folder: Path, inputs: str, logits: str, kv: dict[str, Any] | None = None
) -> None:
    onnx.save(model, folder / "model.onnx")
    (folder / "model.onnx.data").unlink(missing_ok=True)
    path = folder / "model.json"
    card = json.loads(path.read_text())
    decoder = card["graphs"]["decoder"]
    decoder |= {"inputs": inputs, "logits": logits, "kv": kv or decoder["kv"]}
    card["files"].pop("model.onnx.data", None)
    path.write_text(json.dumps(card))
    tiny_models.rehash(folder)

"""Encoder-decoders of the T5 kind: T5, T5 v1.1, Flan-T5, mT5.

Two graphs. The encoder gives the keys and values that every decoder layer attends to, computed
once; the decoder takes one step. So the decoder's weights are kept once.

In fp16 and int8 the second matrix of each feed-forward (`wo`) and the residual stream stay fp32:
its outputs pass the largest number of fp16 in the larger models, and transformers keeps it so too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.card import Task
from odqa_fast.errors import ModelError
from odqa_fast.export.families import Plan
from odqa_fast.export.graph import FLOAT, INT32, INT64, GraphBuilder
from odqa_fast.export.stream import ResidualStream
from odqa_fast.export.weights import Floats, Weights

MODEL_TYPES = ("t5", "mt5")
TASKS: tuple[Task, ...] = ("text2text-generation",)

_EMBEDDINGS = ("shared", "encoder.embed_tokens", "decoder.embed_tokens")


def find_limits(config: Mapping[str, Any], trained: int | None) -> tuple[int, None]:
    """See `families`: relative positions hold for any length."""
    return trained or int(config.get("n_positions", 512)), None


def build(config: Mapping[str, Any], weights: Weights, folder: Path, plan: Plan) -> dict[str, Any]:
    """Write `encoder.onnx` and `decoder.onnx`; return what the card says of them under `graphs`.

    Args:
        config: as in config.json.
        weights: named as in a folder of Hugging Face's.
        folder: where the graphs go.
        plan: what is to be built.

    Raises:
        ModelError: the configuration asks for something that is not exported, or does not fit the
            weights.
    """
    with GraphBuilder(folder / "encoder.onnx", plan.dtype) as graph:
        _Encoder(graph, config, weights).build()
    with GraphBuilder(folder / "decoder.onnx", plan.dtype) as graph:
        decoder = _Decoder(graph, config, weights)
        decoder.build()
    return {
        "encoder": {"file": "encoder.onnx", "inputs": "lens"},
        "decoder": {
            "file": "decoder.onnx",
            "inputs": "lens",
            "logits": "last",
            "kv": {
                "layers": decoder.layers,
                "heads": config["num_heads"],
                "head_dim": config["d_kv"],
                "shared": False,
            },
        },
    }


class _Side:
    """What encoder and decoder share."""

    name: str

    def __init__(self, graph: GraphBuilder, config: Mapping[str, Any], weights: Weights) -> None:
        self.graph = graph
        self.config = config
        self.weights = weights
        self.hidden = config["d_model"]
        self.heads = config["num_heads"]
        self.head_dim = config["d_kv"]
        self.layers = config.get("num_decoder_layers") or config["num_layers"]
        self.embedding = next((name for name in _EMBEDDINGS if f"{name}.weight" in weights), "")

    def embed(self) -> ResidualStream:
        """Token embeddings as the start of the residual stream."""
        table = self.graph.weight("shared", self._embedding_table())
        x = self.graph.op("Gather", table, "input_ids")
        return ResidualStream(self.graph, x, self.config["layer_norm_epsilon"], fp32=True)

    def _embedding_table(self) -> Floats:
        shape = self.config["vocab_size"], self.hidden
        return self.weights.take(f"{self.embedding or _EMBEDDINGS[0]}.weight", *shape)

    def norm(self, stream: ResidualStream, name: str) -> str:
        return stream.norm(name, self.weights.take(f"{name}.weight", self.hidden))

    def project(self, name: str, x: str) -> str:
        """To queries, keys or values: [B, S, hidden] -> [B, S, heads * head_dim]."""
        weight = self.weights.take(f"{name}.weight", self.heads * self.head_dim, self.hidden)
        return self.graph.linear(x, name, weight)

    def project_back(self, name: str, x: str) -> str:
        weight = self.weights.take(f"{name}.weight", self.hidden, self.heads * self.head_dim)
        return self.graph.linear(x, name, weight)

    def feed_forward(self, stream: ResidualStream, at: str, sublayer: int) -> None:
        graph, inner = self.graph, self.config["d_ff"]
        x = self.norm(stream, f"{at}.layer.{sublayer}.layer_norm")
        at = f"{at}.layer.{sublayer}.DenseReluDense"

        def widen(name: str) -> str:
            weight = self.weights.take(f"{at}.{name}.weight", inner, self.hidden)
            return graph.linear(x, f"{at}.{name}", weight)

        kind = self.config.get("feed_forward_proj", "relu")
        if kind == "gated-gelu":
            y = graph.op("Mul", graph.op("FastGelu", widen("wi_0")), widen("wi_1"))
        elif kind == "relu":
            y = graph.op("Relu", widen("wi"))
        else:
            raise ModelError(f"the feed-forward {kind!r} is not exported.")
        weight = self.weights.take(f"{at}.wo.weight", self.hidden, inner)
        stream.add(graph.fp32_linear(y, f"{at}.wo", weight), fp32=True)

    def bias_table(self, distances: npt.NDArray[np.int64]) -> str:
        """What attention adds for each distance (key minus query): a constant [heads, distances]"""
        config = self.config
        buckets = config.get("relative_attention_num_buckets", 32)
        name = f"{self.name}.block.0.layer.0.SelfAttention.relative_attention_bias"
        learned = self.weights.take(f"{name}.weight", buckets, self.heads)
        rows = bucket_distances(distances, buckets, self.farthest, both_ways=self.name == "encoder")
        return self.graph.weight(name, learned[rows].T)

    @property
    def farthest(self) -> int:
        """The distance from which on all are alike."""
        return int(self.config.get("relative_attention_max_distance", 128))


class _Encoder(_Side):
    name = "encoder"

    def build(self) -> None:
        graph = self.graph
        graph.input("input_ids", INT64, "B", "S")
        graph.input("lens", INT32, "B")
        stream = self.embed()
        bias = self._bias()
        for layer in range(self.config["num_layers"]):
            at = f"encoder.block.{layer}"
            x = self.norm(stream, f"{at}.layer.0.layer_norm")
            parts = [self.project(f"{at}.layer.0.SelfAttention.{part}", x) for part in "qkv"]
            y = graph.op(
                "MultiHeadAttention", *parts, "", "lens", bias, num_heads=self.heads, scale=1.0
            )
            stream.add(self.project_back(f"{at}.layer.0.SelfAttention.o", y))
            self.feed_forward(stream, at, 1)
        encoded = self.norm(stream, "encoder.final_layer_norm")
        for layer in range(self.layers):
            for part, name in (("k", "key"), ("v", "value")):
                at = f"decoder.block.{layer}.layer.1.EncDecAttention.{part}"
                split = graph.ints(0, 0, self.heads, self.head_dim)
                y = graph.op("Reshape", self.project(at, encoded), split)
                out = graph.op("Transpose", y, perm=[0, 2, 1, 3], out=f"cross.{layer}.{name}")
                graph.output(out, graph.float, "B", self.heads, "S", self.head_dim)

    def _bias(self) -> str:
        """[1, heads, S, S], for texts of any length."""
        graph, farthest = self.graph, self.farthest
        table = self.bias_table(np.arange(-farthest, farthest + 1))
        length = graph.op("Squeeze", graph.op("Shape", "input_ids", start=1, end=2))
        zero, one = graph.scalar(0, np.int64), graph.scalar(1, np.int64)
        places = graph.op("Range", zero, length, one)
        keys = graph.op("Unsqueeze", places, graph.ints(0))
        queries = graph.op("Unsqueeze", places, graph.ints(1))
        limits = graph.scalar(-farthest, np.int64), graph.scalar(farthest, np.int64)
        near = graph.op("Clip", graph.op("Sub", keys, queries), *limits)
        rows = graph.op("Add", near, limits[1])
        return graph.op("Unsqueeze", graph.op("Gather", table, rows, axis=1), graph.ints(0))


class _Decoder(_Side):
    name = "decoder"

    def build(self) -> None:
        graph = self.graph
        graph.input("input_ids", INT64, "B", 1)
        graph.input("lens", INT32, "B")
        stream = self.embed()
        for layer in range(self.layers):
            self._declare(layer)
        bias = self._bias()
        for layer in range(self.layers):
            at = f"decoder.block.{layer}"
            stream.add(self._self_attention(stream, at, layer, bias))
            stream.add(self._cross_attention(stream, at, layer))
            self.feed_forward(stream, at, 2)
        x = self.norm(stream, "decoder.final_layer_norm")
        logits = self._logits(graph.op("Squeeze", x, graph.ints(1)))
        graph.op("Cast", logits, to=FLOAT, out="logits")
        graph.op("ArgMax", "logits", axis=-1, keepdims=0, out="next_token")
        graph.output("next_token", INT64, "B")
        graph.output("logits", FLOAT, "B", self.config["vocab_size"])

    def _declare(self, layer: int) -> None:
        for name in ("key", "value"):
            for kind, length in (("past_key_values", "P"), ("cross", "S")):
                shape = ("B", self.heads, length, self.head_dim)
                self.graph.input(f"{kind}.{layer}.{name}", self.graph.float, *shape)
            shape = ("B", self.heads, "T", self.head_dim)
            self.graph.output(f"present.{layer}.{name}", self.graph.float, *shape)

    def _bias(self) -> str:
        """[1, heads, 1, P + 1]: of the new token to all before it and itself."""
        graph = self.graph
        table = self.bias_table(-np.arange(self.farthest + 1))
        past = graph.op("Shape", "past_key_values.0.key", start=2, end=3)
        past = graph.op("Squeeze", past)
        zero, one = graph.scalar(0, np.int64), graph.scalar(1, np.int64)
        places = graph.op("Range", zero, graph.op("Add", past, one), one)
        # Not Range(P, -1, -1): onnxruntime 1.32 makes a broken Slice of a Gather by it.
        away = graph.op("Sub", past, places)
        near = graph.op("Min", away, graph.scalar(self.farthest, np.int64))
        return graph.op("Unsqueeze", graph.op("Gather", table, near, axis=1), graph.ints(0, 2))

    def _self_attention(self, stream: ResidualStream, at: str, layer: int, bias: str) -> str:
        x = self.norm(stream, f"{at}.layer.0.layer_norm")
        parts = [self.project(f"{at}.layer.0.SelfAttention.{part}", x) for part in "qkv"]
        past = [f"past_key_values.{layer}.{name}" for name in ("key", "value")]
        present = [f"present.{layer}.{name}" for name in ("key", "value")]
        y = self.graph.ops(
            "MultiHeadAttention",
            [*parts, "", "", bias, *past],
            [f"{at}.self", *present],
            num_heads=self.heads,
            scale=1.0,
        )[0]
        return self.project_back(f"{at}.layer.0.SelfAttention.o", y)

    def _cross_attention(self, stream: ResidualStream, at: str, layer: int) -> str:
        x = self.norm(stream, f"{at}.layer.1.layer_norm")
        query = self.project(f"{at}.layer.1.EncDecAttention.q", x)
        cross = [f"cross.{layer}.{name}" for name in ("key", "value")]
        y = self.graph.op(
            "MultiHeadAttention", query, *cross, "", "lens", num_heads=self.heads, scale=1.0
        )
        return self.project_back(f"{at}.layer.1.EncDecAttention.o", y)

    def _logits(self, x: str) -> str:
        graph, shape = self.graph, (self.config["vocab_size"], self.hidden)
        head = "shared"
        if "lm_head.weight" in self.weights:
            head = graph.weight("lm_head", self.weights.take("lm_head.weight", *shape))
        return graph.op("Gemm", x, head, transB=1, alpha=self._logit_scale())

    def _logit_scale(self) -> float:
        """T5 v1 scales what its embeddings, read backwards, are multiplied by.

        That a checkpoint is not of v1 was to be seen from untied embeddings; transformers 5 calls
        all of them tied and says it by a field of its own.
        """
        config = self.config
        v1 = config["model_type"] == "t5" and config.get("tie_word_embeddings") is not False
        return float(self.hidden**-0.5) if config.get("scale_decoder_outputs", v1) else 1.0


def bucket_distances(
    distances: npt.NDArray[np.int64], buckets: int, farthest: int, *, both_ways: bool
) -> npt.NDArray[np.int64]:
    """T5's bucket of each distance, key minus query (arXiv 1910.10683, section 2.1).

    Half of the buckets are for one distance each, the other half grow logarithmically up to
    `farthest`; both ways, the keys behind the query have half of them all.
    """
    if both_ways:
        buckets //= 2
    offset = (distances > 0) * buckets if both_ways else np.zeros_like(distances)
    away = np.abs(distances) if both_ways else np.maximum(-distances, 0)
    exact = buckets // 2
    # In float32, as the models were trained: a border may lie elsewhere in float64.
    growth = np.log(np.maximum(away, 1).astype(np.float32) / exact)
    growth = growth / np.float32(math.log(farthest / exact)) * (buckets - exact)
    wide = np.minimum(exact + growth.astype(np.int64), buckets - 1)
    return np.asarray(offset + np.where(away < exact, away, wide), np.int64)

"""Decoders of the Llama kind: Llama 2 and 3, SmolLM, Mistral, Qwen 2, 2.5 and 3.

One graph serves prompt and continuation: attention with rotary positions and a key-value buffer in
one node, logits of each row's last token only. `card.Inputs` says what "seqlens" inputs mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from odqa_fast.engines.card import Task
from odqa_fast.errors import ModelError
from odqa_fast.export.families import Plan
from odqa_fast.export.graph import FLOAT, INT32, INT64, GraphBuilder
from odqa_fast.export.rope import make_rotary_tables
from odqa_fast.export.stream import ResidualStream
from odqa_fast.export.weights import Weights

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
TASKS: tuple[Task, ...] = ("text-generation",)

#: The rotary table is a part of the graph; more by max_tokens.
DEFAULT_POSITIONS = 32768


def find_limits(config: Mapping[str, Any], trained: int | None) -> tuple[int, int]:
    """See `families`: of prompt and answer together."""
    most = int(config["max_position_embeddings"])
    return min(most, DEFAULT_POSITIONS), most


def build(config: Mapping[str, Any], weights: Weights, folder: Path, plan: Plan) -> dict[str, Any]:
    """Write `model.onnx`; return what the card says of it under `graphs`.

    Args:
        config: as in config.json.
        weights: named as in a folder of Hugging Face's.
        folder: where the graph goes.
        plan: what is to be built.

    Raises:
        ModelError: the configuration asks for something that is not exported, or does not fit the
            weights.
    """
    if config.get("hidden_act", "silu") != "silu":
        raise ModelError(f"the activation {config['hidden_act']!r} is not exported.")
    dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    if dim % 16:
        raise ModelError(f"heads of {dim} are not run by onnxruntime: it wants a multiple of 16.")
    with GraphBuilder(folder / "model.onnx", plan.dtype) as graph:
        decoder = _Decoder(graph, config, weights, plan.tokens)
        decoder.build()
    return {
        "decoder": {
            "file": "model.onnx",
            "inputs": "seqlens",
            "logits": "last",
            "kv": {
                "layers": config["num_hidden_layers"],
                "heads": decoder.kv_heads,
                "head_dim": decoder.head_dim,
                "shared": True,
            },
        }
    }


class _Decoder:
    def __init__(
        self, graph: GraphBuilder, config: Mapping[str, Any], weights: Weights, positions: int
    ) -> None:
        self._graph = graph
        self._config = config
        self._weights = weights
        self._hidden = config["hidden_size"]
        self._heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self._heads
        self.head_dim = config.get("head_dim") or self._hidden // self._heads
        cos, sin = make_rotary_tables(config, self.head_dim, positions)
        self._rotary = graph.weight("rotary.cos", cos), graph.weight("rotary.sin", sin)

    def build(self) -> None:
        graph, config = self._graph, self._config
        graph.input("input_ids", INT64, "B", "S")
        graph.input("seqlens_k", INT32, "B")
        graph.input("total_len", INT32, 1)
        graph.input("last_pos", INT64, "B", 1, 1)
        name, vocabulary = "model.embed_tokens.weight", config["vocab_size"]
        embedding = self._weights.take(name, vocabulary, self._hidden)
        x = graph.op("Gather", graph.weight(name, embedding), "input_ids")
        stream = ResidualStream(graph, x, config["rms_norm_eps"])
        for layer, window in enumerate(_windows(config)):
            at = f"model.layers.{layer}"
            x = stream.norm(*self._scale(f"{at}.input_layernorm"))
            stream.add(self._attention(layer, x, window))
            x = stream.norm(*self._scale(f"{at}.post_attention_layernorm"))
            stream.add(self._feed_forward(f"{at}.mlp", x))
        last = self._last(stream.norm(*self._scale("model.norm")))
        if "lm_head.weight" in self._weights and not config.get("tie_word_embeddings"):
            name = "lm_head.weight"
            embedding = self._weights.take(name, vocabulary, self._hidden)
        logits = graph.op("Gemm", last, graph.weight(name, embedding), transB=1)
        graph.op("Cast", logits, to=FLOAT, out="logits")
        graph.op("ArgMax", "logits", axis=-1, keepdims=0, out="next_token")
        graph.output("next_token", INT64, "B")
        graph.output("logits", FLOAT, "B", vocabulary)

    def _attention(self, layer: int, x: str, window: int | None) -> str:
        graph, at = self._graph, f"model.layers.{layer}.self_attn"
        outputs = [f"{at}.out"]
        past = []
        for part in ("key", "value"):
            shape = ("B", self.kv_heads, "P", self.head_dim)
            past.append(graph.input(f"past_key_values.{layer}.{part}", graph.float, *shape))
            outputs.append(f"present.{layer}.{part}")
            graph.output(outputs[-1], graph.float, "B", self.kv_heads, "T", self.head_dim)
        graph.ops(
            "GroupQueryAttention",
            [*self._query_key_value(at, x), *past, "seqlens_k", "total_len", *self._rotary],
            outputs,
            num_heads=self._heads,
            kv_num_heads=self.kv_heads,
            do_rotary=1,
            scale=self.head_dim**-0.5,
            # The token itself included, as in transformers; so since onnxruntime 1.24.
            local_window_size=window or -1,
        )
        return self._linear(f"{at}.o_proj", outputs[0], self._heads * self.head_dim, self._hidden)

    def _query_key_value(self, at: str, x: str) -> tuple[str, str, str]:
        names = [f"{at}.{part}_proj" for part in "qkv"]
        sizes = [heads * self.head_dim for heads in (self._heads, self.kv_heads, self.kv_heads)]
        if f"{at}.q_norm.weight" in self._weights:
            query, key, value = (
                self._linear(name, x, self._hidden, size)
                for name, size in zip(names, sizes, strict=True)
            )
            query = self._head_norm(f"{at}.q_norm", query, self._heads)
            return query, self._head_norm(f"{at}.k_norm", key, self.kv_heads), value
        # One product for the three: a tenth off the time of a token on a processor.
        parts = list(zip(names, sizes, strict=True))
        weights = [self._weights.take(f"{name}.weight", n, self._hidden) for name, n in parts]
        biases = [self._weights.maybe(f"{name}.bias", n) for name, n in parts]
        known = [np.zeros(n) if b is None else b for b, n in zip(biases, sizes, strict=True)]
        bias = None if all(b is None for b in biases) else np.concatenate(known)
        packed = self._graph.linear(x, f"{at}.qkv_proj", np.concatenate(weights), bias)
        return packed, "", ""

    def _head_norm(self, name: str, x: str, heads: int) -> str:
        """RMS norm of each head by itself (Qwen 3)."""
        graph = self._graph
        scale = graph.weight(name, self._weights.take(f"{name}.weight", self.head_dim))
        x = graph.op("Reshape", x, graph.ints(0, 0, heads, self.head_dim))
        epsilon = self._config["rms_norm_eps"]
        x = graph.op("SimplifiedLayerNormalization", x, scale, epsilon=epsilon, axis=-1)
        return graph.op("Reshape", x, graph.ints(0, 0, heads * self.head_dim))

    def _feed_forward(self, at: str, x: str) -> str:
        graph, inner = self._graph, self._config["intermediate_size"]
        gate = self._linear(f"{at}.gate_proj", x, self._hidden, inner)
        up = self._linear(f"{at}.up_proj", x, self._hidden, inner)
        silu = graph.op("Mul", gate, graph.op("Sigmoid", gate))
        return self._linear(f"{at}.down_proj", graph.op("Mul", silu, up), inner, self._hidden)

    def _last(self, x: str) -> str:
        """Each row's last real token: [B, S, hidden] -> [B, hidden]."""
        graph = self._graph
        index = graph.op("Expand", "last_pos", graph.ints(1, 1, self._hidden))
        return graph.op("Squeeze", graph.op("GatherElements", x, index, axis=1), graph.ints(1))

    def _linear(self, name: str, x: str, size_in: int, size_out: int) -> str:
        weight = self._weights.take(f"{name}.weight", size_out, size_in)
        return self._graph.linear(x, name, weight, self._weights.maybe(f"{name}.bias", size_out))

    def _scale(self, name: str) -> tuple[str, np.ndarray[Any, np.dtype[np.float32]]]:
        return name, self._weights.take(f"{name}.weight", self._hidden)


def _windows(config: Mapping[str, Any]) -> list[int | None]:
    """Of each layer, how many tokens back it attends to, the token itself included; None: all."""
    layers, window = config["num_hidden_layers"], config.get("sliding_window")
    kinds = config.get("layer_types")
    if kinds:
        return [window if kind == "sliding_attention" else None for kind in kinds]
    if config["model_type"].startswith("qwen"):
        slides = window if config.get("use_sliding_window") else None
        first = config.get("max_window_layers", layers)
        return [slides if layer >= first else None for layer in range(layers)]
    return [window if config["model_type"] == "mistral" else None] * layers

"""Encoders of the BERT kind: BERT, MiniLM, RoBERTa, XLM-RoBERTa; plain, or with a head.

token-embeddings: the hidden states after some layer, each of length 1 (BERTScore);
question-answering: `start_logits` and `end_logits` of each token;
text-classification: `logits` of each label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from odqa_fast.engines.card import Task
from odqa_fast.errors import ModelError
from odqa_fast.export.config import read_labels
from odqa_fast.export.families import Plan
from odqa_fast.export.graph import FLOAT, INT32, INT64, GraphBuilder
from odqa_fast.export.weights import Floats, Weights

MODEL_TYPES = ("bert", "roberta", "xlm-roberta")
TASKS: tuple[Task, ...] = ("token-embeddings", "question-answering", "text-classification")


def build(config: Mapping[str, Any], weights: Weights, folder: Path, plan: Plan) -> dict[str, Any]:
    """Write `model.onnx`; return what the card says of it under `graphs`.

    Args:
        config: as in config.json.
        weights: named as in a folder of Hugging Face's.
        folder: where the graph goes.
        plan: its task says which head.

    Raises:
        ModelError: the configuration asks for something that is not exported, or does not fit the
            weights.
    """
    total, layer = config["num_hidden_layers"], plan.layer
    if layer is not None and not 0 < layer <= total:
        raise ModelError(f"there is no layer {layer}.", hint=f"The model has layers 1 to {total}.")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ModelError(f"positions {config['position_embedding_type']!r} are not exported.")
    if config.get("hidden_act", "gelu") != "gelu":
        raise ModelError(f"the activation {config['hidden_act']!r} is not exported.")
    with GraphBuilder(folder / "model.onnx", plan.dtype) as graph:
        _Encoder(graph, config, weights).build(plan.task, layer or total)
    return {"encoder": {"file": "model.onnx", "inputs": "mask"}}


def find_limits(config: Mapping[str, Any], trained: int | None) -> tuple[int, int]:
    """See `families`: the positions, fewer where the tokenizer says so."""
    most = int(config["max_position_embeddings"]) - _first_position(config)
    return min(most, trained or most), most


def _first_position(config: Mapping[str, Any]) -> int:
    # RoBERTa keeps the positions up to the padding token's id for padding.
    return 0 if config["model_type"] == "bert" else int(config.get("pad_token_id", 1)) + 1


class _Encoder:
    def __init__(self, graph: GraphBuilder, config: Mapping[str, Any], weights: Weights) -> None:
        self._graph = graph
        self._config = config
        self._weights = weights
        self._hidden = config["hidden_size"]
        name = "embeddings.word_embeddings.weight"
        prefixes = (prefix for prefix in ("", "bert.", "roberta.") if prefix + name in weights)
        self._prefix = next(prefixes, "")

    def build(self, task: Task, layers: int) -> None:
        graph = self._graph
        graph.input("input_ids", INT64, "B", "S")
        graph.input("attention_mask", INT64, "B", "S")
        segments = task != "token-embeddings" and self._config.get("type_vocab_size", 1) > 1
        mask = graph.op("Cast", "attention_mask", to=INT32)
        x = self._embeddings(segments)
        for layer in range(layers):
            x = self._layer(f"{self._prefix}encoder.layer.{layer}", x, mask)
        heads: Mapping[str, Callable[[str], None]] = {
            "token-embeddings": self._unit_length,
            "question-answering": self._spans,
            "text-classification": self._classes,
        }
        heads[task](x)

    def _embeddings(self, segments: bool) -> str:
        graph, hidden = self._graph, self._hidden
        at = f"{self._prefix}embeddings"

        def table(name: str, rows: int) -> Floats:
            return self._weights.take(f"{at}.{name}_embeddings.weight", rows, hidden)

        words = graph.weight("words", table("word", self._config["vocab_size"]))
        x = graph.op("Gather", words, "input_ids")
        places = table("position", self._config["max_position_embeddings"])
        places = places[_first_position(self._config) :]
        kinds = table("token_type", self._config.get("type_vocab_size", 1))
        if segments:
            graph.input("token_type_ids", INT64, "B", "S")
            kind = graph.op("Gather", graph.weight("segments", kinds), "token_type_ids")
            x = graph.op("Add", x, kind)
        else:
            places = places + kinds[0]
        length = graph.op("Shape", "input_ids", start=1, end=2)
        zero = graph.ints(0)
        place = graph.op("Slice", graph.weight("positions", places), zero, length, zero)
        x = graph.op("Add", x, place)
        scale, shift = self._norm(f"{at}.LayerNorm")
        epsilon = self._config["layer_norm_eps"]
        return graph.op("LayerNormalization", x, scale, shift, epsilon=epsilon, axis=-1)

    def _layer(self, at: str, x: str, mask: str) -> str:
        graph, hidden, inner = self._graph, self._hidden, self._config["intermediate_size"]
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        y = graph.op(
            "MultiHeadAttention",
            *(self._project(part, x, hidden, hidden) for part in parts),
            self._biases(parts),
            mask,
            num_heads=self._config["num_attention_heads"],
        )
        x = self._add(f"{at}.attention.output", y, x, hidden)
        y = self._project(f"{at}.intermediate.dense", x, hidden, inner)
        y = graph.op("BiasGelu", y, self._bias(f"{at}.intermediate.dense", inner))
        return self._add(f"{at}.output", y, x, inner)

    def _add(self, at: str, y: str, x: str, size: int) -> str:
        """Project y, add it and its bias to the stream x, and normalize."""
        y = self._project(f"{at}.dense", y, size, self._hidden)
        return self._graph.op(
            "SkipLayerNormalization",
            y,
            x,
            *self._norm(f"{at}.LayerNorm"),
            self._bias(f"{at}.dense", self._hidden),
            epsilon=self._config["layer_norm_eps"],
        )

    def _unit_length(self, x: str) -> None:
        graph = self._graph
        x = graph.op("Cast", x, to=FLOAT)
        length = graph.op("ReduceL2", x, graph.ints(-1), keepdims=1)
        graph.op("Div", x, length, out="embeddings")
        graph.output("embeddings", FLOAT, "B", "S", self._hidden)

    def _spans(self, x: str) -> None:
        graph = self._graph
        y = self._dense("qa_outputs", x, self._hidden, 2)
        y = graph.op("Cast", y, to=FLOAT)
        for index, name in enumerate(("start_logits", "end_logits")):
            graph.op("Gather", y, graph.scalar(index, np.int64), axis=-1, out=name)
            graph.output(name, FLOAT, "B", "S")

    def _classes(self, x: str) -> None:
        graph, hidden = self._graph, self._hidden
        first = graph.op("Gather", x, graph.scalar(0, np.int64), axis=1)
        roberta = "classifier.out_proj.weight" in self._weights
        pooler = "classifier.dense" if roberta else f"{self._prefix}pooler.dense"
        y = graph.op("Tanh", self._dense(pooler, first, hidden, hidden))
        labels = len(read_labels(self._config))
        y = self._dense("classifier.out_proj" if roberta else "classifier", y, hidden, labels)
        graph.op("Cast", y, to=FLOAT, out="logits")
        graph.output("logits", FLOAT, "B", labels)

    def _dense(self, name: str, x: str, size_in: int, size_out: int) -> str:
        return self._graph.op(
            "Add", self._project(name, x, size_in, size_out), self._bias(name, size_out)
        )

    def _project(self, name: str, x: str, size_in: int, size_out: int) -> str:
        return self._graph.linear(x, name, self._weights.take(f"{name}.weight", size_out, size_in))

    def _bias(self, name: str, size: int) -> str:
        return self._graph.weight(f"{name}.bias", self._weights.take(f"{name}.bias", size))

    def _biases(self, names: list[str]) -> str:
        biases = [self._weights.take(f"{name}.bias", self._hidden) for name in names]
        return self._graph.weight(f"{names[0]}.biases", np.concatenate(biases))

    def _norm(self, name: str) -> tuple[str, str]:
        # The oldest checkpoints say gamma and beta.
        old = f"{name}.gamma" in self._weights
        scale, shift = (
            f"{name}.{part}" for part in (("gamma", "beta") if old else ("weight", "bias"))
        )
        return (
            self._graph.weight(f"{name}.scale", self._weights.take(scale, self._hidden)),
            self._graph.weight(f"{name}.shift", self._weights.take(shift, self._hidden)),
        )

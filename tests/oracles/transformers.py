"""Transformers in plain numpy: one sequence at a time, no cache, every formula as it is printed.

`config` is as in config.json, `weights` as named in a folder of Hugging Face's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Config = Mapping[str, Any]
Weights = Mapping[str, npt.NDArray[Any]]


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rms_norm(x: Array, weight: Array, eps: float) -> Array:
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * weight


def layer_norm(x: Array, weight: Array, bias: Array, eps: float) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) * weight + bias


def attend(q: Array, k: Array, v: Array, scale: float, added: Array) -> Array:
    """q [heads, Q, D], k and v [heads, K, D]; `added` to the scores [heads or 1, Q, K]."""
    return softmax(q @ k.transpose(0, 2, 1) * scale + added) @ v


def split(x: Array, heads: int) -> Array:
    """[S, heads * D] -> [heads, S, D]"""
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def join(x: Array) -> Array:
    """[heads, S, D] -> [S, heads * D]"""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


# Llama


def llama(config: Config, weights: Weights, ids: list[int]) -> Array:
    """Logits [S, vocabulary] of every position."""
    w = {name: values.astype(float) for name, values in weights.items()}
    eps, heads = config["rms_norm_eps"], config["num_attention_heads"]
    kv_heads = config["num_key_value_heads"]
    dim = config["head_dim"]

    def linear(x: Array, name: str) -> Array:
        return x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0.0)

    places = np.arange(len(ids))
    away = places[:, None] - places[None, :]
    x = w["model.embed_tokens.weight"][ids]
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        a = rms_norm(x, w[f"{at}.input_layernorm.weight"], eps)
        q, k, v = (
            split(linear(a, f"{at}.self_attn.{part}_proj"), count)
            for part, count in (("q", heads), ("k", kv_heads), ("v", kv_heads))
        )
        if f"{at}.self_attn.q_norm.weight" in w:
            q = rms_norm(q, w[f"{at}.self_attn.q_norm.weight"], eps)
            k = rms_norm(k, w[f"{at}.self_attn.k_norm.weight"], eps)
        q, k = rotate(q, config), rotate(k, config)
        k, v = (np.repeat(each, heads // kv_heads, axis=0) for each in (k, v))
        seen = (away >= 0) & (away < window_of(config, layer))
        y = attend(q, k, v, dim**-0.5, np.where(seen, 0.0, -np.inf)[None])
        x = x + linear(join(y), f"{at}.self_attn.o_proj")
        m = rms_norm(x, w[f"{at}.post_attention_layernorm.weight"], eps)
        gate = linear(m, f"{at}.mlp.gate_proj")
        inner = gate / (1 + np.exp(-gate)) * linear(m, f"{at}.mlp.up_proj")
        x = x + linear(inner, f"{at}.mlp.down_proj")
    head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
    return rms_norm(x, w["model.norm.weight"], eps) @ head.T


def window_of(config: Config, layer: int) -> float:
    kinds = config.get("layer_types")
    slides = kinds[layer] == "sliding_attention" if kinds else config["model_type"] == "mistral"
    return config.get("sliding_window") or math.inf if slides else math.inf


def rotate(x: Array, config: Config) -> Array:
    """Each pair (i, i + D/2) turned by position times its frequency: x [heads, S, D]."""
    half = x.shape[-1] // 2
    pairs = [frequency(config, 2 * half, i) for i in range(half)]
    angles = np.arange(x.shape[1])[:, None] * np.array(pairs)[None, :]
    scale = temperature(config)
    a, b = x[..., :half], x[..., half:]
    turned = (a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles))
    return np.concatenate(turned, axis=-1) * scale


def frequency(config: Config, dim: int, i: int) -> float:
    """RoPE (arXiv 2104.09864), and its scalings as published with Llama 3.1 and YaRN."""
    base, scaling = config["rope_theta"], config.get("rope_scaling") or {}
    plain: float = base ** (-2 * i / dim)
    kind, factor = scaling.get("rope_type"), scaling.get("factor")
    if kind == "linear":
        return plain / factor
    if kind == "llama3":
        length = scaling["original_max_position_embeddings"]
        wave = 2 * math.pi / plain
        if wave < length / scaling["high_freq_factor"]:
            return plain
        if wave > length / scaling["low_freq_factor"]:
            return plain / factor
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        smooth = (length / wave - low) / (high - low)
        return (1 - smooth) * plain / factor + smooth * plain
    if kind == "yarn":
        length = scaling["original_max_position_embeddings"]

        def where(turns: float) -> float:
            return dim * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

        low, high = max(math.floor(where(32)), 0), min(math.ceil(where(1)), dim - 1)
        ramp = min(max((i - low) / (high - low), 0), 1)
        return ramp * plain / factor + (1 - ramp) * plain
    return plain


def temperature(config: Config) -> float:
    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type") != "yarn":
        return 1.0
    return 0.1 * math.log(scaling["factor"]) + 1


# T5


def t5(config: Config, weights: Weights, source: list[int], target: list[int]) -> Array:
    """Logits [T, vocabulary] of every position of a decoder that is fed `target`."""
    w = {name: values.astype(float) for name, values in weights.items()}
    encoded = _t5_stack(config, w, "encoder", source, None)
    x = _t5_stack(config, w, "decoder", target, encoded)
    if config.get("tie_word_embeddings", True):
        return x * config["d_model"] ** -0.5 @ w["shared.weight"].T
    return x @ w["lm_head.weight"].T


def _t5_stack(
    config: Config, w: Weights, side: str, ids: list[int], encoded: Array | None
) -> Array:
    heads, eps = config["num_heads"], config["layer_norm_epsilon"]

    def attention(at: str, x: Array, y: Array, added: Array) -> Array:
        q, k, v = (
            split(each @ w[f"{at}.{part}.weight"].T, heads)
            for part, each in (("q", x), ("k", y), ("v", y))
        )
        return join(attend(q, k, v, 1.0, added)) @ w[f"{at}.o.weight"].T

    learned = w[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    places = np.arange(len(ids))
    rows = [
        [t5_bucket(int(key - query), side == "encoder", config) for key in places]
        for query in places
    ]
    bias = learned[np.array(rows)].transpose(2, 0, 1)
    if side == "decoder":
        bias = bias + np.where(places[None, :] > places[:, None], -np.inf, 0.0)
    x = w["shared.weight"][ids]
    layers = config["num_layers"]
    if side == "decoder":
        layers = config.get("num_decoder_layers", layers)
    for layer in range(layers):
        at = f"{side}.block.{layer}.layer"

        def norm(x: Array, sublayer: int, at: str = at) -> Array:
            return rms_norm(x, w[f"{at}.{sublayer}.layer_norm.weight"], eps)

        a = norm(x, 0)
        x = x + attention(f"{at}.0.SelfAttention", a, a, bias)
        last = 1
        if encoded is not None:
            x = x + attention(f"{at}.1.EncDecAttention", norm(x, 1), encoded, np.zeros((1, 1, 1)))
            last = 2
        x = x + _t5_feed_forward(w, f"{at}.{last}.DenseReluDense", norm(x, last))
    return rms_norm(x, w[f"{side}.final_layer_norm.weight"], eps)


def _t5_feed_forward(w: Weights, at: str, x: Array) -> Array:
    if f"{at}.wi.weight" in w:
        return np.maximum(x @ w[f"{at}.wi.weight"].T, 0) @ w[f"{at}.wo.weight"].T
    a = x @ w[f"{at}.wi_0.weight"].T
    gelu = 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
    return gelu * (x @ w[f"{at}.wi_1.weight"].T) @ w[f"{at}.wo.weight"].T


def t5_bucket(distance: int, both_ways: bool, config: Config) -> int:
    """arXiv 1910.10683, section 2.1, for one distance (key minus query)."""
    buckets, farthest = (
        config["relative_attention_num_buckets"],
        config["relative_attention_max_distance"],
    )
    first = 0
    if both_ways:
        buckets //= 2
        first = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    growth = math.log(distance / exact) / math.log(farthest / exact) * (buckets - exact)
    return first + min(exact + int(growth), buckets - 1)


# BERT


def bert(
    config: Config, weights: Weights, ids: list[int], segments: list[int], layers: int
) -> Array:
    """Hidden states [S, hidden] after some layers."""
    w = {name.removeprefix("bert.").removeprefix("roberta."): values.astype(float)
         for name, values in weights.items()}  # fmt: skip
    eps, heads = config["layer_norm_eps"], config["num_attention_heads"]

    def linear(x: Array, name: str) -> Array:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Array, name: str) -> Array:
        return layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"], eps)

    first = 0 if config["model_type"] == "bert" else config["pad_token_id"] + 1
    places = np.arange(len(ids)) + first
    x = (
        w["embeddings.word_embeddings.weight"][ids]
        + w["embeddings.position_embeddings.weight"][places]
        + w["embeddings.token_type_embeddings.weight"][segments]
    )
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            split(linear(x, f"{at}.attention.self.{part}"), heads)
            for part in ("query", "key", "value")
        )
        y = join(attend(q, k, v, q.shape[-1] ** -0.5, np.zeros((1, 1, 1))))
        y = linear(y, f"{at}.attention.output.dense")
        x = norm(x + y, f"{at}.attention.output.LayerNorm")
        y = linear(x, f"{at}.intermediate.dense")
        erf = np.vectorize(math.erf)(y / math.sqrt(2))
        y = linear(0.5 * y * (1 + erf), f"{at}.output.dense")
        x = norm(x + y, f"{at}.output.LayerNorm")
    return x

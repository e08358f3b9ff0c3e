"""Rotary position embeddings: the angles of a model, as a table of cosines and sines.

Computed in float32 from the first step, as the models were trained.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from odqa_fast.errors import ModelError
from odqa_fast.export.weights import Floats


def make_rotary_tables(
    config: Mapping[str, Any], head_dim: int, positions: int
) -> tuple[Floats, Floats]:
    """Cosines and sines, each [positions, head_dim / 2].

    Raises:
        ModelError: a kind of scaling that depends on the input, or is unknown.
    """
    frequencies, factor = _frequencies(config, head_dim)
    angles = np.arange(positions, dtype=np.float32)[:, None] * frequencies
    return np.cos(angles) * factor, np.sin(angles) * factor


def _frequencies(config: Mapping[str, Any], head_dim: int) -> tuple[Floats, np.float32]:
    # transformers 5 keeps all of it under one key.
    scaling = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = scaling.get("rope_theta") or config.get("rope_theta") or 10000.0
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    if scaling.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0)) != 1.0:
        raise ModelError("rotates a part of each head only, which is not exported.")
    steps = np.arange(0, head_dim, 2, dtype=np.float32) / np.float32(head_dim)
    frequencies = (1 / np.power(np.float32(base), steps)).astype(np.float32)
    one = np.float32(1)
    if kind == "default":
        return frequencies, one
    if kind == "factors":  # from a GGUF file, which holds what a scaling came to
        return frequencies / np.asarray(scaling["factors"], np.float32), one
    factor = np.float32(scaling["factor"])
    if kind == "linear":
        return frequencies / factor, one
    if kind == "llama3":
        return _llama3(frequencies, factor, scaling, config), one
    if kind == "yarn":
        return _yarn(frequencies, factor, scaling, config, base)
    raise ModelError(
        f"the rotary scaling {kind!r} is not exported.",
        hint="Known: default, linear, llama3, yarn.",
    )


def _llama3(
    frequencies: Floats, factor: np.float32, scaling: Mapping[str, Any], config: Mapping[str, Any]
) -> Floats:
    """Llama 3.1: long waves are stretched, short ones kept, those between mixed.

    Source: the model's reference code (apply_scaling in llama-models).
    """
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    length = _trained_length(scaling, config)
    turns = length * frequencies / np.float32(2 * math.pi)  # within the trained length
    kept = np.clip((turns - low) / np.float32(high - low), 0, 1)
    mixed: Floats = (1 - kept) * frequencies / factor + kept * frequencies
    return mixed


def _yarn(
    frequencies: Floats,
    factor: np.float32,
    scaling: Mapping[str, Any],
    config: Mapping[str, Any],
    base: float,
) -> tuple[Floats, np.float32]:
    """YaRN (arXiv 2309.00071), sections 3.2 and 3.4: a ramp over dimensions, and a temperature."""
    dims = 2 * len(frequencies)
    length = _trained_length(scaling, config)

    def dimension(turns: float) -> float:
        return dims * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low = dimension(scaling.get("beta_fast") or 32)
    high = dimension(scaling.get("beta_slow") or 1)
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    width = np.float32(max(high - low, 0.001))
    stretched = np.clip((np.arange(len(frequencies), dtype=np.float32) - low) / width, 0, 1)
    mixed = stretched * frequencies / factor + (1 - stretched) * frequencies
    return mixed.astype(np.float32), _yarn_temperature(float(factor), scaling)


def _yarn_temperature(factor: float, scaling: Mapping[str, Any]) -> np.float32:
    def scale(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0

    given = scaling.get("attention_factor")
    if given is not None:
        return np.float32(given)
    above, below = scaling.get("mscale"), scaling.get("mscale_all_dim")
    return np.float32(scale(above) / scale(below) if above and below else scale(1))


def _trained_length(scaling: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    return int(scaling.get("original_max_position_embeddings") or config["max_position_embeddings"])

"""A model's config.json, each field of the kind that it has to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odqa_fast.errors import ModelError

#: Counts of what a graph repeats, and sizes of what is computed before a weight is looked at: no
#: model is near, and a table of such a size can be made.
_COUNTS = (
    "num_hidden_layers num_layers num_decoder_layers num_attention_heads num_key_value_heads "
    "num_heads head_dim d_kv type_vocab_size relative_attention_num_buckets "
    "relative_attention_max_distance"
)
_SIZES = (
    "hidden_size intermediate_size vocab_size max_position_embeddings n_positions d_model d_ff "
    "sliding_window original_max_position_embeddings"
)
_POSITIVE = (
    "rms_norm_eps layer_norm_eps layer_norm_epsilon rope_theta factor low_freq_factor "
    "high_freq_factor partial_rotary_factor"
)
_NUMBERS = "beta_fast beta_slow attention_factor mscale mscale_all_dim max_window_layers"
_TEXTS = "model_type hidden_act feed_forward_proj position_embedding_type rope_type type"
_SWITCHES = "tie_word_embeddings use_sliding_window scale_decoder_outputs truncate"


def _whole(least: int, most: int) -> Any:
    return lambda value: type(value) is int and least <= value <= most


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e30


#: What a field has to be, in words and as a test.
_RULES: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(_COUNTS.split(), ("no positive number up to 16384", _whole(1, 1 << 14))),
    **dict.fromkeys(_SIZES.split(), ("no positive number", _whole(1, 1 << 31))),
    **dict.fromkeys(_POSITIVE.split(), ("no positive number", lambda v: _is_number(v) and v > 0)),
    **dict.fromkeys(_NUMBERS.split(), ("no number", _is_number)),
    **dict.fromkeys(_TEXTS.split(), ("no text", lambda v: isinstance(v, str))),
    **dict.fromkeys(_SWITCHES.split(), ("neither true nor false", lambda v: isinstance(v, bool))),
    **dict.fromkeys(
        ("architectures", "layer_types"), ("no list", lambda v: isinstance(v, list))
    ),
    **dict.fromkeys(
        ("rope_scaling", "rope_parameters", "id2label"),
        ("no object", lambda v: isinstance(v, dict)),
    ),
    **dict.fromkeys(
        ("pad_token_id", "bos_token_id", "decoder_start_token_id"),
        ("no token's id", _whole(-1, 1 << 31)),
    ),
}  # fmt: skip


class Config(dict[str, Any]):
    """A config.json. A null is the same as a field that is missing.

    Raises:
        ModelError: a field that we read is of another kind; later, one is missing that is needed.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(
            {
                name: Config(value) if isinstance(value, dict) else value
                for name, value in fields.items()
                if value is not None
            }
        )
        for name in _RULES.keys() & self.keys():
            words, holds = _RULES[name]
            if not holds(self[name]):
                raise ModelError(f"config.json: {name} is {_short(self[name])}, {words}.")

    def __missing__(self, name: str) -> Any:
        raise ModelError(f"config.json has no {name}.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def read_labels(config: Mapping[str, Any]) -> list[str]:
    """A classifier's labels, by index."""
    named = config.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"}
    try:
        return [str(named[key]) for key in sorted(named, key=int)]
    except ValueError:
        raise ModelError("config.json: id2label has a key that is no number.") from None

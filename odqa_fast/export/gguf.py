"""GGUF files (llama.cpp's) of the Llama kind: weights made whole again, and their tokenizer.

Field names: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from odqa_fast.engines.card import hash_file
from odqa_fast.errors import EngineError, ModelError
from odqa_fast.export.checkpoint import Checkpoint, Progress
from odqa_fast.export.config import Config
from odqa_fast.export.weights import Floats, Reader, Weights

#: `general.architecture` -> config.json's `model_type`. Mistral's files say llama.
_MODEL_TYPES = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}

_WHOLE = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
_IN_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

#: `tokenizer.ggml.pre`: how a text is cut before byte-pair merges.
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_SPLITS = {
    "llama-bpe": _CONTRACTIONS + r"|\p{N}{1,3}" + _REST,
    "qwen2": _CONTRACTIONS + r"|\p{N}" + _REST,
}
_CONTROL, _USER_DEFINED = 3, 4  # `tokenizer.ggml.token_type`


def open_gguf(path: Path, progress: Progress | None = None) -> Checkpoint:
    """A GGUF file as a checkpoint.

    Raises:
        EngineError: the library `gguf` is missing.
        ModelError: another architecture or tokenizer, or no GGUF file.
    """
    try:
        import gguf
    except ImportError:
        raise EngineError(
            "reading a GGUF file needs the library 'gguf'.",
            hint="pip install 'odqa-fast[export]'",
        ) from None
    try:
        reader = gguf.GGUFReader(path)
        fields = {name: field.contents() for name, field in reader.fields.items()}
    except (ValueError, IndexError, KeyError, OSError) as error:
        raise ModelError(f"is no GGUF file: {error}.", where=str(path)) from None
    architecture = str(fields.get("general.architecture"))
    if architecture not in _MODEL_TYPES:
        raise ModelError(
            f"is of the architecture {architecture!r}, which is not exported.",
            where=str(path),
            hint=f"Known in GGUF files: {', '.join(_MODEL_TYPES)}.",
        )
    try:
        tensors = {tensor.name: tensor for tensor in reader.tensors}
        config = _config(architecture, fields, tensors)
        return Checkpoint(
            config=Config(config),
            weights=Weights(_readers(architecture, config, tensors), str(path), progress),
            tokenizer=_tokenizer(fields, str(path)),
            tokenizer_config=_tokenizer_config(fields),
            source={
                "kind": "gguf",
                "name": path.name,
                "sha256": hash_file(path),
                "license": str(fields.get("general.license", "")),
            },
        )
    except KeyError as error:
        raise ModelError(f"has no field {error}.", where=str(path)) from None


def _config(
    architecture: str, fields: Mapping[str, Any], tensors: Mapping[str, Any]
) -> dict[str, Any]:
    def of(key: str, *default: Any) -> Any:
        name = f"{architecture}.{key}"
        return fields.get(name, *default) if default else fields[name]

    heads, hidden = of("attention.head_count"), of("embedding_length")
    config = {
        "model_type": _MODEL_TYPES[architecture],
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden,
        "intermediate_size": of("feed_forward_length"),
        "num_hidden_layers": of("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": of("attention.head_count_kv", heads),
        "head_dim": of("attention.key_length", hidden // heads),
        "max_position_embeddings": of("context_length"),
        "rms_norm_eps": float(of("attention.layer_norm_rms_epsilon")),
        "rope_theta": of("rope.freq_base", 10000.0),
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "tie_word_embeddings": "output.weight" not in tensors,
        "bos_token_id": fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": fields.get("tokenizer.ggml.eos_token_id"),
        "pad_token_id": fields.get("tokenizer.ggml.padding_token_id"),
    }
    scaling = of("rope.scaling.type", None)
    if "rope_freqs.weight" in tensors:
        # What Llama 3's scaling divides each frequency by.
        factors = np.array(tensors["rope_freqs.weight"].data, np.float32)
        config["rope_scaling"] = {"rope_type": "factors", "factors": factors}
    elif scaling not in (None, "none"):
        config["rope_scaling"] = {
            "rope_type": scaling,
            "factor": of("rope.scaling.factor"),
            "original_max_position_embeddings": of("rope.scaling.original_context_length", None),
        }
    return config


def _readers(
    architecture: str, config: Mapping[str, Any], tensors: Mapping[str, Any]
) -> dict[str, Reader]:
    # llama.cpp turns neighbouring dimensions of a head, transformers those half a head apart; for
    # its llama architecture, and only there, the rows of q and k are kept in the other order.
    turned = {} if architecture != "llama" else {
        "attn_q": config["num_attention_heads"],
        "attn_k": config["num_key_value_heads"],
    }  # fmt: skip
    readers: dict[str, Reader] = {}
    for name, tensor in tensors.items():
        *layer, part, kind = name.split(".")
        if layer and part in _IN_LAYER:
            known = f"model.layers.{layer[1]}.{_IN_LAYER[part]}.{kind}"
        elif part in _WHOLE:
            known = f"{_WHOLE[part]}.{kind}"
        else:
            continue
        readers[known] = partial(_read, tensor, turned.get(part))
    return readers


def _read(tensor: Any, heads: int | None) -> Floats:
    from gguf.quants import dequantize

    values: Floats = dequantize(tensor.data, tensor.tensor_type).astype(np.float32, copy=False)
    if heads is None:
        return values
    paired = values.reshape(heads, len(values) // heads // 2, 2, *values.shape[1:])
    return paired.swapaxes(1, 2).reshape(values.shape)


def _tokenizer(fields: Mapping[str, Any], where: str) -> str:
    """The byte-pair tokenizer of a file, as the text of a tokenizer.json."""
    kind, cut = fields["tokenizer.ggml.model"], fields.get("tokenizer.ggml.pre", "default")
    if kind != "gpt2":
        raise ModelError(
            f"has a tokenizer of the kind {kind!r}, which is not converted.",
            where=where,
            hint="Export from the model's folder with a tokenizer.json instead.",
        )
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    added = [
        {
            "id": number,
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": kind == _CONTROL,
        }
        for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in (_CONTROL, _USER_DEFINED)
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": {"type": "NFC"} if cut == "qwen2" else None,
            "pre_tokenizer": _pre_tokenizer(cut, byte_level, where),
            "post_processor": _bos(fields, tokens),
            "decoder": {**byte_level, "use_regex": True},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                # Llama 3 takes a word that is a token without building it by merges.
                "ignore_merges": cut == "llama-bpe",
                "vocab": {token: number for number, token in enumerate(tokens)},
                "merges": [merge.split(" ") for merge in fields["tokenizer.ggml.merges"]],
            },
        },
        ensure_ascii=False,
    )


def _pre_tokenizer(cut: str, byte_level: dict[str, Any], where: str) -> dict[str, Any]:
    if cut in ("smollm", "gpt-2", "default"):
        gpt2 = {**byte_level, "use_regex": True}
        if cut != "smollm":
            return gpt2
        digits = {"type": "Digits", "individual_digits": True}
        return {"type": "Sequence", "pretokenizers": [digits, gpt2]}
    if cut not in _SPLITS:
        raise ModelError(
            f"cuts its text by the rule {cut!r}, which is not converted.",
            where=where,
            hint="Export from the model's folder with a tokenizer.json instead.",
        )
    split = {
        "type": "Split",
        "pattern": {"Regex": _SPLITS[cut]},
        "behavior": "Isolated",
        "invert": False,
    }
    return {"type": "Sequence", "pretokenizers": [split, {**byte_level, "use_regex": False}]}


def _bos(fields: Mapping[str, Any], tokens: list[str]) -> dict[str, Any] | None:
    if not fields.get("tokenizer.ggml.add_bos_token"):
        return None
    number = fields["tokenizer.ggml.bos_token_id"]
    bos = {"SpecialToken": {"id": tokens[number], "type_id": 0}}
    text, pair = (
        {"Sequence": {"id": name, "type_id": kind}} for name, kind in (("A", 0), ("B", 1))
    )
    return {
        "type": "TemplateProcessing",
        "single": [bos, text],
        "pair": [bos, text, pair],
        "special_tokens": {
            tokens[number]: {"id": tokens[number], "ids": [number], "tokens": [tokens[number]]}
        },
    }


def _tokenizer_config(fields: Mapping[str, Any]) -> dict[str, Any]:
    tokens = fields["tokenizer.ggml.tokens"]
    numbers = {name: fields.get(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos")}
    return {
        "chat_template": fields.get("tokenizer.chat_template"),
        **{f"{name}_token": tokens[n] for name, n in numbers.items() if n is not None},
    }

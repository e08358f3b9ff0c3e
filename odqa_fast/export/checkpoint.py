"""What every source of a model comes to: its configuration, weights and tokenizer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odqa_fast.engines.card import hash_file
from odqa_fast.engines.model_json import parse_json
from odqa_fast.errors import ModelError
from odqa_fast.export.config import Config
from odqa_fast.export.weights import Weights, find_shards, open_safetensors

#: Called with the share of the work done, of 1.
Progress = Callable[[float], None]

NO_TOKENIZER = (
    "A sentencepiece model is converted by transformers: "
    "AutoTokenizer.from_pretrained(...).save_pretrained(...)."
)


@dataclass(frozen=True)
class Checkpoint:
    """A model as it was published.

    Args:
        config: as in config.json.
        weights: named as in a folder of Hugging Face's.
        tokenizer: the text of a tokenizer.json.
        tokenizer_config: as in tokenizer_config.json; `chat_template` and special tokens are used.
        generation: as in generation_config.json.
        source: kind, name, sha256 and license, for the card.
    """

    config: Config
    weights: Weights
    tokenizer: str
    tokenizer_config: Mapping[str, Any] = field(default_factory=dict)
    generation: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, str] = field(default_factory=dict)


def open_folder(folder: Path, progress: Progress | None = None) -> Checkpoint:
    """A folder of Hugging Face's: config.json, safetensors, tokenizer.json.

    Raises:
        ModelError: a file is missing or is not what it should be.
    """
    config = read_json(folder / "config.json")
    if config is None:
        hint = "Its name on the hub has the form owner/name." if not folder.is_dir() else None
        raise ModelError("holds no config.json.", where=str(folder), hint=hint)
    tokenizer, tokenizer_config = read_tokenizer(folder)
    files = find_shards(folder)
    return Checkpoint(
        config=Config(config),
        weights=Weights(open_safetensors(files), str(folder), progress),
        tokenizer=tokenizer,
        tokenizer_config=tokenizer_config,
        generation=read_json(folder / "generation_config.json") or {},
        source={"kind": "folder", "name": folder.resolve().name, "sha256": _sha256(files)},
    )


def read_tokenizer(folder: Path) -> tuple[str, dict[str, Any]]:
    """The text of tokenizer.json, and what tokenizer_config.json and the chat template say.

    Raises:
        ModelError: there is no tokenizer.json.
    """
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelError("holds no tokenizer.json.", where=str(folder), hint=NO_TOKENIZER)
    config = read_json(folder / "tokenizer_config.json") or {}
    template = folder / "chat_template.jinja"
    if template.is_file():
        config["chat_template"] = _text(template)
    return _text(tokenizer), config


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"cannot be read: {error}.", where=str(path)) from None


def _sha256(files: list[Path]) -> str:
    """Of one file its own, of several that of the list that sha256sum would print."""
    if len(files) == 1:
        return hash_file(files[0])
    lines = "".join(f"{hash_file(path)}  {path.name}\n" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; None where there is no such file.

    Raises:
        ModelError: it is something else.
    """
    try:
        found = parse_json(path.read_bytes(), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelError(f"cannot be read: {error}.", where=str(path)) from None
    if not isinstance(found, dict):
        raise ModelError("is no JSON object.", where=str(path))
    return found

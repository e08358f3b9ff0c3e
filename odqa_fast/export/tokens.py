"""What a card says of tokens: special ids, the chat template, whether special tokens are added."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from odqa_fast.engines.card import Task
from odqa_fast.engines.model_json import parse_json
from odqa_fast.errors import ModelError
from odqa_fast.export.checkpoint import Checkpoint


def describe_tokens(checkpoint: Checkpoint, task: Task) -> dict[str, Any]:
    """The fields tokenizer, prompt, eos_ids, pad_id, bos_id and decoder_start_id of a card.

    Raises:
        ModelError: a model that writes text says nowhere where it ends, or the tokenizer has tokens
            that the model has not.
    """
    said = checkpoint.tokenizer_config
    ids = _ids(checkpoint.tokenizer)
    vocabulary = checkpoint.config.get("vocab_size")
    if vocabulary and max(ids.values(), default=0) >= vocabulary:
        raise ModelError(
            f"tokenizer.json has tokens up to {max(ids.values())}, the model has {vocabulary}.",
            hint="Are tokenizer.json and the weights of one model?",
        )
    names = {name: _text(said.get(f"{name}_token")) for name in ("bos", "eos", "pad")}
    eos = _eos(checkpoint, ids.get(names["eos"]))
    writes = task in ("text-generation", "text2text-generation")
    if writes and not eos:
        raise ModelError("no end token is named.", hint="config.json has eos_token_id as a rule.")
    template = _template(said.get("chat_template")) if writes else None
    prompt = {
        "chat_template": template,
        "bos_token": names["bos"],
        "eos_token": names["eos"],
    }
    start = checkpoint.config.get("decoder_start_token_id", checkpoint.config.get("pad_token_id"))
    return {
        # A chat template writes the special tokens itself.
        "tokenizer": {"file": "tokenizer.json", "add_special_tokens": template is None},
        "prompt": prompt,
        "eos_ids": eos,
        "pad_id": _first([_said(checkpoint, "pad"), ids.get(names["pad"]), *eos, 0]),
        "bos_id": _first([_said(checkpoint, "bos"), ids.get(names["bos"])]),
        "decoder_start_id": start if task == "text2text-generation" else None,
    }


def remove_padding(tokenizer: str) -> str:
    """A tokenizer.json that neither cuts nor pads: what is cut is for a run to say and count."""
    fields = parse_json(tokenizer, "tokenizer.json")
    if fields.get("truncation") is None and fields.get("padding") is None:
        return tokenizer
    return json.dumps({**fields, "truncation": None, "padding": None})


def _ids(tokenizer: str) -> dict[str, int]:
    try:
        fields = parse_json(tokenizer, "tokenizer.json")
        vocabulary = fields["model"]["vocab"]
        # A list of [token, score] in the case of Unigram.
        ids = (
            dict(vocabulary)
            if isinstance(vocabulary, dict)
            else {token: number for number, (token, *_) in enumerate(vocabulary)}
        )
        ids |= {token["content"]: token["id"] for token in fields.get("added_tokens") or ()}
        if not all(type(number) is int for number in ids.values()):
            raise TypeError("an id is no whole number")
        return ids
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"tokenizer.json is of no known form: {error}.") from None


def _eos(checkpoint: Checkpoint, named: int | None) -> list[int]:
    found = _said(checkpoint, "eos")
    found = named if found is None else found
    several = found if isinstance(found, list) else [] if found is None else [found]
    for each in several:
        if type(each) is not int:
            raise ModelError(f"eos_token_id is {each!r}, no token's id.")
    return several


def _said(checkpoint: Checkpoint, name: str) -> Any:
    key = f"{name}_token_id"
    said = checkpoint.generation.get(key)
    return checkpoint.config.get(key) if said is None else said


def _first(candidates: Iterable[Any]) -> int | None:
    # Some configurations have -1 for "none".
    return next((each for each in candidates if isinstance(each, int) and each >= 0), None)


def _text(token: Any) -> str:
    """A special token is written as a text or as an object with its content."""
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) else ""


def _template(found: Any) -> str | None:
    """A chat template; the default one where there are several by name."""
    if isinstance(found, list):
        named = {
            str(each.get("name")): each.get("template")
            for each in found
            if isinstance(each, Mapping)
        }
        found = named.get("default", next(iter(named.values()), None))
    return found if isinstance(found, str) else None

"""Tiny models as folders that run, and the texts they have to give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tiny
from oracles import transformers as oracle

from odqa_fast.engines.card import hash_file, load_card
from odqa_fast.engines.tokens import Codec
from odqa_fast.export import export

#: Prompts of 2 to some 60 tokens; the second begins as the first.
PROMPTS = [
    "The river Nile flows north",
    "The river Nile flows north through eleven countries",
    "Mount Kenya",
    "In which year did the first steam engine pump water from a mine? A short answer: 1912.",
    "A question, its documents and a short answer: 42, or 1912.",
    "its highest peak is Batian",
    "volcano; volcano; volcano; volcano; volcano; volcano; volcano; volcano; volcano;",
    "Q",
    "an extinct volcano to the sea",
    "?",
]
NEW = 12

LLAMA = tiny.llama_config()
T5 = tiny.t5_config()
T5_WEIGHTS = {
    **tiny.t5_weights(T5),
    # Another head, with which its texts are longer.
    "lm_head.weight": tiny.random("head2", tiny.WORDS, T5["d_model"], size=4),
}


def llama(folder: Path, weights: tiny.Weights | None = None) -> Path:
    weights = weights or tiny.llama_weights(LLAMA)
    export(tiny.write(folder / "llama-hf", LLAMA, weights), folder / "llama")
    return folder / "llama"


def t5(folder: Path) -> Path:
    export(tiny.write(folder / "t5-hf", T5, T5_WEIGHTS), folder / "t5")
    return folder / "t5"


def rehash(folder: Path) -> None:
    """Let a model.json mean the files as they are now."""
    path = folder / "model.json"
    card = json.loads(path.read_text())
    card["files"] = {name: hash_file(folder / name) for name in card["files"]}
    path.write_text(json.dumps(card))


def logits(family: str, prompt: list[int], reply: list[int]) -> Any:
    """The logits of the token after a reply so far, by plain numpy."""
    if family == "llama":
        return oracle.llama(LLAMA, tiny.llama_weights(LLAMA), prompt + reply)[-1]
    start = [T5["decoder_start_token_id"]]
    return oracle.t5(T5, T5_WEIGHTS, prompt, start + reply)[-1]


def greedy(family: str, folder: Path, prompts: list[str], new: int = NEW) -> list[str]:
    """The likeliest continuation of each prompt, one token after another, each from the start."""
    card = load_card(folder)
    codec = Codec(card)
    texts = []
    for prompt in prompts:
        ids = codec.ids(prompt, special=card.add_special_tokens).tolist()
        reply: list[int] = []
        while len(reply) < new:
            token = int(np.argmax(logits(family, ids, reply)))
            if token in card.eos_ids:
                break
            reply.append(token)
        texts.append(codec.decode(reply))
    return texts

"""Models with fields of other types: `python odd_models.py KIND FIRST LAST FOLDER` opens each.

`FOLDER` holds what `made` makes; see fuzzing.py.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
import struct
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fuzzing import each

from odqa_fast.engines.base import Request
from odqa_fast.engines.card import load_card
from odqa_fast.engines.opening import open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.prompts import load_prompt
from odqa_fast.export import export

#: What may stand where something else should.
_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, 10**400, -0.5, 1e308, float("nan"), "", "x", "0",
    "../x", "/etc/passwd", "\0", "\ud800", "{", [], [[]], [None], ["x"], [1, 2], {}, {"x": 1},
    {"": None}, "x" * 10_000,
]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value[:3])
    for key, inner in items:
        yield from _places(inner, (*path, key))


def changed(value: Any, rng: random.Random) -> Any:
    """A JSON value with another value in one to three places, or without one."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        *path, last = rng.choice([p for p in _places(value) if p] or [(None,)])
        if last is None:
            return copy.deepcopy(rng.choice(_VALUES))
        holder = value
        for key in path:
            holder = holder[key]
        if isinstance(holder, dict) and rng.random() < 0.2:
            del holder[last]
        else:
            holder[last] = copy.deepcopy(rng.choice(_VALUES))  # it may be changed in turn
    return rng.choice(_VALUES) if rng.random() < 0.03 else value


def _text(value: Any, rng: random.Random) -> str:
    text = json.dumps(value)
    if rng.random() < 0.03:
        return "[" * 100_000 + "]" * 100_000
    if rng.random() < 0.03:
        return text[: rng.randrange(len(text))]
    return text


def _rewrite(path: Path, rng: random.Random) -> None:
    path.write_text(_text(changed(json.loads(path.read_text()), rng), rng))


def _card(folder: Path, rng: random.Random) -> None:
    model = folder / rng.choice(("llama", "t5"))
    _rewrite(model / "model.json", rng)
    card = load_card(model)
    card.verify()
    engine = open_engine(f"onnx:{model}", EngineOptions(device="cpu", threads=1))
    list(engine.generate([Request(user="The river", max_new_tokens=2)]))


def _source(folder: Path, file: str, rng: random.Random) -> None:
    source = folder / rng.choice(("llama-hf", "t5-hf", "bert-hf"))
    if not (source / file).exists():
        source = folder / "llama-hf"
    _rewrite(source / file, rng)
    export(source, folder / "out")


def _header(folder: Path, rng: random.Random) -> None:
    source = folder / rng.choice(("llama-hf", "t5-hf", "bert-hf"))
    path = source / "model.safetensors"
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = _text(changed(json.loads(data[8 : 8 + size]), rng), rng).encode()
    length = rng.choice((len(header),) * 8 + (0, 1, len(header) + 9, 2**63))
    path.write_bytes(struct.pack("<Q", length) + header + data[8 + size :])
    export(source, folder / "out")


_PROMPT = {
    "id": "mine", "version": 1, "system": "", "user": "{context} {question}", "stop": ["x"],
    "document": "{text}", "prefill": "", "max_new_tokens": 3,
}  # fmt: skip


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value).replace("null", "nan").replace("NaN", "nan")


def _prompt(folder: Path, rng: random.Random) -> None:
    fields = changed(_PROMPT, rng)
    fields = fields if isinstance(fields, dict) else {"id": fields}
    text = "".join(f"{_toml(str(key))} = {_toml(value)}\n" for key, value in fields.items())
    if rng.random() < 0.05:
        text = "id = " + "[" * 100_000
    path = folder / "prompt.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    load_prompt(str(path), "answer").fill(question="q", context="c")


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    "model.json": _card,
    "config.json": lambda folder, rng: _source(folder, "config.json", rng),
    "tokenizer.json": lambda folder, rng: _source(folder, "tokenizer.json", rng),
    "tokenizer_config.json": lambda folder, rng: _source(folder, "tokenizer_config.json", rng),
    "safetensors": _header,
    "prompt": _prompt,
}


def made(folder: Path) -> Path:
    """Three models as they are published, and what is exported from them."""
    import tiny
    import tiny_models

    tiny_models.llama(folder)
    tiny_models.t5(folder)
    config = tiny.bert_config()
    export(tiny.write(folder / "bert-hf", config, tiny.bert_weights(config)), folder / "bert")
    marks = {"chat_template": "{{ messages[0].content }}", "eos_token": "</s>", "bos_token": None}
    (folder / "llama-hf" / "tokenizer_config.json").write_text(json.dumps(marks))
    return folder


def main(kind: str, first: int, last: int, models: Path) -> None:
    warnings.simplefilter("ignore")

    def attempt(number: int) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / "models"
            shutil.copytree(models, folder)
            KINDS[kind](folder, random.Random(f"{kind} {number}"))

    each(attempt, first, last)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))

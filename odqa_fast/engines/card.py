"""`model.json`: what a folder with an exported model holds, read and checked before anything runs.

A model is data. Its card names every file with its sha256; a path that leaves the folder, even from
inside a graph, is refused, and nothing in it is ever executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from odqa_fast.engines._external import find_external_files
from odqa_fast.engines.model_json import parse_json
from odqa_fast.errors import ModelError

FORMAT = 1
FILE = "model.json"

Task = Literal[
    "text-generation",
    "text2text-generation",
    "token-embeddings",
    "question-answering",
    "text-classification",
]
#: What `models export` writes: fp32; fp16; int8: weights by output channel, activations by tensor
#: when it runs (for processors: a text then depends on what else is in its batch).
DType = Literal["fp32", "fp16", "int8"]
#: How a graph is told which tokens are real. Rows are padded on the right but for mask+positions,
#: which is padded on the left.
#: seqlens: input_ids [B, S] int64, seqlens_k [B] int32 (valid tokens, the past included, less 1),
#:     total_len [1] int32 (the largest of them), last_pos [B, 1, 1] int64 (each row's last real
#:     token among the S, whose logits are wanted). With a past and S > 1, B must be 1 and nothing
#:     may be padded: GroupQueryAttention of onnxruntime 1.32 refuses more.
#: lens: input_ids [B, S] int64, lens [B] int32 (the encoder's valid tokens).
#: mask: input_ids, attention_mask [B, past + S] int64, and token_type_ids where there are segments.
#: mask+positions: the same, and position_ids [B, S] int64.
Inputs = Literal["seqlens", "lens", "mask", "mask+positions"]

#: The graphs a task needs.
GRAPHS: dict[Task, tuple[str, ...]] = {
    "text-generation": ("decoder",),
    "text2text-generation": ("encoder", "decoder"),
    "token-embeddings": ("encoder",),
    "question-answering": ("encoder",),
    "text-classification": ("encoder",),
}


@dataclass(frozen=True)
class KeyValues:
    """The cache of a decoder: `past_key_values.{i}.key` and `.value` in, `present.{i}.*` out.

    All are [B, heads, tokens, head_dim]; the cross-attention of an encoder-decoder comes out of the
    encoder as `cross.{i}.key` and `.value` and goes into the decoder under the same names.

    Args:
        shared: past and present may be one buffer, longer than what it holds so far; otherwise
            present is the past with the new tokens behind it.
    """

    layers: int
    heads: int
    head_dim: int
    shared: bool


@dataclass(frozen=True)
class Graph:
    """One ONNX graph.

    Args:
        logits: of each row's last token (and `next_token` [B] int64, their argmax), or of all.
    """

    file: str
    inputs: Inputs
    logits: Literal["last", "all"] | None = None
    kv: KeyValues | None = None


@dataclass(frozen=True)
class Prompt:
    """How a request becomes text. A chat template is jinja2's, to be rendered in its sandbox."""

    chat_template: str | None = None
    bos_token: str = ""
    eos_token: str = ""
    system: str | None = None
    user: str | None = None
    prefill: str = ""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelCard:
    """A checked `model.json`.

    Args:
        dtype: a `DType`; of other exporters' graphs also "quantized".
        files: sha256 of every file of the folder that belongs to the model, external data included.
        source: kind, name, sha256 and license of what it was made from, as far as known.
        max_input: tokens of input at most; with a decoder alone, max_input + max_new is what its
            positions can hold, and a longer answer shortens the input.
        decoder_start_id: the first token of an encoder-decoder's answer.
        layer: of token embeddings: after how many layers they are taken.
        normalized: token embeddings have length 1 already.
        labels: of a classifier, by index.
    """

    folder: Path
    id: str
    task: Task
    family: str
    dtype: str
    files: Mapping[str, str]
    source: Mapping[str, str]
    graphs: Mapping[str, Graph]
    tokenizer: str
    add_special_tokens: bool
    prompt: Prompt
    eos_ids: tuple[int, ...]
    pad_id: int
    bos_id: int | None
    decoder_start_id: int | None
    max_input: int
    max_new: int
    layer: int | None = None
    normalized: bool = False
    labels: tuple[str, ...] = ()

    def path(self, name: str) -> Path:
        """Where a file of the model lies."""
        return self.folder / name

    @property
    def sha256(self) -> str:
        """Of all files together: what a signature names a model by."""
        lines = "".join(f"{self.files[name]}  {name}\n" for name in sorted(self.files))
        return hashlib.sha256(lines.encode()).hexdigest()

    def verify(self) -> None:
        """Compare every file with its sha256, and look where the graphs' external data lie.

        Raises:
            ModelError: a file is missing or is not the one the card means, or a graph reads data
                that the card does not name.
        """
        for name, expected in self.files.items():
            if hash_file(self.path(name)) != expected:
                raise ModelError(
                    "is not the file that model.json means: its sha256 differs.",
                    where=str(self.path(name)),
                    hint="Export the model again, or fetch the folder again.",
                )
        for graph in self.graphs.values():
            for name in find_external_files(self.path(graph.file)):
                beside = (PurePosixPath(graph.file).parent / name).as_posix()
                if beside not in self.files:
                    raise ModelError(
                        f"keeps weights in {name!r}, which model.json does not name.",
                        where=str(self.path(graph.file)),
                        hint="Export the model again.",
                    )


def load_card(folder: Path, *tasks: Task, verify: bool = True) -> ModelCard:
    """The card of a model folder.

    Args:
        folder: holds model.json and the files it names.
        tasks: what the model is wanted for; any task if none is named.
        verify: compare the files with their sha256.

    Raises:
        ModelError: no model there, an unknown format, another task, a bad field, a path that leaves
            the folder, a missing file or one whose content differs.
    """
    path = folder / FILE
    try:
        fields = parse_json(path.read_bytes(), path)
    except FileNotFoundError:
        raise ModelError(
            "holds no model.json." if folder.is_dir() else "is no folder.",
            where=str(folder),
            hint="'odqa-fast models export' makes a model folder.",
        ) from None
    except OSError as error:
        raise ModelError(f"cannot be read: {error}.", where=str(path)) from None
    card = _Reader(folder, path).card(fields)
    if tasks and card.task not in tasks:
        raise ModelError(
            f"is a model for {card.task}, not for {' or '.join(tasks)}.",
            where=str(folder),
            hint="Name another model, or export this one with --task.",
        )
    if verify:
        card.verify()
    return card


def list_files(folder: Path) -> frozenset[str]:
    """The files that a folder's card names, as far as there is one: what may be replaced."""
    try:
        return frozenset(load_card(folder, verify=False).files)
    except ModelError:
        return frozenset()


def hash_file(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Reader:
    """Takes a card apart; every complaint names the field."""

    def __init__(self, folder: Path, path: Path) -> None:
        self._folder = folder
        self._path = path

    def card(self, fields: Any) -> ModelCard:
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            found = fields.get("format") if isinstance(fields, dict) else None
            raise self._bad(
                f"format {found!r}; this version reads format {FORMAT}",
                "Export the model again with this version.",
            )
        task = self._choice(fields, "task", Task)
        files = self._texts(fields, "files")
        for name, sha256 in files.items():
            self._check_file(name)
            if len(sha256) != 64:
                raise self._bad(f"files.{name} is no sha256")
        graphs = {
            name: self._graph(name, self._typed(self._typed(fields, "graphs", dict), name, dict))
            for name in GRAPHS[task]
        }
        tokenizer = self._typed(fields, "tokenizer", dict)
        used = [*(graph.file for graph in graphs.values()), self._typed(tokenizer, "file", str)]
        for name in used:
            if name not in files:
                raise self._bad(f"{name!r} is used but has no sha256 under files")
        return ModelCard(
            folder=self._folder,
            id=self._typed(fields, "id", str),
            task=task,
            family=self._typed(fields, "family", str),
            dtype=self._typed(fields, "dtype", str),
            files=files,
            source=self._texts(fields, "source"),
            graphs=graphs,
            tokenizer=tokenizer["file"],
            add_special_tokens=self._typed(tokenizer, "add_special_tokens", bool),
            prompt=self._prompt(self._typed(fields, "prompt", dict, {})),
            eos_ids=tuple(self._list(fields, "eos_ids", int)),
            pad_id=self._typed(fields, "pad_id", int),
            bos_id=self._optional(fields, "bos_id", int),
            decoder_start_id=self._optional(fields, "decoder_start_id", int),
            max_input=self._typed(fields, "max_input", int),
            max_new=self._typed(fields, "max_new", int, 0),
            layer=self._optional(fields, "layer", int),
            normalized=self._typed(fields, "normalized", bool, False),
            labels=tuple(self._list(fields, "labels", str)),
        )

    def _graph(self, name: str, fields: dict[str, Any]) -> Graph:
        kv = self._optional(fields, "kv", dict)
        return Graph(
            file=self._typed(fields, "file", str),
            inputs=self._choice(fields, "inputs", Inputs),
            logits=self._choice(fields, "logits", Literal["last", "all"]) if kv else None,
            kv=None
            if kv is None
            else KeyValues(
                layers=self._typed(kv, "layers", int),
                heads=self._typed(kv, "heads", int),
                head_dim=self._typed(kv, "head_dim", int),
                shared=self._typed(kv, "shared", bool),
            ),
        )

    def _prompt(self, fields: dict[str, Any]) -> Prompt:
        return Prompt(
            chat_template=self._optional(fields, "chat_template", str),
            bos_token=self._typed(fields, "bos_token", str, ""),
            eos_token=self._typed(fields, "eos_token", str, ""),
            system=self._optional(fields, "system", str),
            user=self._optional(fields, "user", str),
            prefill=self._typed(fields, "prefill", str, ""),
            stop=tuple(self._list(fields, "stop", str)),
        )

    def _check_file(self, name: str) -> None:
        path = self._folder / name
        if not is_inside(name) or not path.resolve().is_relative_to(self._folder.resolve()):
            raise self._bad(f"{name!r} leaves the folder", "A model's files lie in its own folder.")
        if not path.is_file():
            raise ModelError("is missing.", where=str(path), hint="Export the model again.")

    def _typed(self, fields: dict[str, Any], key: str, kind: type, default: Any = None) -> Any:
        value = fields.get(key, default)
        if not _fits(value, kind):
            raise self._bad(f"{key} is {value!r}, which is no {kind.__name__}")
        return value

    def _optional(self, fields: dict[str, Any], key: str, kind: type) -> Any:
        return None if fields.get(key) is None else self._typed(fields, key, kind)

    def _list(self, fields: dict[str, Any], key: str, kind: type) -> Iterator[Any]:
        for item in self._typed(fields, key, list, []):
            yield self._typed({key: item}, key, kind)

    def _texts(self, fields: dict[str, Any], key: str) -> dict[str, str]:
        found = self._typed(fields, key, dict)
        return {name: self._typed(found, name, str) for name in found}

    def _choice(self, fields: dict[str, Any], key: str, kind: Any) -> Any:
        value = fields.get(key)
        if value not in get_args(kind):
            raise self._bad(f"{key} is {value!r}, not one of {', '.join(get_args(kind))}")
        return value

    def _bad(self, what: str, hint: str = "Export the model again.") -> ModelError:
        return ModelError(f"{what}.", where=str(self._path), hint=hint)


def _fits(value: Any, kind: type) -> bool:
    # True is an int to isinstance; no number of a card is negative.
    return type(value) is int and value >= 0 if kind is int else isinstance(value, kind)


def is_inside(name: str) -> bool:
    """Whether a file name from a model is relative and climbs nowhere, on any system."""
    parts = name.replace("\\", "/").split("/")
    return bool(name) and "\0" not in name and ":" not in name and not {"", ".."} & set(parts)

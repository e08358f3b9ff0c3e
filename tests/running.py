"""Runs exported graphs by the shortest loop there is, so that exports are tested by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from odqa_fast.engines.card import ModelCard, load_card

Array = npt.NDArray[Any]
Rows = Sequence[Sequence[int]]


def session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def padded(rows: Rows, pad: int = 0) -> tuple[Array, Array]:
    """Rows padded on the right, and their lengths."""
    lengths = np.array([len(row) for row in rows], np.int32)
    ids = np.full((len(rows), lengths.max()), pad, np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return ids, lengths


class Decoder:
    """A decoder with "seqlens" inputs: `step` takes new tokens of every row."""

    def __init__(self, folder: Path, rows: int, room: int = 128) -> None:
        card = load_card(folder)
        graph = card.graphs["decoder"]
        assert graph.kv is not None
        self.pad = card.pad_id
        self._session = session(card.path(graph.file))
        kind = next(i.type for i in self._session.get_inputs() if i.name.startswith("past"))
        shape = rows, graph.kv.heads, room, graph.kv.head_dim
        dtype = np.float16 if kind == "tensor(float16)" else np.float32
        # Each its own zeros: an OrtValue on the CPU is the array it was made from.
        self._buffers = {
            f"{layer}.{part}": ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, dtype))
            for layer in range(graph.kv.layers)
            for part in ("key", "value")
        }
        self._lengths = np.zeros(rows, np.int32)

    def step(self, rows: Rows) -> tuple[Array, Array]:
        """The next token [B] of each row and its logits [B, vocabulary]."""
        ids, new = padded(rows, self.pad)
        self._lengths = self._lengths + new
        binding = self._session.io_binding()
        binding.bind_cpu_input("input_ids", ids)
        binding.bind_cpu_input("seqlens_k", (self._lengths - 1).astype(np.int32))
        binding.bind_cpu_input("total_len", self._lengths.max(keepdims=True).astype(np.int32))
        binding.bind_cpu_input("last_pos", (new - 1).astype(np.int64).reshape(-1, 1, 1))
        binding.bind_output("next_token", "cpu")
        binding.bind_output("logits", "cpu")
        for name, buffer in self._buffers.items():
            binding.bind_ortvalue_input(f"past_key_values.{name}", buffer)
            binding.bind_ortvalue_output(f"present.{name}", buffer)
        self._session.run_with_iobinding(binding)
        token, logits = binding.get_outputs()[:2]
        return token.numpy(), logits.numpy()


class EncoderDecoder:
    """An encoder and a decoder with "lens" inputs."""

    def __init__(self, folder: Path, sources: Rows) -> None:
        self.card = load_card(folder)
        encoder, self._decoder = (
            session(self.card.path(self.card.graphs[name].file)) for name in ("encoder", "decoder")
        )
        ids, self._lengths = padded(sources, self.card.pad_id)
        names = [output.name for output in encoder.get_outputs()]
        found = encoder.run(None, {"input_ids": ids, "lens": self._lengths})
        self._cross = dict(zip(names, found, strict=True))
        self._past = {
            name.replace("cross", "past_key_values"): values[:, :, :0]
            for name, values in self._cross.items()
        }

    def step(self, tokens: Sequence[int]) -> tuple[Array, Array]:
        feeds = {
            "input_ids": np.array(tokens, np.int64)[:, None],
            "lens": self._lengths,
            **self._cross,
            **self._past,
        }
        names = [output.name for output in self._decoder.get_outputs()]
        found = dict(zip(names, self._decoder.run(None, feeds), strict=True))
        self._past = {
            name: found[name.replace("past_key_values", "present")] for name in self._past
        }
        return found["next_token"], found["logits"]


def greedy(folder: Path, prompts: Rows, new: int, *, stop: bool = False) -> list[list[int]]:
    """The most likely continuation of each prompt, all in one batch; the end token ends a row."""
    card = load_card(folder)
    if card.task == "text-generation":
        decoder = Decoder(folder, len(prompts), max(map(len, prompts)) + new)
        tokens = decoder.step(prompts)[0]
        steps = [tokens]
        for _ in range(new - 1):
            tokens = decoder.step([[token] for token in tokens])[0]
            steps.append(tokens)
    else:
        pair = EncoderDecoder(folder, prompts)
        steps, tokens = [], np.full(len(prompts), card.decoder_start_id)
        for _ in range(new):
            tokens = pair.step(tokens)[0]
            steps.append(tokens)
    return [_until_end(row, card) if stop else row for row in np.array(steps).T.tolist()]


def _until_end(row: list[int], card: ModelCard) -> list[int]:
    ends = [place for place, token in enumerate(row) if token in card.eos_ids]
    return row[: ends[0] + 1] if ends else row


def encode(folder: Path, rows: Rows, **more: Array) -> Mapping[str, Array]:
    """The outputs of an encoder with "mask" inputs."""
    card = load_card(folder)
    run = session(card.path(card.graphs["encoder"].file))
    ids, lengths = padded(rows, card.pad_id)
    mask = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)
    names = [output.name for output in run.get_outputs()]
    feeds = {"input_ids": ids, "attention_mask": mask, **more}
    return dict(zip(names, run.run(None, feeds), strict=True))

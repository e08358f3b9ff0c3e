"""Models whose cache grows by a token at each step: a batch runs from its start to its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from odqa_fast.engines.card import Graph
from odqa_fast.engines.generate.output import Output
from odqa_fast.engines.session import Binding, Session, Value
from odqa_fast.engines.tokens import Ids


class GrowingModel(ABC):
    """A batch on its way, row by row."""

    def __init__(self, decoder: Session, graph: Graph) -> None:
        assert graph.kv is not None
        self._decoder = decoder
        self._kv = graph.kv
        parts = [f"{i}.{part}" for i in range(graph.kv.layers) for part in ("key", "value")]
        self._pasts = {f"past_key_values.{part}": f"present.{part}" for part in parts}
        self._state: dict[str, Value] = {}

    @property
    def token_bytes(self) -> int:
        """What the cache of one token takes."""
        sizes = (np.dtype(self._decoder.inputs[past]).itemsize for past in self._pasts)
        return sum(sizes) * self._kv.heads * self._kv.head_dim

    @abstractmethod
    def start(self, prompts: Sequence[Ids]) -> Output:
        """Read the prompts of a batch, in the place of the one before."""

    @abstractmethod
    def step(self, tokens: Sequence[int]) -> Output:
        """Take every row on by one token."""

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows."""
        self._state = {
            name: self._decoder.place(np.ascontiguousarray(value.numpy()[list(rows)]))
            for name, value in self._state.items()
        }

    def close(self) -> None:
        """Let the memory go."""
        self._state.clear()

    def _forget(self, rows: int) -> None:
        shape = (rows, self._kv.heads, 0, self._kv.head_dim)
        for past in self._pasts:
            self._state[past] = self._decoder.place(np.empty(shape, self._decoder.inputs[past]))

    def _run(self, binding: Binding, last: Ids) -> Output:
        for name, value in self._state.items():
            binding.give_value(name, value)
        for name in self._decoder.outputs:
            binding.take(name)
        values = binding.run()
        for past, present in self._pasts.items():
            self._state[past] = values[present]
        return Output(values, last)


class PaddedDecoder(GrowingModel):
    """A decoder with position ids, padded on the left."""

    def __init__(self, decoder: Session, graph: Graph, pad_id: int) -> None:
        super().__init__(decoder, graph)
        self._pad = pad_id
        self._mask: Ids = np.empty((0, 0), np.int64)

    def start(self, prompts: Sequence[Ids]) -> Output:
        """Read the prompts of a batch, in the place of the one before."""
        longest = max(map(len, prompts))
        ids = np.full((len(prompts), longest), self._pad, np.int64)
        self._mask = np.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, longest - len(prompt) :] = prompt
            self._mask[row, longest - len(prompt) :] = 1
        self._forget(len(prompts))
        return self._with_masks(ids, np.maximum(self._mask.cumsum(axis=1) - 1, 0))

    def step(self, tokens: Sequence[int]) -> Output:
        """Take every row on by one token."""
        ones = np.ones((len(tokens), 1), np.int64)
        positions = self._mask.sum(axis=1, keepdims=True)
        self._mask = np.concatenate([self._mask, ones], axis=1)
        return self._with_masks(np.array(tokens, np.int64)[:, np.newaxis], positions)

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows."""
        super().keep(rows)
        self._mask = self._mask[list(rows)]

    def _with_masks(self, ids: Ids, positions: Ids) -> Output:
        binding = self._decoder.bind()
        binding.give("input_ids", ids)
        binding.give("attention_mask", self._mask)
        binding.give("position_ids", positions)
        return self._run(binding, np.full(len(ids), ids.shape[1] - 1))


class EncoderDecoder(GrowingModel):
    """An encoder, which gives what every layer of the decoder attends to, and that decoder."""

    def __init__(
        self, encoder: Session, decoder: Session, graph: Graph, pad_id: int, start_id: int
    ) -> None:
        super().__init__(decoder, graph)
        self._encoder = encoder
        self._pad = pad_id
        self._start_id = start_id

    def start(self, prompts: Sequence[Ids]) -> Output:
        """Read the prompts of a batch, in the place of the one before."""
        lengths = np.array([len(prompt) for prompt in prompts], np.int32)
        ids = np.full((len(prompts), int(lengths.max())), self._pad, np.int64)
        for row, prompt in enumerate(prompts):
            ids[row, : len(prompt)] = prompt
        binding = self._encoder.bind()
        binding.give("input_ids", ids)
        binding.give("lens", lengths)
        for name in self._encoder.outputs:
            binding.take(name)
        self._state = binding.run()
        self._state["lens"] = self._decoder.place(lengths)
        self._forget(len(prompts))
        return self.step([self._start_id] * len(prompts))

    def step(self, tokens: Sequence[int]) -> Output:
        """Take every row on by one token."""
        binding = self._decoder.bind()
        binding.give("input_ids", np.array(tokens, np.int64)[:, np.newaxis])
        return self._run(binding, np.zeros(len(tokens), np.int64))

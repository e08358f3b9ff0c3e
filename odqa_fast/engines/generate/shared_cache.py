"""A decoder whose past and present are one buffer: rows of it are bound, written and kept in place.

So every prompt has a place of its own, and goes in and out without the others being touched.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from odqa_fast.engines.card import Graph
from odqa_fast.engines.generate.output import Output
from odqa_fast.engines.memory import Buffer
from odqa_fast.engines.session import Binding, Session
from odqa_fast.engines.tokens import Ids


class SharedCache:
    """The decoder and its cache.

    Args:
        session: the decoder.
        graph: what its card says of it; `kv.shared`.
        pad_id: stands where a shorter prompt has no token; nothing looks at it.
    """

    def __init__(self, session: Session, graph: Graph, pad_id: int) -> None:
        assert graph.kv is not None
        self._session = session
        self._inputs = graph.inputs
        self._kv = graph.kv
        self._pad = pad_id
        self._buffers: dict[str, Buffer] = {}
        self._stepping: tuple[int, Binding] | None = None
        names = [f"{i}.{part}" for i in range(graph.kv.layers) for part in ("key", "value")]
        self._pasts = {f"past_key_values.{name}": f"present.{name}" for name in names}

    @property
    def token_bytes(self) -> int:
        """What the cache of one token takes."""
        sizes = (np.dtype(self._session.inputs[past]).itemsize for past in self._pasts)
        return sum(sizes) * self._kv.heads * self._kv.head_dim

    def open(self, rows: int, length: int) -> None:
        """Make a cache for so many prompts of so many tokens, in the place of an older one.

        Raises:
            DeviceMemoryError: the device has no room for it.
        """
        self.close()
        shape = (rows, self._kv.heads, length, self._kv.head_dim)
        for past in self._pasts:
            self._buffers[past] = self._session.allocate(shape, self._session.inputs[past])

    def close(self) -> None:
        """Let the memory go."""
        self._stepping = None
        self._buffers.clear()

    def copy(self, source: int, target: int) -> None:
        """Make a row hold what another holds."""
        for buffer in self._buffers.values():
            buffer.copy_row(source, target)

    def prefill(self, first: int, prompts: Sequence[Ids], known: int = 0) -> Output:
        """Read prompts into rows that follow one another.

        Args:
            first: the row of the first prompt.
            prompts: whole prompts; only one where something is known.
            known: how many tokens of it the row holds already.
        """
        lengths = np.array([len(prompt) for prompt in prompts])
        ids = np.full((len(prompts), int(lengths.max()) - known), self._pad, np.int64)
        for row, prompt in enumerate(prompts):
            ids[row, : len(prompt) - known] = prompt[known:]
        return self._run(self._bound(first, len(prompts)), ids, lengths, lengths - known - 1)

    def step(self, tokens: Sequence[int], lengths: Sequence[int]) -> Output:
        """Take the first rows on by one token.

        Args:
            tokens: the token of each row.
            lengths: tokens each row holds before.
        """
        if self._stepping is None or self._stepping[0] != len(tokens):
            self._stepping = len(tokens), self._bound(0, len(tokens))
        ids = np.array(tokens, np.int64)[:, np.newaxis]
        return self._run(
            self._stepping[1], ids, np.array(lengths) + 1, np.zeros(len(tokens), np.int64)
        )

    def _bound(self, first: int, rows: int) -> Binding:
        binding = self._session.bind()
        for past, present in self._pasts.items():
            binding.give_rows(past, self._buffers[past], first, rows)
            binding.take_rows(present, self._buffers[past], first, rows)
        for name in ("next_token", "logits"):
            if name in self._session.outputs:
                binding.take(name)
        return binding

    def _run(
        self,
        binding: Binding,
        ids: Ids,
        lengths: npt.NDArray[np.int64],
        last: npt.NDArray[np.int64],
    ) -> Output:
        binding.give("input_ids", ids)
        if self._inputs == "seqlens":
            binding.give("seqlens_k", (lengths - 1).astype(np.int32))
            binding.give("total_len", lengths.max(keepdims=True).astype(np.int32))
            binding.give("last_pos", last[:, np.newaxis, np.newaxis])
        else:
            mask = np.arange(lengths.max()) < lengths[:, np.newaxis]
            binding.give("attention_mask", mask.astype(np.int64))
        return Output(binding.run(), last)

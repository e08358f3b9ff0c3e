"""The residual stream of a transformer with RMS norms (Llama, T5)."""

from __future__ import annotations

from odqa_fast.export.graph import FLOAT, GraphBuilder
from odqa_fast.export.weights import Floats


class ResidualStream:
    """What each layer reads through a norm and adds to.

    An addition waits for the norm after it: one node does both.

    Args:
        x: the embeddings [B, S, hidden], in the graph's type.
        fp32: keep the stream and its norms in fp32 whatever the graph's type.
    """

    def __init__(self, graph: GraphBuilder, x: str, epsilon: float, *, fp32: bool = False) -> None:
        self._graph = graph
        self._epsilon = epsilon
        self._wide = fp32 and graph.float != FLOAT
        self._x = self._widened(x)
        self._added: str | None = None

    def add(self, y: str, *, fp32: bool = False) -> None:
        """Add the output of a layer; fp32 says that it is wide already."""
        self._added = y if fp32 else self._widened(y)

    def norm(self, name: str, weight: Floats) -> str:
        """The stream so far, normalized, in the graph's type."""
        scale = self._graph.weight(name, weight, fp32=self._wide)
        if self._added is None:
            y = self._graph.op(
                "SimplifiedLayerNormalization", self._x, scale, epsilon=self._epsilon, axis=-1
            )
        else:
            y, _, _, self._x = self._graph.ops(
                "SkipSimplifiedLayerNormalization",
                [self._added, self._x, scale],
                [f"{name}.out", "", "", f"{name}.sum"],
                epsilon=self._epsilon,
            )
            self._added = None
        return self._graph.op("Cast", y, to=self._graph.float) if self._wide else y

    def _widened(self, x: str) -> str:
        return self._graph.op("Cast", x, to=FLOAT) if self._wide else x

"""Covers: where a graph's weights go. Run: pytest tests/export/test_graph.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import running

from odqa_fast.engines._external import find_external_files
from odqa_fast.export import graph as graphs
from odqa_fast.export.graph import FLOAT, GraphBuilder


def chain(path: Path) -> None:
    """x times five matrices, 2,500 bytes each, one of them twice, and a bias of 100 bytes."""
    matrices = [np.roll(np.eye(25, dtype=np.float32), shift, 1) * 2 for shift in range(5)]
    with GraphBuilder(path) as graph:
        x = graph.input("x", FLOAT, "B", 25)
        for number, matrix in [*enumerate(matrices), (0, matrices[0])]:
            x = graph.linear(x, f"w{number}", matrix)
        x = graph.op("Add", x, graph.weight("bias", np.arange(25, dtype=np.float32)))
        graph.op("Identity", x, out="y")
        graph.output("y", FLOAT, "B", 25)


def result_of(path: Path) -> np.ndarray:
    x = np.eye(25, dtype=np.float32)
    found: np.ndarray = running.session(path).run(None, {"x": x})[0]
    return found


def test_weights_lie_on_pages_of_a_file_beside_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "g.onnx"
    chain(path)
    assert find_external_files(path) == {"g.onnx.data"}
    tensors = onnx.load(str(path), load_external_data=False).graph.initializer
    places = {t.name: {e.key: e.value for e in t.external_data} for t in tensors}
    assert places["bias"] == {}
    for number in range(5):
        expected = {"location": "g.onnx.data", "offset": str(4096 * number), "length": "2500"}
        assert places[f"w{number}"] == expected
    assert (tmp_path / "g.onnx.data").stat().st_size == 4 * 4096 + 2500
    # Doubled six times, shifted by 0 + 1 + 2 + 3 + 4 + 0 columns to the left.
    expected = np.roll(np.eye(25) * 2.0**6, -10, 1) + np.arange(25)
    np.testing.assert_array_equal(result_of(path), expected)


def test_small_weights_may_lie_there_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "INLINE_BYTES", 1)
    inline, outside = tmp_path / "a.onnx", tmp_path / "b.onnx"
    chain(outside)
    monkeypatch.undo()
    chain(inline)
    assert (tmp_path / "b.onnx.data").stat().st_size == 5 * 4096 + 100
    np.testing.assert_array_equal(result_of(outside), result_of(inline))

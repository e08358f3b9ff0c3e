"""Covers: safetensors files as float32, and what is none. Compared against: the values written.

Run: pytest tests/export/test_weights.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from odqa_fast.errors import ModelError
from odqa_fast.export.weights import Weights, find_shards, open_safetensors

VALUES = np.array([[1.0, -2.5, 3.140625], [1e-3, 65504.0, -0.0]])


def opened(*paths: Path) -> Weights:
    return Weights(open_safetensors(list(paths)), "here")


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_each_type_comes_as_float32(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    other = np.arange(3, dtype=np.float32)
    save_file({"a": other, "b": VALUES.astype(kind), "empty": np.zeros((0, 4), kind)}, path)
    weights = opened(path)
    assert set(weights) == {"a", "b", "empty"}
    assert weights["b"].dtype == np.float32
    # Every number of a shorter type is one of float32 as well.
    expected = VALUES.astype(kind).astype(np.float32)
    np.testing.assert_array_equal(weights.take("b", 2, 3), expected)
    assert np.signbit(weights["b"][1, 2])
    np.testing.assert_array_equal(weights["a"], other)
    assert weights["empty"].shape == (0, 4)


def test_shards_by_their_index(tmp_path: Path) -> None:
    for number in (1, 2):
        save_file(
            {f"t{number}": np.full(2, number, np.float32)}, tmp_path / f"{number}.safetensors"
        )
    index = {"weight_map": {"t1": "1.safetensors", "t2": "2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    weights = opened(*find_shards(tmp_path))
    assert weights["t1"].tolist() == [1, 1]
    assert weights["t2"].tolist() == [2, 2]


@pytest.mark.parametrize("name", ["../1.safetensors", "3.safetensors"])
def test_an_index_that_names_what_is_not_there(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    save_file({"t": np.zeros(1, np.float32)}, tmp_path / "1.safetensors")
    index = {"weight_map": {"t": name}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelError, match="which is not there"):
        find_shards(folder)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"weight_map": 3}'])
def test_what_is_no_index(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    with pytest.raises(ModelError, match="is no index"):
        find_shards(tmp_path)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(ModelError, match=r"pytorch_model\.bin, a pickle.*save_pretrained"):
        find_shards(tmp_path)


def test_no_weights_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no model\.safetensors"):
        find_shards(tmp_path)


def test_a_missing_tensor_and_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": np.zeros((2, 3), np.float32)}, path)
    weights = opened(path)
    with pytest.raises(ModelError, match="here: the weights hold no b"):
        weights.take("b", 1)
    with pytest.raises(ModelError, match=r"a has the shape \[2, 3\].* asks for \[3, 2\]"):
        weights.take("a", 3, 2)
    assert weights.maybe("b", 1) is None


def crafted(path: Path, header: Any, data: bytes = b"\0" * 8) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize(
    "header",
    [
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 12]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}},
        {"a": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": ["x"], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2]}},
        {"a": 3},
        [],
        b"{not json",
        b"\xff\xfe",
    ],
)
def test_a_broken_header(header: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is no safetensors file"):
        opened(crafted(tmp_path / "x.safetensors", header))


@pytest.mark.parametrize("data", [b"", b"abc", b"\xff" * 16, (1 << 40).to_bytes(8, "little")])
def test_what_is_no_such_file(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    with pytest.raises(ModelError, match="is no safetensors file"):
        opened(path)


def test_a_type_that_is_not_read(tmp_path: Path) -> None:
    entry = {"dtype": "I8", "shape": [8], "data_offsets": [0, 8]}
    weights = opened(crafted(tmp_path / "x.safetensors", {"a": entry}))
    with pytest.raises(ModelError, match="a is of type I8"):
        weights["a"]


def test_progress_ends_at_one(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({name: np.zeros(1, np.float32) for name in "abcd"}, path)
    told: list[float] = []
    weights = Weights(open_safetensors([path]), "here", told.append)
    for name in "aabcd":
        weights[name]
    assert told == [0.25, 0.25, 0.5, 0.75, 1.0]

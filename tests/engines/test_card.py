"""Covers: model.json, and what is refused before anything of a model runs.

Run: pytest tests/engines/test_card.py
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tiny
from onnx import TensorProto, helper, numpy_helper

from odqa_fast.engines.card import KeyValues, is_inside, load_card
from odqa_fast.errors import ModelError
from odqa_fast.export import export


@pytest.fixture
def model(tmp_path: Path) -> Path:
    config = tiny.llama_config()
    export(tiny.write(tmp_path / "hf", config, tiny.llama_weights(config)), tmp_path / "model")
    return tmp_path / "model"


def edit(model: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = model / "model.json"
    fields = json.loads(path.read_text())
    change(fields)
    path.write_text(json.dumps(fields))


def sealed(model: Path, fields: dict[str, Any], *names: str) -> None:
    """Give files the sha256 that they have."""
    for name in names:
        fields["files"][name] = hashlib.sha256((model / name).read_bytes()).hexdigest()


def refused(model: Path, *said: str, **options: Any) -> None:
    with pytest.raises(ModelError) as caught:
        load_card(model, **options)
    for words in said:
        assert words in str(caught.value)
    assert caught.value.exit_code == 4


def test_a_card_says_what_the_model_is(model: Path) -> None:
    card = load_card(model, "text-generation", "text2text-generation")
    assert (card.task, card.family, card.dtype) == ("text-generation", "llama", "fp32")
    assert card.graphs["decoder"].kv == KeyValues(layers=2, heads=2, head_dim=16, shared=True)
    assert set(card.files) == {"model.onnx", "model.onnx.data", "tokenizer.json"}
    assert (card.eos_ids, card.pad_id, card.bos_id) == ((1,), 0, None)
    assert card.add_special_tokens  # there is no chat template that would write them
    weights = (model.parent / "hf" / "model.safetensors").read_bytes()
    assert card.source["sha256"] == hashlib.sha256(weights).hexdigest()


def test_its_sha256_is_that_of_a_list_of_its_files(model: Path) -> None:
    names = ("model.onnx", "model.onnx.data", "tokenizer.json")
    lines = [f"{hashlib.sha256((model / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    assert load_card(model).sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_another_task(model: Path) -> None:
    with pytest.raises(ModelError, match=r"is a model for text-generation, not for token-emb"):
        load_card(model, "token-embeddings")


def test_no_model_there(tmp_path: Path) -> None:
    refused(tmp_path, "holds no model.json", "models export")
    refused(tmp_path / "none", "is no folder")


def test_a_changed_file(model: Path) -> None:
    path = model / "model.onnx.data"
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    refused(model, "model.onnx.data", "sha256 differs")
    load_card(model, verify=False)


def test_a_missing_file(model: Path) -> None:
    (model / "tokenizer.json").unlink()
    refused(model, "tokenizer.json", "is missing")


@pytest.mark.parametrize(
    ("text", "said"), [("{", "cannot be read"), ("[]", "format None"), ("\xff", "cannot be read")]
)
def test_what_is_no_card(text: str, said: str, model: Path) -> None:
    (model / "model.json").write_bytes(text.encode("latin-1"))
    refused(model, said)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("format", 2, "format 2; this version reads format 1"),
        ("task", "chess", "task is 'chess', not one of text-generation"),
        ("eos_ids", ["a"], "eos_ids is 'a', which is no int"),
        ("pad_id", -1, "pad_id is -1"),
        ("pad_id", True, "pad_id is True"),
        ("max_input", None, "max_input is None"),
        ("graphs", {}, "decoder is None, which is no dict"),
        ("files", {}, "'model.onnx' is used but has no sha256"),
        ("prompt", {"stop": [1]}, "stop is 1, which is no str"),
        ("tokenizer", {"file": "tokenizer.json"}, "add_special_tokens is None"),
    ],
)
def test_a_bad_field(key: str, value: Any, said: str, model: Path) -> None:
    edit(model, lambda fields: fields.update({key: value}))
    refused(model, said, "model.json")


@pytest.mark.parametrize(
    "name", ["../hf/config.json", "/etc/hostname", "a/../../hf/config.json", "..\\x", "C:x", ""]
)
def test_a_path_that_leaves_the_folder(name: str, model: Path) -> None:
    assert not is_inside(name)
    edit(model, lambda fields: fields["files"].update({name: "0" * 64}))
    refused(model, "leaves the folder", verify=False)


def test_a_link_that_leaves_the_folder(model: Path) -> None:
    (model / "link.json").symlink_to(model.parent / "hf" / "config.json")
    edit(model, lambda fields: sealed(model, fields, "link.json"))
    refused(model, "'link.json' leaves the folder")


def outside(location: str) -> list[onnx.ModelProto]:
    """Models that read weights from somewhere: among the initializers, in a node, in a subgraph."""
    tensor = numpy_helper.from_array(np.ones(4, np.float32), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    constant = helper.make_node("Constant", [], ["y"], value=tensor)
    inner = helper.make_graph([constant], "inner", [], [value])
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    branch = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    copy = helper.make_node("Identity", ["w"], ["y"])
    graphs = [
        helper.make_graph([copy], "initializer", [], [value], [tensor]),
        helper.make_graph([constant], "node", [], [value]),
        helper.make_graph([branch], "subgraph", [condition], [value]),
    ]
    return [helper.make_model(graph) for graph in graphs]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("location", ["../hf/model.safetensors", "/etc/hostname", "unnamed.data"])
def test_weights_outside_of_what_the_card_names(location: str, place: int, model: Path) -> None:
    onnx.save(outside(location)[place], model / "model.onnx")
    edit(model, lambda fields: sealed(model, fields, "model.onnx"))
    refused(model, f"keeps weights in {location!r}", "model.json does not name")


@pytest.mark.parametrize("data", [b"", b"hello, this is no graph", b"\x3a\xff\xff\xff\xff\x7f"])
def test_a_graph_that_is_none(data: bytes, model: Path) -> None:
    (model / "model.onnx").write_bytes(data)
    edit(model, lambda fields: sealed(model, fields, "model.onnx"))
    refused(model, "model.onnx", "is no ONNX graph" if data else "is empty")


def test_weights_in_a_graph_nested_deep(model: Path) -> None:
    # Graph, node, attribute, graph, ... around an initializer with an entry.
    data = b"\x0a\x08location\x12\x09x/../../y"
    for number in [7, *(1, 5, 6) * 3000, 5, 13][::-1]:
        size, length = len(data), b""
        while size > 127:
            length += bytes([size & 127 | 128])
            size >>= 7
        data = bytes([number << 3 | 2]) + length + bytes([size]) + data
    (model / "model.onnx").write_bytes(data)
    edit(model, lambda fields: sealed(model, fields, "model.onnx"))
    refused(model, "keeps weights in 'x/../../y'")


def tagged(number: int, content: bytes) -> bytes:
    """A field of a message; the number as any that its lower 29 bits equal."""
    tag, out = number << 3 | 2, b""
    while tag > 127:
        out += bytes([tag & 127 | 128])
        tag >>= 7
    return out + bytes([tag, len(content)]) + content


ENTRY = tagged(13, tagged(1, b"location") + tagged(2, b"../x"))
TENSOR = tagged(5, ENTRY)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        # What readers take as graph.initializer and a walk over whole numbers does not.
        (tagged(7, tagged(5 + (1 << 29), ENTRY)), "is no ONNX graph"),
        (tagged(7 + (1 << 29), TENSOR), "is no ONNX graph"),
        # A group around it (https://protobuf.dev/programming-guides/encoding/#groups).
        (b"\x3b" + TENSOR + b"\x3c", "is no ONNX graph"),
        (tagged(0, TENSOR), "is no ONNX graph"),
        # The graph that a training starts from, and what a function's attribute is by default.
        (tagged(20, tagged(1, TENSOR)), "keeps weights in '../x'"),
        (tagged(25, tagged(11, TENSOR)), "keeps weights in '../x'"),
    ],
)
def test_weights_behind_another_encoding(data: bytes, said: str, model: Path) -> None:
    (model / "model.onnx").write_bytes(data)
    edit(model, lambda fields: sealed(model, fields, "model.onnx"))
    refused(model, said)

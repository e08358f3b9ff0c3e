"""Covers: model.json for folders of optimum and onnxruntime-genai.

The graphs here have the inputs and outputs that those tools write, and nothing between them.
Run: pytest tests/export/test_from_onnx.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tiny
from onnx import TensorProto, helper, numpy_helper

from odqa_fast.engines.card import Graph, KeyValues, load_card
from odqa_fast.errors import ModelError
from odqa_fast.export import describe_onnx

PAST = ["past_key_values.0.key", "past_key_values.0.value"]


def graph(
    path: Path,
    inputs: list[str],
    outputs: list[str],
    kind: int = TensorProto.FLOAT,
    node: str = "Concat",
) -> None:
    values = [
        helper.make_tensor_value_info(name, kind, ["B", 3, "P", 64])
        if name.startswith("past")
        else helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "S"])
        for name in inputs
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B"]) for name in outputs]
    weight = numpy_helper.from_array(
        np.ones((2, 2), helper.tensor_dtype_to_np_dtype(kind)), "weight"
    )
    nodes = [helper.make_node(node, inputs, outputs)]
    model = helper.make_model(helper.make_graph(nodes, "g", values, results, [weight]))
    onnx.save(
        model,
        path,
        save_as_external_data=True,
        location=f"{path.name}.data",
        size_threshold=0,
    )


def folder_of(folder: Path, config: dict[str, Any], name: str = "config.json") -> Path:
    folder.mkdir()
    (folder / "tokenizer.json").write_text(tiny.tokenizer("llama"))
    (folder / name).write_text(json.dumps(config))
    return folder


def test_a_decoder_of_optimum(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "smol", tiny.llama_config())
    graph(
        folder / "model.onnx",
        ["input_ids", "attention_mask", "position_ids", *PAST],
        ["logits", "present.0.key", "present.0.value"],
    )
    card = describe_onnx(folder)
    assert card == load_card(folder, "text-generation")
    assert card.graphs["decoder"] == Graph(
        "model.onnx", "mask+positions", "all", KeyValues(1, 3, 64, shared=False)
    )
    assert set(card.files) == {"model.onnx", "model.onnx.data", "tokenizer.json"}
    assert (card.id, card.family, card.dtype) == ("smol", "llama", "fp32")
    assert (card.max_input + card.max_new, card.eos_ids, card.pad_id) == (256, (1,), 0)


def test_a_decoder_of_genai(tmp_path: Path) -> None:
    said = {
        "model": {
            "type": "llama",
            "context_length": 8192,
            "vocab_size": 300,
            "eos_token_id": [1, 2],
            "pad_token_id": 2,
            "decoder": {"filename": "decoder.onnx", "num_hidden_layers": 1},
        }
    }
    folder = folder_of(tmp_path / "smol", said, "genai_config.json")
    graph(
        folder / "decoder.onnx",
        ["input_ids", "attention_mask", *PAST],
        ["logits", "present.0.key", "present.0.value"],
        TensorProto.FLOAT16,
        "GroupQueryAttention",
    )
    card = describe_onnx(folder)
    assert card.graphs["decoder"] == Graph(
        "decoder.onnx", "mask", "all", KeyValues(1, 3, 64, shared=True)
    )
    assert (card.dtype, card.eos_ids, card.pad_id) == ("fp16", (1, 2), 2)
    assert card.max_input + card.max_new == 8192


@pytest.mark.parametrize(
    ("outputs", "task"),
    [
        (["last_hidden_state", "pooler_output"], "token-embeddings"),
        (["start_logits", "end_logits"], "question-answering"),
        (["logits"], "text-classification"),
    ],
)
def test_an_encoder_of_optimum(outputs: list[str], task: str, tmp_path: Path) -> None:
    config = tiny.bert_config(id2label={"0": "no", "1": "yes"})
    folder = folder_of(tmp_path / "bert", config)
    graph(folder / "model.onnx", ["input_ids", "attention_mask", "token_type_ids"], outputs)
    card = describe_onnx(folder)
    assert (card.task, card.graphs["encoder"]) == (task, Graph("model.onnx", "mask"))
    assert (card.max_input, card.max_new, card.normalized) == (64, 0, False)
    assert card.layer == (3 if task == "token-embeddings" else None)
    assert card.labels == (("no", "yes") if task == "text-classification" else ())


def test_quantized_weights(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bert", tiny.bert_config())
    inputs = ["input_ids", "attention_mask"]
    graph(folder / "model.onnx", inputs, ["last_hidden_state"], TensorProto.INT8)
    assert describe_onnx(folder).dtype == "quantized"


def test_what_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"neither config\.json nor genai_config\.json"):
        describe_onnx(tmp_path)
    folder = folder_of(tmp_path / "model", tiny.t5_config())
    with pytest.raises(ModelError, match=r"holds no model\.onnx"):
        describe_onnx(folder)
    (folder / "encoder_model.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match=r"encoder-decoder.*models export"):
        describe_onnx(folder)
    graph(folder / "model.onnx", ["input_ids", "attention_mask"], ["hidden", "other"])
    with pytest.raises(ModelError, match="outputs hidden, other, of which none is known"):
        describe_onnx(folder)
    graph(folder / "model.onnx", ["pixels"], ["logits"])
    with pytest.raises(ModelError, match="no input_ids and attention_mask"):
        describe_onnx(folder)
    (folder / "model.onnx.data").unlink()
    with pytest.raises(ModelError, match=r"model\.onnx\.data', which is not there"):
        describe_onnx(folder)
    (folder / "model.onnx").write_bytes(b"hello")
    with pytest.raises(ModelError, match="is no ONNX graph"):
        describe_onnx(folder)
    assert not (folder / "model.json").exists()

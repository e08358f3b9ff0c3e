"""Covers: encoders of the BERT kind and their heads. Compared against: plain numpy.

Run: pytest tests/export/test_export_bert.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import running
import tiny
from oracles import transformers as oracle

from odqa_fast.errors import ModelError
from odqa_fast.export import export

ROWS = [[2, 17, 250, 3, 99, 42, 1], [2, 5, 1]]
ROBERTA = {"model_type": "roberta", "type_vocab_size": 1, "pad_token_id": 1}


def embeddings(folder: Path, config: dict[str, Any], weights: Any, **options: Any) -> Any:
    export(tiny.write(folder / "hf", config, weights), folder / "out", **options)
    return running.encode(folder / "out", ROWS)["embeddings"]


def expected_of(config: dict[str, Any], weights: Any, row: list[int], layers: int) -> Any:
    hidden = oracle.bert(config, weights, row, [0] * len(row), layers)
    return hidden / np.sqrt((hidden**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("layer", [1, 2, 3])
@pytest.mark.parametrize(("changes", "prefix"), [({}, ""), ({}, "bert."), (ROBERTA, "roberta.")])
def test_embeddings_equal_the_oracle(
    changes: dict[str, Any], prefix: str, layer: int, tmp_path: Path
) -> None:
    config = tiny.bert_config(**changes)
    weights = tiny.bert_weights(config, prefix)
    found = embeddings(tmp_path, config, weights, layer=layer)
    for row, values in zip(ROWS, found, strict=True):
        expected = expected_of(config, weights, row, layer)
        np.testing.assert_allclose(values[: len(row)], expected, atol=1e-6)


def test_all_layers_by_default(tmp_path: Path) -> None:
    config = tiny.bert_config()
    weights = tiny.bert_weights(config)
    card = export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "out")
    assert (card.task, card.layer, card.normalized) == ("token-embeddings", 3, True)
    assert (card.max_input, card.max_new) == (64, 0)


@pytest.mark.parametrize(("dtype", "nearness"), [("fp16", 0.005), ("int8", 0.05)])
def test_other_types_are_near_fp32(dtype: Any, nearness: float, tmp_path: Path) -> None:
    config = tiny.bert_config()
    weights = tiny.bert_weights(config)
    found = embeddings(tmp_path, config, weights, dtype=dtype)
    assert found.dtype == np.float32
    expected = expected_of(config, weights, ROWS[0], 3)
    np.testing.assert_allclose(found[0], expected, atol=nearness)


def test_the_oldest_names_of_the_norms(tmp_path: Path) -> None:
    config = tiny.bert_config()
    weights = tiny.bert_weights(config, "bert.")
    new = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed = weights
    for name, old in new.items():
        renamed = {key.replace(name, old): values for key, values in renamed.items()}
    assert renamed.keys() != weights.keys()
    found = embeddings(tmp_path, config, renamed)
    np.testing.assert_allclose(found[0], expected_of(config, weights, ROWS[0], 3), atol=1e-6)


@pytest.mark.parametrize("changes", [{}, ROBERTA])
def test_start_and_end_logits(changes: dict[str, Any], tmp_path: Path) -> None:
    config = tiny.bert_config(**changes, architectures=["SomeForQuestionAnswering"])
    weights = tiny.bert_weights(config, "bert.") | tiny.linear_head("qa_outputs", 2, 32)
    card = export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "out")
    assert card.task == "question-answering"
    # A question and its passage; RoBERTa does not tell segments apart.
    segments = [0, 0, 0, 1, 1, 1, 1]
    two = config["type_vocab_size"] > 1
    more = {"token_type_ids": np.array([segments])} if two else {}
    found = running.encode(tmp_path / "out", ROWS[:1], **more)
    segments = segments if two else [0] * 7
    hidden = oracle.bert(config, weights, ROWS[0], segments, 3)
    logits = hidden @ weights["qa_outputs.weight"].T + weights["qa_outputs.bias"]
    np.testing.assert_allclose(found["start_logits"][0], logits[:, 0], atol=2e-5)
    np.testing.assert_allclose(found["end_logits"][0], logits[:, 1], atol=2e-5)


@pytest.mark.parametrize(
    ("changes", "dense", "out"),
    [
        ({}, "bert.pooler.dense", "classifier"),
        (ROBERTA, "classifier.dense", "classifier.out_proj"),
    ],
)
def test_class_logits(changes: dict[str, Any], dense: str, out: str, tmp_path: Path) -> None:
    labels = {"0": "contradicted", "1": "neutral", "2": "supported"}
    config = tiny.bert_config(
        **changes, architectures=["SomeForSequenceClassification"], id2label=labels
    )
    heads = tiny.linear_head(dense, 32, 32) | tiny.linear_head(out, 3, 32)
    weights = tiny.bert_weights(config, "bert.") | heads
    card = export(tiny.write(tmp_path / "hf", config, weights), tmp_path / "out")
    assert (card.task, card.labels) == ("text-classification", tuple(labels.values()))
    more = {"token_type_ids": np.zeros((2, 7), np.int64)} if config["model_type"] == "bert" else {}
    found = running.encode(tmp_path / "out", ROWS, **more)["logits"]
    for row, values in zip(ROWS, found, strict=True):
        first = oracle.bert(config, weights, row, [0] * len(row), 3)[0]
        pooled = np.tanh(first @ weights[f"{dense}.weight"].T + weights[f"{dense}.bias"])
        expected = pooled @ weights[f"{out}.weight"].T + weights[f"{out}.bias"]
        np.testing.assert_allclose(values, expected, atol=2e-5)


def test_roberta_has_fewer_positions_than_rows(tmp_path: Path) -> None:
    config = tiny.bert_config(**ROBERTA)
    source = tiny.write(tmp_path / "hf", config, tiny.bert_weights(config))
    assert export(source, tmp_path / "out").max_input == 62


@pytest.mark.parametrize(
    ("changes", "options", "said"),
    [
        ({}, {"layer": 4}, "no layer 4.*1 to 3"),
        ({}, {"task": "text-generation"}, "bert family does no text-generation"),
        ({}, {"task": "question-answering", "layer": 2}, "a layer is chosen for token-embeddings"),
        ({}, {"task": "question-answering"}, r"hold no qa_outputs\.weight"),
        ({"hidden_act": "relu"}, {}, "activation 'relu'"),
        ({"position_embedding_type": "relative_key"}, {}, "positions 'relative_key'"),
    ],
)
def test_what_is_not_exported_is_refused(
    changes: dict[str, Any], options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    config = tiny.bert_config(**changes)
    source = tiny.write(tmp_path / "hf", config, tiny.bert_weights(config))
    with pytest.raises(ModelError, match=said):
        export(source, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()

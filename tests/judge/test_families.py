"""Covers: kinship of models by name. Compared against: who makes them."""

from __future__ import annotations

import pytest

from odqa_fast.judge.families import family


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4o-mini", "openai"),
        ("ChatGPT", "openai"),
        ("text-davinci-003", "openai"),
        ("openai/gpt-oss-20b", "openai"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta"),
        ("Qwen2.5-7B-Instruct", "alibaba"),
        ("search-r1-qwen2.5", "alibaba"),
        ("deepseek-r1-distill-qwen-7b", "deepseek"),
        ("Mixtral-8x7B", "mistral"),
        ("flan-t5-xl", "google"),
        ("onnx:models/smollm2-135m", "huggingface"),
        # Words that only begin like a maker's.
        ("Optimus", "optimus"),
        ("philosopher", "philosopher"),
        ("FiD-large", "fid"),
        ("", ""),
    ],
)
def test_family(name: str, expected: str) -> None:
    assert family(name) == expected

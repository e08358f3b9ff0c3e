"""Models of the Hugging Face hub: their plain files, no pickle and no code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from odqa_fast.atomic_output import cache_folder
from odqa_fast.engines.card import is_inside
from odqa_fast.errors import EngineError, ModelError
from odqa_fast.export.checkpoint import NO_TOKENIZER
from odqa_fast.export.weights import read_index

_WELCOME = ("tokenizer_config.json", "generation_config.json", "chat_template.jinja")
_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"


def download(name: str, revision: str, *, quiet: bool = True) -> Path:
    """The folder of a model; it bears the name of the commit.

    It lies in the cache that ODQA_FAST_CACHE names, else in huggingface_hub's own, where other
    programs find it as well.

    Args:
        name: owner/name.
        revision: a branch, tag or commit.
        quiet: no progress bars.

    Raises:
        EngineError: the library huggingface_hub is missing, or there is no network.
        ModelError: the hub has no such model, does not give it, or it lacks a file.
    """
    hub = _library()
    if quiet:
        hub.utils.disable_progress_bars()
    config = _file(hub, name, "config.json", revision)
    if config is None:
        raise ModelError("holds no config.json.", where=name)
    # All files of one commit, should the branch move meanwhile.
    commit = config.parent.name
    if _file(hub, name, "tokenizer.json", commit) is None:
        raise ModelError("holds no tokenizer.json.", where=name, hint=NO_TOKENIZER)
    for file in _WELCOME:
        _file(hub, name, file, commit)
    if _file(hub, name, _WEIGHTS, commit) is None:
        _download_shards(hub, name, commit)
    return config.parent


def _download_shards(hub: Any, name: str, commit: str) -> None:
    index = _file(hub, name, _INDEX, commit)
    if index is None:
        raise ModelError(
            f"holds no {_WEIGHTS}.",
            where=name,
            hint="A .bin file is a pickle, which can run code and is not read: "
            "convert it with transformers' save_pretrained.",
        )
    for shard in read_index(index):
        if not is_inside(shard) or _file(hub, name, shard, commit) is None:
            raise ModelError(f"holds no {shard}, which its index names.", where=name)


def _file(hub: Any, name: str, file: str, revision: str) -> Path | None:
    """One file; None where the model has none of that name."""
    errors = hub.errors
    try:
        place = cache_folder() / "hub" if os.environ.get("ODQA_FAST_CACHE") else None
        return Path(hub.hf_hub_download(name, file, revision=revision, cache_dir=place))
    except errors.LocalEntryNotFoundError:
        raise EngineError(
            "the hub cannot be reached.",
            where=name,
            hint="Download the model elsewhere and name its folder.",
        ) from None
    except errors.EntryNotFoundError:
        return None
    except errors.GatedRepoError:
        raise ModelError(
            "is given only to those who accepted its terms on the hub.",
            where=name,
            hint="Accept them there and run 'hf auth login'.",
        ) from None
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError):
        raise ModelError(f"the hub has no such model at {revision!r}.", where=name) from None
    except (errors.HfHubHTTPError, OSError) as error:
        raise EngineError(f"{file} could not be fetched: {error}.", where=name) from None


def _library() -> Any:
    # Requests would name what else is installed here. Read by the library while it is imported.
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    try:
        import huggingface_hub
        import huggingface_hub.errors
        import huggingface_hub.utils
    except ImportError:
        raise EngineError(
            "fetching a model from the hub needs the library 'huggingface_hub'.",
            hint="pip install huggingface_hub; or name a folder with the model's files.",
        ) from None
    return huggingface_hub

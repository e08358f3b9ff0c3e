"""Tokenizers from their files, and how many tokens a text has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from odqa_fast.errors import EngineError, ModelError


def read_tokenizer(file: str) -> tuple[Any, str]:
    """A tokenizer, which neither pads nor cuts, whatever its file says; and the text of the file.

    Args:
        file: a `tokenizer.json`.

    Raises:
        EngineError: the library `tokenizers` is not installed.
        ModelError: the file is no tokenizer.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise EngineError(
            "models and counting tokens need the library tokenizers.",
            hint="pip install 'odqa-fast[cpu]'",
        ) from None
    try:
        # The text and not the path, so that a missing file is told from a broken one.
        text = Path(file).read_text(encoding="utf-8")
        tokenizer = Tokenizer.from_str(text)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}.", where=file) from None
    except Exception as error:  # whatever the library raises: its errors have no class of their own
        raise ModelError(f"is no tokenizer: {error}.", where=file) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, text


@cache
def make_token_counter(file: str) -> tuple[Callable[[str], int], str]:
    """What counts the tokens of a text, special ones not, and its name in signatures.

    Raises:
        EngineError, ModelError: as `read_tokenizer`.
    """
    tokenizer, text = read_tokenizer(file)

    return partial(_count, tokenizer), f"tokens@{sha256(text.encode()).hexdigest()[:8]}"


def _count(tokenizer: Any, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)

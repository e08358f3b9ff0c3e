from typing import Any

from odqa_fast._kernels.columns import Column

WORDS: tuple[str, ...]
VARIANTS: tuple[str, ...]
TYPES: tuple[str, ...]
PARTS: tuple[str, ...]

def rouge(
    texts: Column,
    answers: Column,
    variant: str,
    stem: bool,
    lo: int,
    hi: int,
    outputs: dict[tuple[str, str], Any],
) -> dict[str, int]: ...
def tokenize(texts: Column, words: str, stem: bool) -> tuple[bytes, bytes, bytes]: ...
def porter_stem(word: str) -> str: ...

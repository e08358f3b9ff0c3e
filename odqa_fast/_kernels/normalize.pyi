from collections.abc import Sequence

from odqa_fast._kernels.columns import Column

STEPS: tuple[str, ...]
UNICODE_VERSION: str

def normalize(
    texts: Column, steps: Sequence[str], cut: str = "none", unicode_only: bool = False
) -> tuple[bytes, bytes]: ...
def tokenize(
    texts: Column, steps: Sequence[str], unicode_only: bool = False
) -> tuple[bytes, bytes, bytes]: ...

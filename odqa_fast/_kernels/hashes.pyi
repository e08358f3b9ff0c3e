from typing import Any

from odqa_fast._kernels.columns import Column

def hashes(texts: Column, key: int, out: Any) -> None: ...

from odqa_fast._kernels.columns import Column

NORMALIZERS: tuple[str, ...]
CUTS: tuple[str, ...]
UNICODE_VERSION: str

def normalize(
    texts: Column, normalizer: str, cut: str = "none", unicode_only: bool = False
) -> tuple[bytes, bytes]: ...
def tokenize(
    texts: Column, normalizer: str, unicode_only: bool = False
) -> tuple[bytes, bytes, bytes]: ...

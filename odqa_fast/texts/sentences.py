"""Sentences of a text, as places in it.

By nupunkt (Punkt with a table of abbreviations; kept, pure Python, no data to fetch), for three
reasons: its spans tile the text in code points, so that nothing is lost or doubled; it goes at
about 10 MB/s where pysbd (not kept since 2021) goes at 0.3 and loses text at times; and a quotation
mark that nobody closes does not swallow the rest of a text, as it does in sentencex. It cuts only
where white space follows, and a blank line is none of its borders: those two are added here.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any

from odqa_fast.errors import EngineError

#: A full stop of Chinese and Japanese with what closes behind it, or a blank line.
_MORE_BORDERS = re.compile(r"[。！？｡]+[」』）】〕〉》”’]*\s*|\n[^\S\n]*\n\s*")


@cache
def _library() -> Any:
    try:
        import nupunkt
    except ImportError:
        raise EngineError(
            "splitting into sentences needs the library 'nupunkt'.",
            hint="pip install 'odqa-fast[protocol]'",
        ) from None
    return nupunkt


def find_sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a text as (start, end) in code points, each with the space behind it.

    They tile the text: each begins where the one before ends, the first at 0, the last ends the
    text.

    Raises:
        EngineError: the library is not installed.
    """
    edges = {0, len(text)}
    edges.update(end for _, end in _library().sent_spans(text))
    edges.update(match.end() for match in _MORE_BORDERS.finditer(text))
    return list(pairwise(sorted(edges)))


def split_sentences(text: str) -> list[str]:
    """The sentences without the space around them; those of nothing else are left out."""
    pieces = (text[start:end].strip() for start, end in find_sentences(text))
    return [piece for piece in pieces if piece]


def name_splitter() -> str:
    """What splits, and its version, for signatures."""
    from importlib.metadata import version

    _library()
    return f"nupunkt-{version('nupunkt')}"

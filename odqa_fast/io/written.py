"""Lists that stand in an input as text: as JSON, or as Python prints them (pandas does, to CSV).

Which texts are meant for lists is decided by how they begin, and narrowly, for a text in brackets
may be an answer: "[citation needed]", "[[Lima]]". What is meant for a list and cannot be read back
for certain, cut off for one, is refused.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

#: A bracket and then a quote, a missing item, or nothing but brackets; an object begins with a
#: quoted name.
_LIST = re.compile(
    r"""\s*(?:\[[\s\[]*(?:['"]|(?:None|null|nan)\s*[,\]]|\{\s*['"]|\][\]\s]*\Z)|\{\s*['"])"""
)

_CUT_OFF = re.compile(r"\s*\[[^\])}]+\Z")

#: Numbers in brackets are a list where nothing else can stand, as among ids. As an answer they are
#: as well an interval, a position or a citation, which no rule can tell from a list: they are text.
_NUMBERS = re.compile(r"\s*\[[\s\[]*-?[0-9][-+.eE0-9,\s\[\]]*\]\s*\Z")

#: What Python and JSON write differently. Escapes are those that `repr` makes.
_ESCAPE = r"""\\(?:['"\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}|U0010[0-9a-f]{4})"""
_PYTHON = re.compile(
    rf"""'(?:[^'\\\x00-\x1f]|{_ESCAPE})*+'"""
    rf"""|"(?:[^"\\\x00-\x1f]|{_ESCAPE})*+\""""
    r"|\b(?:None|True|False|nan)\b"
)
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "NaN"}

#: Numbers are kept as they are written.
_decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=float)

#: First bytes of what may be a list.
_FIRST = np.isin(np.arange(256), list(b"[{ \t\r\n"))

#: So much of a text is shown.
_SHOWN_CHARS = 60


def is_list_of_documents(text: str) -> bool:
    """Tell whether a text is meant for a list, or for an object that stands for one."""
    return _LIST.match(text) is not None


def is_list_of_texts(text: str) -> bool:
    """Tell the same of what is short: a bracket that never closes is a list that was cut off."""
    return is_list_of_documents(text) or _CUT_OFF.match(text) is not None


def is_list_of_ids(text: str) -> bool:
    """Tell the same where numbers in brackets are a list as well."""
    return is_list_of_texts(text) or is_numbers(text)


def is_bracketed(text: str) -> bool:
    """Tell the same where nothing but a list can stand."""
    return text.lstrip().startswith("[")


def is_numbers(text: str) -> bool:
    """Tell whether a text is numbers in brackets, as `[1, 2]`."""
    return _NUMBERS.match(text) is not None


def read_written(text: str) -> tuple[Any, bool]:
    """Return what is written in a text for which one of these holds, and whether it is JSON.

    Raises:
        ValueError: it cannot be read back for certain; says what it is.
    """
    for spelling in (_change_quotes, str, _from_python):
        try:
            spelled = spelling(text)
            return _decoder.decode(spelled), spelled == text
        except (ValueError, RecursionError):
            continue
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    raise ValueError(
        f"is the text {shown!r}, which begins like a list and is none that JSON or Python writes "
        "(an array that numpy prints has no commas, so where its items end is lost); write it as "
        'JSON, and a text in brackets as a list of one, ["[…]"]'
    )


def _change_quotes(text: str) -> str:
    """Python's text as JSON where that is all the difference, as mostly: the quick way."""
    return text if '"' in text or "\\" in text else text.replace("'", '"')


def _from_python(text: str) -> str:
    return _PYTHON.sub(_as_json, text)


def _as_json(match: re.Match[str]) -> str:
    token = match[0]
    return _WORDS.get(token) or json.dumps(ast.literal_eval(token))


def find_written(texts: pa.Array) -> npt.NDArray[np.int64]:
    """Return the rows of a (large) utf8 array whose first byte a list could begin with.

    This alone looks at every text: the rules above are for the few that it leaves.
    """
    wide: type[Any] = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    _, offsets, data = texts.buffers()
    if not len(texts) or data is None or not data.size:
        return np.empty(0, np.int64)
    edges = np.frombuffer(offsets, wide)[texts.offset : texts.offset + len(texts) + 1]
    first = np.frombuffer(data, np.uint8)[np.minimum(edges[:-1], data.size - 1)]
    rows = np.flatnonzero(_FIRST[first] & (edges[1:] != edges[:-1]))
    if texts.null_count:
        rows = rows[texts.is_valid().to_numpy(zero_copy_only=False)[rows]]
    return rows

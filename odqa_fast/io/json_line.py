"""One JSON line as a row, and how pyarrow should read the fields that such rows have."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.io.coerce import BadValueError, JsonFloat, JsonInt, field_of, kind
from odqa_fast.io.names import answer_names, document_names
from odqa_fast.schema import DOCUMENT, TEXTS, column_type

#: What `surrogateescape` makes of bytes that are not UTF-8.
_ESCAPED_BYTES = re.compile("[\udc80-\udcff]")

#: A text as it is written.
_WRITTEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
#: A longer one is not looked into to tell how its field is written.
_LONG_BYTES = 1 << 10


class _Repeated(dict[str, Any]):
    """An object in which keys stand twice; `repeated` names them, the last value is kept."""

    repeated: frozenset[str]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) == len(pairs):
        return row
    keys = [key for key, _ in pairs]
    repeated = _Repeated(row)
    repeated.repeated = frozenset(key for key in row if keys.count(key) > 1)
    return repeated


def _integer(text: str) -> JsonInt:
    # pyarrow reads integers by value, and -0 is the only one with two spellings.
    return JsonInt("0" if text == "-0" else text)


_decoder = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=JsonFloat,
    parse_constant=float,
)


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse one line, keeping numbers as they are written.

    Raises:
        BadValueError: not UTF-8, not JSON, or not an object.
    """
    try:
        row = parse_value(line.decode())
    except UnicodeDecodeError as error:
        raise BadValueError(_where_not_utf8(line, error)) from None
    if not isinstance(row, dict):
        raise BadValueError(f"must be a JSON object, but is {kind(row)}")
    return row


def tell_json(lines: Sequence[bytes]) -> Literal["lines", "whole"] | None:
    """Tell whether the lines of a file's beginning are rows, or a value over lines; None for other.

    By the first line, but a broken first line does not hide that the others are JSON. A file
    without lines is rows, of which there is none.
    """
    if not lines:
        return "lines"
    first, others = lines[0], lines[1:]
    n_objects = sum(map(_is_object, others))
    if first.startswith(b"["):
        return "lines" if n_objects > 1 or (others and _is_json(first)) else "whole"
    if first.startswith(b"{"):
        # Whole objects with commas between them are lines, and wrong ones.
        goes_on = first.endswith((b"{", b"[", b",", b":")) and not _is_object(first[:-1])
        return "whole" if goes_on and not n_objects else "lines"
    return "lines" if n_objects > len(others) // 2 else None


def _is_object(line: bytes) -> bool:
    return line.startswith(b"{") and line.endswith(b"}") and _is_json(line)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def shorten(line: bytes) -> bytes:
    """A line whose long texts are empty, for all that does not depend on what they say."""
    return _WRITTEN.sub(
        lambda text: text[0] if text.end() - text.start() <= _LONG_BYTES else b'""', line
    )


def is_cut_off(line: bytes) -> bool:
    """Whether a line that is no JSON begins an object and does not end it."""
    text = line.decode(errors="replace").rstrip()
    if not text.lstrip().startswith("{"):
        return False
    try:
        _decoder.decode(text)
    except json.JSONDecodeError as error:
        within_text = error.msg.startswith("Unterminated string")
        return within_text or error.pos >= len(text) or not text.endswith("}")
    except RecursionError:
        pass
    return False


def parse_value(text: str) -> Any:
    """Parse any JSON, keeping numbers as they are written.

    Raises:
        BadValueError: not JSON.
    """
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise BadValueError(f"not JSON: {error.msg}, at character {error.pos + 1}") from None
    except RecursionError:
        raise BadValueError("JSON nested too deeply") from None


def _where_not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    reason = f"not UTF-8: byte 0x{line[error.start]:02x} at byte {error.start + 1}"
    try:
        row = parse_value(line.decode(errors="surrogateescape"))
    except BadValueError:
        return reason
    for name, value in row.items() if isinstance(row, dict) else ():
        if _ESCAPED_BYTES.search(json.dumps([name, value], ensure_ascii=False)):
            return f"field {name!r} is {reason}"
    return reason


def read_type(column: str, values: Sequence[Any]) -> pa.DataType:
    """Choose how pyarrow reads a column from values of it (none null, perhaps none at all).

    Where values are mixed, the choice only decides which blocks are read line by line.
    """
    target = column_type(column)
    if target == pa.string():
        return _scalar(values)
    if target == pa.float64():
        return pa.string() if values and all(type(v) is str for v in values) else target
    if column == "answers" and values and all(isinstance(v, dict) for v in values):
        return _answers_type(values) or target
    lists = [v for v in values if isinstance(v, list)]
    items = [item for v in lists for item in v if item is not None]
    if column == "documents":
        objects = [item for item in items if isinstance(item, dict)]
        if objects or not values:
            return pa.list_(pa.struct(_document_fields(objects)))
    elif target != TEXTS:
        return target
    return pa.list_(_scalar(items)) if lists or not values else _scalar(values)


def _answers_type(objects: Sequence[dict[str, Any]]) -> pa.DataType | None:
    """How to read objects that stand for lists of answers; None where they do not."""
    names = answer_names(name for each in objects for name in each)
    seen = {name: [v for each in objects if (v := each.get(name)) is not None] for name in names}
    return pa.struct([(n, read_type("answers", v)) for n, v in seen.items()]) if names else None


def _scalar(values: Sequence[Any]) -> pa.DataType:
    integers = bool(values) and all(isinstance(v, JsonInt) for v in values)
    return pa.int64() if integers else pa.string()


def _document_fields(documents: Sequence[dict[str, Any]]) -> list[pa.Field]:
    fields = [] if documents else [pa.field("text", pa.string())]
    within: dict[str, list[pa.Field]] = {}
    for column in DOCUMENT.names:
        for name in document_names(column):
            seen = [v for d in documents if (v := field_of(d, name)) is not None]
            if not seen:
                continue
            is_number = column == "score" and not all(type(v) is str for v in seen)
            outer, _, inner = name.partition(".")
            place = within.setdefault(outer, []) if inner else fields
            place.append(pa.field(inner or outer, pa.float64() if is_number else _scalar(seen)))
    return fields + [pa.field(outer, pa.struct(inner)) for outer, inner in within.items()]

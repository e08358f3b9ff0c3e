"""Plain Python values, one row at a time, brought to what a canonical column holds.

The slow and forgiving twin of `canonical`: it meets rows that no vectorized path takes, and its
complaints become the user's error messages.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from odqa_fast.io.names import answer_names, document_names
from odqa_fast.io.options import FIELD, WATCHED
from odqa_fast.io.written import (
    is_bracketed,
    is_list_of_documents,
    is_list_of_ids,
    is_list_of_texts,
    is_numbers,
    read_written,
)
from odqa_fast.schema import DOCUMENT, DOCUMENT_NAMES, TEXTS, column_type

#: Why the last record of a file is none: copying or writing it was stopped.
ENDS_INSIDE = "the file ends inside this record"


class BadValueError(ValueError):
    """Why a value cannot stand in its column."""


class JsonInt(str):
    """A JSON integer as it is written."""

    __slots__ = ()


class JsonFloat(str):
    """A JSON number with a fraction or exponent, as it is written."""

    __slots__ = ()


def kind(value: object) -> str:
    """Name the type of a value in the words of JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case JsonInt() | JsonFloat() | int() | float():
            return "a number"
        case str() | bytes():
            return "text"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
    return type(value).__name__


class Values:
    """Turns Python values into canonical ones.

    Args:
        replace: put U+FFFD for bytes that are not UTF-8 instead of refusing them.
        json_lists: the input has no other way to hold a list than as JSON in a text.

    Attributes:
        replaced: bytes were replaced since this was last set to False.
        pointed: likewise, a whole number became text with a point, 1969.0.
        listed: likewise, a text was read as the list that is written in it.
        bracketed: likewise, numbers in brackets stayed a text.
        fields_without_text: names of the fields of documents that had no text.
    """

    def __init__(self, *, replace: bool = False, json_lists: bool = False) -> None:
        self._replace = replace
        self._json_lists = json_lists
        self.forget()
        self.fields_without_text: set[str] = set()
        special = {"id": self.identifier, "score": self.number}
        self._document_fields: list[tuple[str, tuple[str, ...], Callable[[Any], Any]]] = [
            (field, document_names(field), special.get(field, self.text))
            for field in DOCUMENT_NAMES
        ]

    def forget(self) -> None:
        """Set all that was noticed to False."""
        self.replaced = self.pointed = self.listed = self.bracketed = False

    def text(self, value: object) -> str | None:
        """Return text as it is, numbers as they are written, a missing value (NaN too) as None."""
        if isinstance(value, str):
            if not value.isascii():
                _check_surrogates(value)
            elif isinstance(value, JsonFloat):
                self.pointed |= value.endswith(".0")
            return value
        match value:
            case None:
                return None
            case bool():
                return "true" if value else "false"
            case decimal.Decimal() if value.is_nan():
                return None
            case int() | decimal.Decimal() | datetime.date() | datetime.time():
                return str(value)
            case float():
                self.pointed |= value.is_integer()
                return None if math.isnan(value) else repr(value)
            case bytes():
                return self._decode(value)
        raise BadValueError(f"must be text, but is {kind(value)}")

    def field(self, value: object) -> str | None:
        """Return what stands in any field as text; objects and lists as JSON."""
        pointed = self.pointed
        text = to_json(value) if isinstance(value, Mapping | list | tuple) else self.text(value)
        self.pointed = pointed  # of a field that is not scored nothing is to be said
        return text

    def field_if_text(self, value: object) -> str | None:
        """Return what stands in any field as text; None where that is none."""
        try:
            return None if isinstance(value, Mapping | list | tuple) else self.field(value)
        except BadValueError:
            return None

    def identifier(self, value: object) -> str | None:
        """Return an id: like text, but a whole number has no fraction (1.0 is "1")."""
        if isinstance(value, JsonFloat):
            value = float(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return self.text(value)

    def _read_list(self, value: object, is_list: Callable[[str], bool] = is_list_of_texts) -> Any:
        """Return the list or object that a text holds; any other value as it is."""
        if isinstance(value, bytes):
            value = self.text(value)
        if not isinstance(value, str):
            return value
        if is_list(value):
            try:
                value, is_json = read_written(value)
            except ValueError as error:
                raise BadValueError(str(error)) from None
            self.listed |= not (is_json and self._json_lists)
        elif is_numbers(value):
            self.bracketed = True
        return value

    def texts(self, value: object) -> list[str | None] | None:
        """Return a list of texts; a bare text is a list of one, unless a list is written in it."""
        return self._list(self._read_list(value))

    def _list(self, value: object) -> list[str | None] | None:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, list | tuple):
            return [_inside(self.text, item, i) for i, item in enumerate(value)]
        if isinstance(value, Mapping):
            raise BadValueError("must be text or a list of texts, but is an object")
        return [self.text(value)]

    def ids(self, value: object) -> list[str | None] | None:
        """Return a list of texts among which numbers in brackets are no text."""
        return self._list(self._read_list(value, is_list_of_ids))

    def answers(self, value: object) -> list[str | None] | None:
        """Return a list of texts, also of an object that stands for one (`ANSWER_FIELDS`)."""
        value = self._read_list(value)
        if not isinstance(value, Mapping):
            return self._list(value)
        names = answer_names(value)
        if not names:
            raise BadValueError(
                "must be text or a list of texts, but is an object without 'text' (as in SQuAD) "
                "or 'value' and 'aliases' (as in TriviaQA)"
            )
        parts = [_inside(self.texts, value[name], name) for name in names]
        known = [part for part in parts if part is not None]
        return [text for part in known for text in part] if known else None

    def documents(self, value: object) -> list[dict[str, Any] | None] | None:
        """Return documents as dicts; bare texts become documents with only `text`."""
        value = self._read_list(value, is_list_of_documents)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, list | tuple):
            return [_inside(self._document, item, i) for i, item in enumerate(value)]
        return [self._document(value)]

    def _document(self, value: object) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            if isinstance(value, list | tuple):
                raise BadValueError("must be text or an object with a text, but is a list")
            return {"text": self.text(value)}
        document: dict[str, Any] = {}
        for field, names, convert in self._document_fields:
            raw = next((v for name in names if (v := field_of(value, name)) is not None), None)
            if raw is not None:
                document[field] = _inside(convert, raw, field)
        if "text" not in document:
            self.fields_without_text.update(map(str, value))
        return document

    def number(self, value: object) -> float | None:
        """Return a float; NaN and blank text are missing values."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            if isinstance(value, bool | bytes):
                raise TypeError
            number = float(value)  # type: ignore[arg-type]  # the TypeError is caught
        except (TypeError, ValueError):
            shown = f" ({value[:40]!r})" if type(value) is str else ""
            raise BadValueError(f"must be a number, but is {kind(value)}{shown}") from None
        return None if math.isnan(number) else number

    def integers(self, value: object) -> list[int | None] | None:
        """Return a list of whole numbers that fit 32 bits."""
        value = self._read_list(value, is_bracketed)
        if value is None:
            return None
        items = value if isinstance(value, list | tuple) else [value]
        return [_inside(self._integer, item, i) for i, item in enumerate(items)]

    def _integer(self, value: object) -> int | None:
        number = self.number(value)
        if number is None:
            return None
        if not number.is_integer() or not -(2**31) <= number < 2**31:
            raise BadValueError("must be a whole number of at most 32 bits")
        return int(number)

    def text_sets(self, value: object) -> list[list[str | None] | None] | None:
        """Return a list of lists of texts."""
        value = self._read_list(value, is_bracketed)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise BadValueError(f"must be a list of lists of texts, but is {kind(value)}")
        return [_inside(self.texts, item, i) for i, item in enumerate(value)]

    def converter(self, column: str) -> Callable[[object], Any]:
        """Return the method that makes a value of a canonical column."""
        if column in ("id", "text_id"):
            return self.identifier
        if column.startswith(FIELD):
            return self.field
        if column.startswith(WATCHED):
            return self.field_if_text
        if column == "answers":
            return self.answers
        if column == "relevant_ids":
            return self.ids
        by_type: dict[Any, Callable[[object], Any]] = {
            pa.string(): self.text,
            TEXTS: self.texts,
            pa.list_(DOCUMENT): self.documents,
            pa.float64(): self.number,
            pa.list_(pa.int32()): self.integers,
            pa.list_(TEXTS): self.text_sets,
        }
        return by_type[column_type(column)]

    def _decode(self, value: bytes) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            if not self._replace:
                byte = value[error.start]
                raise BadValueError(f"is not UTF-8 (byte 0x{byte:02x})") from None
        self.replaced = True
        return value.decode(errors="replace")


def field_of(document: Mapping[str, Any], name: str) -> Any:
    """Return a field of a document, or a field of a field of it (`node.text`)."""
    if "." in name:
        outer, _, name = name.partition(".")
        document = inner if isinstance(inner := document.get(outer), Mapping) else {}
    return document.get(name)


def to_json(value: object) -> str:
    """Write a value as JSON, numbers as they are written; what JSON does not know, as text.

    Raises:
        BadValueError: a text in it is none.
    """
    match value:
        case JsonInt() | JsonFloat():
            return str(value)
        case str():
            _check_surrogates(value)
            return json.dumps(value, ensure_ascii=False)
        case Mapping():
            pairs = (f"{to_json(str(name))}: {to_json(each)}" for name, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case list() | tuple():
            return f"[{', '.join(map(to_json, value))}]"
        case None | int() | float():
            return json.dumps(value)
        case bytes():
            return to_json(Values().text(value))
    return to_json(str(value))


def _inside(convert: Callable[[Any], Any], value: object, place: object) -> Any:
    try:
        return convert(value)
    except BadValueError as error:
        raise BadValueError(f"[{place}] {error}") from None


def _check_surrogates(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        point = ord(value[error.start])
        raise BadValueError(
            f"holds a lone surrogate (U+{point:04X}), which is no character"
        ) from None


def to_array(values: Sequence[Any], column: str) -> pa.Array:
    """Build the canonical array of converted values; large offsets only where they must be."""
    data_type = column_type(column)
    if column == "documents":
        seen = {name for docs in values if docs for doc in docs if doc for name in doc}
        data_type = pa.list_(pa.struct([f for f in DOCUMENT if f.name in seen | {"text"}]))
    return pa.array(values, data_type)

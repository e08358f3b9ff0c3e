"""Which format a dump has, by its first bytes and never by its name; and what names mean."""

from __future__ import annotations

import json
import os
from typing import Literal, get_args

from odqa_fast.errors import DataError
from odqa_fast.io.trec import is_run_line

#: `qrels` is never told from the bytes: words and a number at the end may be any text.
Format = Literal["jsonl", "json", "csv", "parquet", "arrow", "arrow-stream", "run", "qrels"]
FORMATS: tuple[str, ...] = get_args(Format)

#: What a file may be said to hold by its name.
Form = Literal["Parquet", "JSON lines", "JSON", "CSV", "TSV", "Arrow", "compressed data"]
SUFFIXES: dict[Form, tuple[str, ...]] = {
    "Parquet": (".parquet", ".pq"),
    "JSON lines": (".jsonl", ".ndjson"),
    "JSON": (".json",),
    "CSV": (".csv",),
    "TSV": (".tsv",),
    "Arrow": (".arrow", ".feather", ".ipc"),
    "compressed data": (".gz", ".zst", ".bz2", ".lz4", ".xz", ".zip"),
}
#: Forms of which a file has bytes even if it has no rows.
NEVER_EMPTY: tuple[Form, ...] = ("Parquet", "Arrow", "compressed data")

BOM = b"\xef\xbb\xbf"
SNIFFED_BYTES = 64 << 10


def form_of(name: str) -> Form | None:
    """What a file's name means; None where it has no extension, or one that says nothing here."""
    suffix = os.path.splitext(name)[1].lower()
    return next((form for form, suffixes in SUFFIXES.items() if suffix in suffixes), None)


def sniff(head: bytes, file: str) -> Format:
    """Tell the format from the first bytes (decompressed, `SNIFFED_BYTES` of them or all).

    Raises:
        DataError: UTF-16 or UTF-32 text, or an archive.
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head.startswith(b"\xff\xff\xff\xff"):
        return "arrow-stream"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head[:2]:
        raise DataError(
            "looks like UTF-16 or UTF-32 text.",
            where=file,
            hint="Convert it to UTF-8, e.g. iconv -f UTF-16 -t UTF-8.",
        )
    if head[257:262] == b"ustar":
        raise DataError("is a tar archive.", where=file, hint="Unpack it and name its files.")
    lines = [line.strip() for line in head.removeprefix(BOM).split(b"\n")]
    lines = [line for line in lines if line]
    return _sniff_lines(lines)


def _sniff_lines(lines: list[bytes]) -> Format:
    """Tell by the first line, but let a broken first line not hide that the others are JSON."""
    if not lines:
        return "jsonl"
    first, others = lines[0], lines[1:]
    n_objects = sum(map(_is_object, others))
    if first.startswith(b"["):
        in_rows = n_objects > 1 or (others and _is_json(first))
        return "jsonl" if in_rows else "json"
    if first.startswith(b"{"):
        # Whole objects with commas between them are lines, and wrong ones.
        goes_on = first.endswith((b"{", b"[", b",", b":")) and not _is_object(first[:-1])
        return "json" if goes_on and not n_objects else "jsonl"
    if n_objects > len(others) // 2:
        return "jsonl"
    return "run" if sum(map(is_run_line, lines)) > len(lines) // 2 else "csv"


def _is_object(line: bytes) -> bool:
    return line.startswith(b"{") and line.endswith(b"}") and _is_json(line)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True

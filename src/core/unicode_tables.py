"""Writes unicode_tables.hpp: run with CPython 3.11 (Unicode 14.0) and the `regex` package.

    python src/core/unicode_tables.py

The reference scorers were run on Unicode 14.0, so the tables are those of 14.0 whatever the
interpreter that later runs the package; code points assigned after 14.0 count as unassigned.
Everything is asked from `str`, `unicodedata` and `regex` themselves: these are the definitions
the reference scorers use.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import regex

PAGE_BITS = 7
PAGE = 1 << PAGE_BITS

# Bits of a record's flags, in the order unicode.hpp names them.
SPACE, RE_WORD, REGEX_WORD, TOKEN_WORD, TOKEN_GAP, CASED, CASE_IGNORABLE, UNMISTAKABLE = (
    1 << i for i in range(8)
)


def written_as(chars: Sequence[str]) -> dict[str, set[str]]:
    """Each character that stands in a decomposed, lowered text -> what it may come from."""
    sources: dict[str, set[str]] = {}
    for char in chars:
        for part in unicodedata.normalize("NFD", char):
            for lowered in {*part.lower(), "\u03c2" if part == "\u03a3" else part.lower()[0]}:
                sources.setdefault(lowered, set()).add(char)
    return sources


def flags_of(char: str, sources: dict[str, set[str]]) -> int:
    category = unicodedata.category(char)
    assigned = category != "Cn"
    # The context rule of U+03A3 is the only place where str.lower() looks at its neighbours, so its
    # own behaviour tells both classes apart: a cased character before the sigma makes it final, an
    # ignorable one is looked through.
    cased = (char + "\u03a3").lower().endswith("\u03c2")
    ignorable = not cased and ("A" + char + "\u03a3").lower().endswith("\u03c2")
    return (
        SPACE * char.isspace()
        | RE_WORD * char.isalnum()
        | REGEX_WORD * (assigned and regex.match(r"\w", char) is not None)
        | TOKEN_WORD * (category[0] in "LNM")
        | TOKEN_GAP * (category[0] in "ZC")
        | CASED * cased
        | CASE_IGNORABLE * ignorable
        | UNMISTAKABLE * (sources.get(char) == {char} and not unicodedata.combining(char))
    )


def lower_delta(char: str) -> int:
    lower = char.lower()
    # U+0130 grows to two code points and U+03A3 depends on its context: unicode.hpp handles both.
    return 0 if len(lower) != 1 or char == "\u03a3" else ord(lower) - ord(char)


def two_level(values: Sequence[int]) -> tuple[list[int], list[int]]:
    pages: dict[tuple[int, ...], int] = {}
    index = [
        pages.setdefault(tuple(values[at : at + PAGE]), len(pages))
        for at in range(0, len(values), PAGE)
    ]
    return index, [value for page in pages for value in page]


def array(ctype: str, name: str, values: Sequence[int]) -> str:
    lines, line = [], " "
    for value in values:
        item = f" {value},"
        if len(line) + len(item) > 100:
            lines.append(line)
            line = " "
        line += item
    lines.append(line)
    return f"inline constexpr {ctype} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def main() -> None:
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"needs Unicode 14.0 (CPython 3.11), this is {unicodedata.unidata_version}")
    chars = [chr(i) for i in range(sys.maxunicode + 1)]

    sources = written_as(chars)
    records: dict[tuple[int, int, int, int], int] = {}
    record_of = [
        records.setdefault(
            (
                lower_delta(c),
                flags_of(c, sources),
                unicodedata.combining(c),
                int(unicodedata.category(c)[0] == "P"),
            ),
            len(records),
        )
        for c in chars
    ]
    record_index, record_pages = two_level(record_of)

    # Hangul syllables decompose by arithmetic; offset 0 means "does not decompose".
    pool, nfd_offset = [0], [0] * len(chars)
    for i, char in enumerate(chars):
        full = unicodedata.normalize("NFD", char)
        if full != char and not 0xAC00 <= i <= 0xD7A3:
            nfd_offset[i] = len(pool)
            pool += [len(full), *map(ord, full)]
    nfd_index, nfd_pages = two_level(nfd_offset)

    titles = [
        (i, *map(ord, char.capitalize()), 0, 0)[:4]
        for i, char in enumerate(chars)
        if char.capitalize() != char
    ]

    deltas, flags, classes, punctuation = zip(*records, strict=True)
    text = [
        "// Written by unicode_tables.py; do not edit.",
        "#pragma once",
        "#include <cstdint>",
        "namespace odqa::tables {",
        'inline constexpr char unicode_version[] = "14.0";',
        f"inline constexpr int page_bits = {PAGE_BITS};",
        array("int32_t", "lower_delta", deltas),
        array("uint8_t", "flags", flags),
        array("uint8_t", "combining_class", classes),
        array("uint8_t", "punctuation", punctuation),
        array("uint8_t" if max(record_index) < 256 else "uint16_t", "record_index", record_index),
        array("uint8_t" if len(records) < 256 else "uint16_t", "record_pages", record_pages),
        array("uint8_t", "nfd_index", nfd_index),
        array("uint16_t", "nfd_pages", nfd_pages),
        array("uint32_t", "nfd_pool", pool),
        "// Code point, then its title case of one to three code points, zero-padded.",
        f"inline constexpr int title_count = {len(titles)};",
        array("uint32_t", "titles", [value for row in titles for value in row]),
        "}  // namespace odqa::tables",
    ]
    Path(__file__).with_suffix(".hpp").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()

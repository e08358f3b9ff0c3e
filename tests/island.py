"""Rows about an island that is not there, for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from odqa_fast.io import open_dump
from odqa_fast.runs.reading import Reading
from odqa_fast.texts.text import READ, Text, make_texts, read_texts

Row = dict[str, Any]

PLACES = ["Marel", "Ostra", "Quill", "Tarn", "Velda", "Wick", "Yarrow", "Zell"]
THINGS = ["lighthouse", "mill", "harbour", "chapel", "market", "bridge", "school", "well"]
PEOPLE = ["Ada Brink", "Otto Fenn", "Ines Carr", "Jon Delve", "Maud Ellis", "Paul Gorse"]


def rows(n: int, documents: int = 3) -> list[Row]:
    """Rows whose documents 0 and 1 hold the answer, in other words each."""
    made = []
    for at in range(n):
        place, thing = PLACES[at % 8], THINGS[at // 8 % 8]
        person = PEOPLE[at % 6]
        year = 1700 + at
        texts = [
            f"Visitors know the {thing} of {place}. It was built by {person} in {year}. "
            f"Stone number {at} came by boat.",
            f"The {thing} at {place} cost too much, people said. In {year} {person.upper()} "
            f"finished it all the same. Bill {at} was never paid.",
            *(
                f"Note {at}.{more} is about the weather. It rained {at + more} days that year. "
                f"Nobody minded, said paper {at}.{more}."
                for more in range(documents - 2)
            ),
        ]
        made.append(
            {
                "id": f"r{at}",
                "question": f"Who built the {thing} of {place}?",
                "answers": [person, person.split()[1]],
                "documents": [
                    {"text": text, "title": f"t{at}-{rank}", "id": f"d{at}-{rank}", "score": 9.0}
                    for rank, text in enumerate(texts)
                ],
                "prediction": person,
            }
        )
    return made


def texts(n: int, documents: int = 3) -> list[Text]:
    return make_texts(rows(n, documents))


def texts_at(path: Path) -> list[Text]:
    """The texts of a dump on disk."""
    return read_texts(open_dump(path, Reading().reading(READ)))

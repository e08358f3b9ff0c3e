"""Noise in files: the pool, the noisy rows, their manifest; and what was done in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from odqa_fast import __version__
from odqa_fast.errors import DataError
from odqa_fast.io.reading import Read
from odqa_fast.io.row_files import write_rows
from odqa_fast.io.write import SUMMARY_VERSION
from odqa_fast.protocol.noise.add import NoiseOptions
from odqa_fast.protocol.noise.manifest import MANIFEST, Noised, manifest_rows
from odqa_fast.protocol.texts import rows_of
from odqa_fast.schema import SAMPLES, TEXTS


def read_pool(path: Path) -> list[str]:
    """The lines of a text file.

    Raises:
        DataError: it cannot be read, is not UTF-8 or is blank.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8, at byte {error.start}.", where=str(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", where=str(path)) from None
    if not any(map(str.strip, lines)):
        raise DataError("is blank.", where=str(path), hint="A pool has a piece on each line.")
    return lines


def manifest_path(out: Path) -> Path:
    """Where the manifest of some noisy rows is written: `noisy.manifest.jsonl`."""
    return out.with_name(f"{out.stem}.manifest{out.suffix}")


def write_noise(out: Path, noised: Sequence[Noised]) -> None:
    """Writes the noisy rows and, beside them, the manifest; both or neither.

    Raises:
        OutputError: they could not be written.
    """
    rows = [row for each in noised for row in rows_of(each.text)]
    manifest = (row for each in noised for row in manifest_rows(each))
    write_rows([(manifest_path(out), manifest, MANIFEST), (out, rows, _schema(rows))])


def _schema(rows: Sequence[dict[str, Any]]) -> pa.Schema:
    """The fields of noisy rows: those of `SAMPLES` that they have; beside `questions`, `answers`
    has an entry for each."""
    names = {name for row in rows for name in row}
    fields = [field for field in SAMPLES if field.name in names]
    if "questions" in names:
        fields = [
            pa.field("answers", pa.list_(TEXTS)) if field.name == "answers" else field
            for field in fields
        ]
    return pa.schema(fields)


def noise_summary(
    noised: Sequence[Noised], options: NoiseOptions, inputs: Sequence[str], read: Read
) -> dict[str, Any]:
    """What was done, in numbers; for `odqa_fast.report`."""
    own = sum(len(text) for each in noised for text in each.clean.texts)
    pieces = [piece for each in noised for piece in each.pieces]
    unplaced = sum(each.unplaced for each in noised)
    notes = []
    if unplaced:
        notes.append(f"{unplaced} pieces found no place: none of those tried passed the guards.")
    several = sum(len(each.text.questions) > 1 for each in noised)
    if options.kind == "factual" and several:
        notes.append(f"{several} texts have several questions and get no factual errors.")
    return {
        "format": SUMMARY_VERSION,
        "odqa_fast": __version__,
        "inputs": list(inputs),
        "noise": ",".join([options.tag, *(f"{name}={tag}" for name, tag in read.tags.items())]),
        "metrics": {},
        "counts": {
            "rows": sum(len(each.text.rows) for each in noised),
            "texts": len(noised),
            "texts_with_noise": sum(bool(each.pieces) for each in noised),
            "pieces": len(pieces),
            "injected_chars": sum(piece.end - piece.start for piece in pieces),
            "own_chars": own,
            "unplaced": unplaced,
            **read.oddities,
        },
        "notes": [*notes, *read.notes],
    }

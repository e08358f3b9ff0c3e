"""Noise in files: the pool, the noisy rows, their manifest; and what was done in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from odqa_fast.errors import DataError
from odqa_fast.io import Dump
from odqa_fast.io.row_output import write_rows
from odqa_fast.noise.dump_questions import Made
from odqa_fast.noise.job import NoiseJob
from odqa_fast.noise.manifest import MANIFEST, Noised, make_manifest_rows
from odqa_fast.runs.input import Read
from odqa_fast.runs.provenance import list_inputs
from odqa_fast.runs.summary import RunSummary
from odqa_fast.schema import SAMPLES, TEXTS
from odqa_fast.texts.text import Text, rebuild_rows


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


@dataclass
class NoiseCounts:
    """What was done to the texts of a dump, in numbers."""

    rows: int = 0
    texts: int = 0
    texts_with_noise: int = 0
    texts_with_several_questions: int = 0
    pieces: int = 0
    injected_chars: int = 0
    own_chars: int = 0
    unplaced: int = 0

    def add(self, noised: Noised) -> None:
        """Counts a text."""
        self.rows += len(noised.text.rows)
        self.texts += 1
        self.texts_with_noise += bool(noised.pieces)
        self.texts_with_several_questions += len(noised.text.questions) > 1
        self.pieces += len(noised.pieces)
        self.injected_chars += sum(piece.end - piece.start for piece in noised.pieces)
        self.own_chars += noised.clean.n_chars
        self.unplaced += noised.unplaced


def write_noise(out: Path, texts: Iterable[Text], noised: Iterable[Noised]) -> NoiseCounts:
    """Writes the noisy rows and, beside them, the manifest; both or neither.

    Args:
        out: the file of the rows; see `manifest_path`.
        texts: without noise; their rows say which fields there are.
        noised: the same texts with theirs.

    Raises:
        OutputError: they could not be written.
    """
    counts = NoiseCounts()
    files = (manifest_path(out), MANIFEST), (out, _schema(texts))
    with write_rows(*files) as (manifest, rows):
        for each in noised:
            counts.add(each)
            rows.add(rebuild_rows(each.text))
            manifest.add(make_manifest_rows(each))
    return counts


def _schema(texts: Iterable[Text]) -> pa.Schema:
    """The fields of rows: those of `SAMPLES` that they have; beside `questions`, `answers` has an
    entry for each."""
    names = {name for text in texts for row in rebuild_rows(text) for name in row}
    fields = [field for field in SAMPLES if field.name in names]
    if "questions" in names:
        fields = [
            pa.field("answers", pa.list_(TEXTS)) if field.name == "answers" else field
            for field in fields
        ]
    return pa.schema(fields)


def summarize_noise(counts: NoiseCounts, job: NoiseJob, dump: Dump, made: Made) -> RunSummary:
    """What was done, in numbers.

    Args:
        counts: of the texts.
        job: what was asked for.
        dump: as it was read.
        made: the questions that the texts went on with.
    """
    read, numbers = Read.of(dump), asdict(counts)
    several = numbers.pop("texts_with_several_questions")
    notes = []
    if counts.unplaced:
        notes.append(
            f"{counts.unplaced} pieces found no place: none of those tried passed the guards."
        )
    if job.kind == "factual" and several:
        notes.append(f"{several} texts have several questions and get no factual errors.")
    tags = [job.tag, *(f"{name}={tag}" for name, tag in read.tags.items())]
    return RunSummary(
        metrics={},
        counts={**numbers, **read.oddities},
        notes=[*notes, *read.notes, *made.notes],
        inputs=list_inputs([dump], job.pool),
        extras={"noise": ",".join(tags), **({"questions": made.facts} if made.facts else {})},
        job=job.record(),
    )

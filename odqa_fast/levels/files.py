"""Dumps on disk through the protocol: noise added, levels run."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.failures import Failures
from odqa_fast.engines.open import honoured_by, open_engine
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.prompt import load_prompt
from odqa_fast.engines.replies import KEPT_NOTE, ReplyStore, default_path
from odqa_fast.errors import DataError, EngineError, OdqaWarning
from odqa_fast.io import open_dump
from odqa_fast.io.kept import Kept, KeptTable, find_room
from odqa_fast.io.output_paths import output_file, output_folder
from odqa_fast.io.row_output import FORMS, read_rows
from odqa_fast.levels.run import ROWS, LevelsOptions, Progress, run_levels
from odqa_fast.levels.summary import levels_summary
from odqa_fast.noise.add import NoiseOptions, noised_texts
from odqa_fast.noise.manifest import Noised, with_manifest
from odqa_fast.noise.questions import with_questions
from odqa_fast.noise.written import (
    manifest_path,
    noise_summary,
    read_pool,
    write_noise,
)
from odqa_fast.option import Paths
from odqa_fast.profiles import get_profile
from odqa_fast.runs.input import DumpOptions, Read
from odqa_fast.runs.output import RunWriter
from odqa_fast.runs.rejected import RejectedFile
from odqa_fast.steps.compressors import CompressorOptions, open_compressor
from odqa_fast.steps.readers import ReaderOptions, open_reader
from odqa_fast.texts.text import READ, Text, read_texts, windows

#: So many texts are asked about together.
_AT_ONCE = 4096

_GIVEN = "the answers are the dump's own predictions, whatever the compressed text says."


@dataclass(frozen=True)
class Generate:
    """Questions to be made from the texts before noise is added; see `questions.with_questions`.

    Attributes:
        n: how many a text.
        model: who writes them; see `odqa_fast.engines.open.open_engine`.
        prompt: the name or path of the prompt.
        engine: how the model runs or is asked.
    """

    n: int
    model: str
    prompt: str = "questions"
    engine: EngineOptions = field(default_factory=EngineOptions)


def noise_file(
    paths: Paths,
    out: str | os.PathLike[str],
    options: NoiseOptions,
    *,
    pool: str | os.PathLike[str] | None = None,
    generate: Generate | None = None,
    reading: DumpOptions | None = None,
    threads: int | None = None,
    cache: Path | None = None,
) -> dict[str, Any]:
    """Adds noise to a dump and writes it with its manifest.

    Args:
        paths: the dump; see `odqa_fast.score_file`.
        out: the noisy rows, Parquet where the name ends in `.parquet`, else JSON lines; the
            manifest is written beside them (`noise.written.manifest_path`), and so are refused rows
            (`runs.rejected.rejected_path`).
        options: what to add.
        pool: a text file to take pieces from, one a line; the other rows where None.
        generate: questions to make from the texts, in the place of their own.
        reading: how to read.
        threads: how many; changes nothing.
        cache: the file of a model's kept replies; by default one in the user's cache folder.

    Returns:
        What was done, in numbers.

    Raises:
        OdqaError: as reading, `output_file` and writing say.
    """
    target = output_file(out, FORMS, paths, pool)
    output_file(manifest_path(target), FORMS, paths, pool)
    pieces = None if pool is None else read_pool(Path(pool))
    made: dict[str, Any] = {}
    folder = find_room(target)
    with RejectedFile(target) as rejected:
        dump = open_dump(paths, (reading or DumpOptions()).reading(READ), reject=rejected.add)
        texts: Sequence[Text]
        if generate is None:
            texts = read_texts(dump, folder=folder)
        else:
            base = read_texts(dump, ["documents"], folder)
            texts, made = _generated(base, generate, cache, folder)
        noised = noised_texts(texts, options, pool=pieces, threads=threads, folder=folder)
        counts = write_noise(target, texts, noised)
        rejected.commit()
    summary = noise_summary(counts, options, _named(paths), Read.of(dump))
    summary["notes"] += made.pop("notes", [])
    if made:
        summary["questions"] = made
    return _warned(summary)


def _generated(
    texts: Sequence[Text], generate: Generate, cache: Path | None, folder: Path | None
) -> tuple[Sequence[Text], dict[str, Any]]:
    """The texts with new questions, and how those came about, with notes on it."""
    failures = Failures()
    asking: Kept[Text] = Kept(folder=folder)
    dropped: Counter[str] = Counter()
    with (
        closing(open_engine(generate.model, generate.engine)) as engine,
        closing(ReplyStore(cache or default_path())) as store,
    ):
        asked = CachedEngine(engine, store)
        for window in windows(texts, attrgetter("n_chars"), _AT_ONCE):
            some, left_out = with_questions(
                window, asked, generate.n, prompt=generate.prompt, failures=failures
            )
            dropped += left_out
            for text in some:
                asking.append(text)
    failed = failures.note("{n} texts got no reply")
    if not asking:
        kind = EngineError if failures.n == len(texts) else DataError
        raise kind(" ".join([f"no text got a question: {dict(sorted(dropped.items()))}.", *failed]))
    kept = sum(len(text.questions) for text in asking)
    reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(dropped.items()))
    from_before = len(store.from_before)
    return asking, {
        "model": asked.signature,
        "prompt": load_prompt(generate.prompt, "questions").signature,
        "kept": kept,
        "dropped": dict(sorted(dropped.items())),
        **({"kept_from_before": from_before} if from_before else {}),
        "notes": [
            f"{kept} questions were made; left out: {reasons or 'nothing'}.",
            *failed,
            *([KEPT_NOTE.format(n=from_before)] if from_before else []),
        ],
    }


@dataclass(frozen=True)
class Parts:
    """What compresses and what answers.

    Attributes:
        compressor, reader: as for `open_compressor` and `open_reader`.
        compressor_prompt, prompt: of models, the names or paths of their prompts.
        seed: of what draws.
        engine: of models, how they run or are asked; each gets the options that it honours.
    """

    compressor: str = "bm25"
    reader: str = "given"
    compressor_prompt: str | None = None
    prompt: str | None = None
    seed: int = 0
    engine: EngineOptions = field(default_factory=EngineOptions)

    def divided(self) -> list[EngineOptions]:
        """The options of the compressor and of the reader.

        Raises:
            OdqaError: an option is given that neither honours.
        """
        names = (self.compressor, self.reader)
        # A name without a colon is no model here, though it would be a folder elsewhere.
        return self.engine.divided(
            (name, honoured_by(name) if ":" in name else frozenset()) for name in names
        )


def levels_file(
    paths: Paths,
    options: LevelsOptions,
    parts: Parts | None = None,
    *,
    noise: NoiseOptions | str | os.PathLike[str] | None = None,
    clean: bool = True,
    reading: DumpOptions | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    cache: Path | None = None,
) -> dict[str, Any]:
    """Runs a dump over levels of compression.

    Args:
        paths: the dump; see `odqa_fast.score_file`.
        options: levels, check and scoring.
        parts: what compresses and what answers.
        noise: noise to add first, or the manifest of what is in the dump.
        clean: with noise, run on the texts without it as well.
        reading: how to read.
        out: a folder for `scores.parquet` (see `ROWS`; under `timing` each, seconds are a row's
            own and named without `amortized`), `summary.json` and `rejected.jsonl`.
        progress: is told how far it is.
        cache: the file of models' kept replies; by default one in the user's cache folder.

    Returns:
        What `summary.json` holds.

    Raises:
        OdqaError: as reading, opening, `output_folder` and writing say.
    """
    parts = parts or Parts()
    of_compressor, of_reader = parts.divided()
    manifest = None if isinstance(noise, NoiseOptions) else noise
    given = parts.reader.removeprefix("given:") if parts.reader.startswith("given:") else None
    target = output_folder(out, paths, manifest, given)
    folder = find_room(target)
    rows = _rows(parts.engine.timing)
    with RunWriter(target, rows) as writer, closing(_Replies(cache)) as replies:
        dump = open_dump(paths, (reading or DumpOptions()).reading(READ), reject=writer.reject)
        texts = read_texts(dump, folder=folder)
        noised = _noised(texts, noise, folder)
        compressor = open_compressor(
            parts.compressor,
            CompressorOptions(
                parts.seed,
                get_profile(options.profile),
                parts.compressor_prompt,
                of_compressor,
                replies.opened,
            ),
        )
        predictions = _predictions(texts, paths, folder) if parts.reader == "given" else {}
        reader = open_reader(
            parts.reader, ReaderOptions(predictions, parts.prompt, of_reader, replies.opened)
        )
        result = run_levels(
            texts,
            compressor,
            reader,
            options,
            noised=noised,
            clean=clean,
            write=lambda batch: writer.write(pa.record_batch(batch.columns, schema=rows)),
            progress=progress,
        )
        summary = levels_summary(
            result,
            texts,
            _named(paths),
            [_GIVEN] if parts.reader == "given" else [],
            read=Read.of(dump),
            kept=replies.n_from_before,
        )
        if isinstance(noise, NoiseOptions):
            summary["noise"] = noise.tag
        writer.commit(summary)
    return _warned(summary)


def _rows(timing: Literal["batch", "each"]) -> pa.Schema:
    """The columns of a run, with seconds named by what they are; see `steps.stage`."""
    if timing == "batch":
        return ROWS
    return pa.schema([each.with_name(each.name.replace("_amortized", "")) for each in ROWS])


class _Replies:
    """The kept replies of a run's models; without a model the file is not opened."""

    def __init__(self, path: Path | None) -> None:
        self._path = path or default_path()
        self._store: ReplyStore | None = None

    def opened(self) -> ReplyStore:
        """The file, opened once."""
        if self._store is None:
            self._store = ReplyStore(self._path)
        return self._store

    @property
    def n_from_before(self) -> int:
        """How many replies were taken that an earlier run made."""
        return 0 if self._store is None else len(self._store.from_before)

    def close(self) -> None:
        """Closes the file."""
        if self._store is not None:
            self._store.close()


def _predictions(
    texts: Iterable[Text], paths: Paths, folder: Path | None
) -> Mapping[str, str | None]:
    """The dump's own answers by id."""
    questions = (question for text in texts for question in text.questions)
    predictions = KeptTable(((each.id, each.prediction) for each in questions), folder)
    for name, one, other in predictions.repeats():
        if one != other:
            raise DataError(
                f"id {name!r} stands twice with different predictions.",
                where=", ".join(_named(paths)),
                hint="Make ids unique, so that the reader 'given' knows which to give.",
            )
    return predictions


def _noised(
    texts: Sequence[Text],
    noise: NoiseOptions | str | os.PathLike[str] | None,
    folder: Path | None,
) -> Sequence[Noised] | None:
    """Noise added, or what a manifest says of it."""
    if noise is None:
        return None
    if isinstance(noise, NoiseOptions):
        return Kept(noised_texts(texts, noise, folder=folder), folder)
    return with_manifest(texts, read_rows(Path(noise)), str(noise), folder)


def _named(paths: Paths) -> list[str]:
    each = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [os.fsencode(path).decode(errors="replace") for path in each]


def _warned(summary: dict[str, Any]) -> dict[str, Any]:
    for note in summary["notes"]:
        warnings.warn(note, OdqaWarning, stacklevel=3)
    return summary

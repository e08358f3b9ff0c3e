"""`LevelsJob`: a dump over levels of compression; and `levels_file`."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from odqa_fast.engines.options import EngineOptions
from odqa_fast.errors import OdqaError
from odqa_fast.levels.options import LevelsOptions
from odqa_fast.noise.options import Kind, NoiseOptions
from odqa_fast.option import Option, as_share
from odqa_fast.runs.cache import Cache
from odqa_fast.runs.job import Job, function_of
from odqa_fast.runs.reading import DumpPaths, Reading
from odqa_fast.runs.strict import Strict
from odqa_fast.runs.summary import RunSummary

#: The share of noise where neither a share nor a count is given.
DEFAULT_SHARE = 0.2


@dataclass(frozen=True)
class LevelsJob(LevelsOptions, Reading, EngineOptions, Cache, Strict, Job[RunSummary]):
    """Score compression at several levels: texts that are too long score 0.

    In Python the result is the summary of the run, with the curves as `extras["levels"]`; the rows
    are in `out`. `run` takes `progress` (see `runs.progress`).

    Raises:
        OdqaError: options exclude each other, there is no such compressor or reader, or `out`
            would replace an input.
        MetricError, ProfileError: there is no such metric or profile.
        SchemaError: there are no documents, or no answers.
        DataError: the dump, the manifest or given answers cannot be read.
        ModelError, EngineError: a model cannot be opened, or cannot go on.
        OutputError: `out` cannot be written.
    """

    command = "levels"
    runner = "odqa_fast.levels.dump:run_levels_on_dump"

    paths: DumpPaths
    _: KW_ONLY
    compressor: Annotated[
        str,
        Option(
            "none, top1, lead, random, bm25, oracle, or one that was added; a model: onnx:FOLDER, "
            "http:URL#MODEL.",
        ),
    ] = "bm25"
    reader: Annotated[
        str,
        Option(
            "A model: onnx:FOLDER, http:URL#MODEL; or answers given by somebody: those of the "
            "dump (given), or of a file by id and level (given:FILE); or a reader that was added."
        ),
    ] = "given"
    compressor_prompt: Annotated[
        str | None, Option("Of a model as compressor: a prompt's name, or a TOML file.")
    ] = None
    prompt: Annotated[str | None, Option("Of a model as reader, likewise.")] = None
    manifest: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "What 'odqa-fast noise' put into the rows; adds noise measures and the clean texts."
        ),
    ] = None
    noise: Annotated[
        Kind | None,
        Option("Add noise first, taken from the other rows; see 'odqa-fast noise'."),
    ] = None
    noise_share: Annotated[
        float | None,
        Option(
            "With --noise: its share of the text's characters, 20% by default; not factual.",
            above=0,
            read=as_share,
            metavar="SHARE",
        ),
    ] = None
    noise_count: Annotated[
        int | None,
        Option("With --noise: pieces a text, instead of a share; not factual.", low=1),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "Of --noise, of --compressor random, and of models' draws at a --temperature.", low=0
        ),
    ] = None
    out: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "Folder for scores.parquet (a row a question and level), summary.json, rejected.jsonl."
        ),
    ] = None

    def check(self) -> None:
        """See `Options.check`."""
        super().check()
        if self.manifest is not None and self.noise is not None:
            raise OdqaError("--manifest and --noise exclude each other.")
        for name in ("noise_share", "noise_count"):
            if getattr(self, name) is not None and self.noise is None:
                flag = f"--{name.replace('_', '-')}"
                raise OdqaError(f"{flag} goes with --noise KIND, which is not given.")
        if self.clean is not None and self.noise is None and self.manifest is None:
            raise OdqaError(
                f"{'--clean' if self.clean else '--no-clean'} goes with --noise or --manifest: "
                "else there is no noise to be without."
            )
        # Made to be checked.
        _ = self.added_noise

    @property
    def added_noise(self) -> NoiseOptions | None:
        """The noise to add first, if any."""
        if self.noise is None:
            return None
        share = self.noise_share
        if share is None and self.noise_count is None and self.noise != "factual":
            share = DEFAULT_SHARE
        return NoiseOptions(
            kind=self.noise,
            count=self.noise_count,
            share=share,
            seed=self.seed,
            profile=self.profile,
        )

    @property
    def given_answers(self) -> str | None:
        """The file that answers are read from, if any."""
        kind, _, file = self.reader.partition(":")
        return file if kind == "given" and file else None

    def summarize(self, result: RunSummary) -> RunSummary:
        """See `Job.summarize`."""
        return result

    def check_result(self, result: RunSummary) -> None:
        """See `Job.check_result`."""
        tried = {"compressions": "compressions", "answers": "asked"}
        parts = [
            (result.counts.get(f"failed_{what}", 0), result.counts.get(name, 0), what)
            for what, name in tried.items()
        ]
        # Where nothing came of one part, that is what is said.
        for n, of, what in sorted(parts, key=lambda part: part[0] != part[1]):
            self.accept(n, of, what, every=n == of)


levels_file = function_of(LevelsJob, "levels_file")

"""What `score_file` reads: a dump, and one that may be joined to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pyarrow as pa

from odqa_fast.errors import OdqaError
from odqa_fast.io import AnswerTable, Dump, ReadOptions, open_dump
from odqa_fast.io.join import Duplicates, Join, Missing
from odqa_fast.option import Paths
from odqa_fast.runs.input import shown
from odqa_fast.runs.progress import Progress
from odqa_fast.scoring.notes import notes_on
from odqa_fast.scoring.plan import Plan

#: What qrels say of a query.
_JUDGED = frozenset({"id", "relevant_ids", "relevance"})

#: The profile of the one script that leaves out questions nothing was predicted for.
_LEAVES_OUT = "squad2"


@dataclass(frozen=True)
class Joined:
    """A second dump and how it is joined; see `score_file` for the fields.

    Raises:
        OdqaError: two of them, or ways to join where there is none.
    """

    answers: Paths | None = None
    qrels: Paths | None = None
    duplicates: Duplicates = "error"
    missing: Missing | None = None
    by: Join = "auto"

    def __post_init__(self) -> None:
        if self.answers is not None and self.qrels is not None:
            raise OdqaError(
                "answers and qrels cannot both be joined.", hint="Put one into the dump."
            )
        if self.answers is not None or self.qrels is not None:
            return
        for is_asked, what, option in (
            (self.missing is not None, "nothing is missing", "--missing"),
            (self.duplicates != "error", "no id stands for another row", "--duplicates"),
            (self.by != "auto", "there is nothing to join by", "--join"),
        ):
            if is_asked:
                raise OdqaError(
                    f"{what} where nothing is joined.",
                    hint=f"{option} goes with --answers or --qrels.",
                )


class Opener(Protocol):
    """`io.open_dump`, told where refused rows and work go."""

    def __call__(self, paths: Paths, options: ReadOptions, *, fmt: str | None = None) -> Dump:
        """Find the files of a dump."""


class Inputs:
    """A dump and what is joined to it; iterate it once, for the batches to score.

    Args:
        paths: of the dump.
        joined: the second one, if there is one.
        options: how both are read.
        opened: opens them.

    Attributes:
        dump: the dump itself.
        sources: what is read: it, and the second one.
        is_joined: whether there is a second one.
    """

    def __init__(self, paths: Paths, joined: Joined, options: ReadOptions, opened: Opener) -> None:
        self._options = options
        self._duplicates = joined.duplicates
        self._table: AnswerTable | None = None
        if joined.answers is not None:
            options = replace(options, columns=options.columns | {"question"}, joined=True)
        self.dump = opened(paths, replace(options, one_run=True))
        self.sources = [self.dump]
        sides = "predictions", "answers"
        if joined.answers is not None:
            answers = replace(
                options,
                where_may_lack=True,
                elsewhere=frozenset({"prediction"}),
                fields=frozenset(),
                first_source=len(self.dump.paths),
            )
            self.sources.append(opened(joined.answers, answers))
        elif joined.qrels is not None:
            sides = "rankings", "judgements"
            judged = replace(
                options,
                columns=_JUDGED,
                fields=frozenset(),
                where={},
                first_source=len(self.dump.paths),
            )
            self.sources.append(opened(joined.qrels, judged, fmt="qrels"))
        self.is_joined = len(self.sources) > 1
        if self.is_joined:
            self._table = AnswerTable.load(
                self.sources[1],
                duplicates=joined.duplicates,
                missing=joined.missing or "zero",
                by=joined.by,
                sides=sides,
            )

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield canonical batches; errors are those of the dumps and the join."""
        if self._table is None:
            return iter(self.dump)
        return self._table.join(self.dump, in_parts=any(dump.in_parts for dump in self.sources))

    @property
    def paths(self) -> list[str]:
        """The files that are read."""
        return [path for dump in self.sources for path in dump.paths]

    @property
    def progress(self) -> Progress:
        """How far the dump has been read."""
        counts = self.dump.counts
        return Progress(counts.bytes_read, self.dump.total_bytes, "bytes", counts.rows_read)

    @property
    def join_counts(self) -> dict[str, int]:
        """The counts of the join."""
        return {name: n for name, n in self._joined.items() if isinstance(n, int)}

    @property
    def _joined(self) -> dict[str, Any]:
        return {} if self._table is None else self._table.counts

    def notes(
        self, counts: Mapping[str, int], plan: Plan, repeated: Sequence[str]
    ) -> Iterator[str]:
        """Notes on the counts of the run and on the join; `repeated` are ids, see `notes_on`."""
        joined = self._joined
        yield from notes_on(counts, joined, [shown(dump) for dump in self.sources], repeated)
        if counts.get("unmatched_answers") and joined["missing"] == "zero":
            asked = [
                request.asked
                for request in plan.requests
                if request.spec.uses_profile and request.profile.id == _LEAVES_OUT
            ]
            if asked:
                yield (
                    f"{', '.join(asked)}: the script of SQuAD v2 leaves out questions that nothing "
                    "was predicted for (--missing null does); here they count 0."
                )

    def tags(self, counts: Mapping[str, int]) -> dict[str, object]:
        """What of the join could have made it another number, where it did, for the signatures."""
        tags: dict[str, object] = {}
        if self.is_joined and self._duplicates != "error":
            tags["duplicates"] = self._duplicates
        if counts.get("unmatched_answers") and self._joined["missing"] == "zero":
            tags["missing"] = "zero"
        return tags


def answers_of(paths: Paths) -> Iterator[str]:
    """The gold answers of a dump, each as often as it stands there."""
    for batch in open_dump(paths, ReadOptions(columns=frozenset({"answers"}))):
        for answers in batch.column("answers").to_pylist():
            yield from (answer for answer in answers or () if answer is not None)

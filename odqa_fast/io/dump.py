"""A dump of one or several files, read once from start to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pyarrow as pa

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.formats import (
    BOM,
    SNIFFED_BYTES,
    check_format,
    choose_format,
    is_never_empty,
    name_form,
)
from odqa_fast.io.identity import InputIdentity, identify_again, identify_source
from odqa_fast.io.input_paths import Input, find
from odqa_fast.io.names import list_names, resolve
from odqa_fast.io.options import Intake, ReadCounts, ReadOptions, Rejected
from odqa_fast.io.places import place_columns
from odqa_fast.io.prefetch import Submit, work_at_once
from odqa_fast.io.runs import RunWatch, add_run_fields
from odqa_fast.io.source import DAMAGED, Source, decompress
from odqa_fast.io.where import choose_rows
from odqa_fast.option import Paths
from odqa_fast.schema import SAMPLES


class Dump:
    """What `open_dump` returns; iterate it once.

    Attributes:
        paths: the files, in the order they are read.
        total_bytes: their size on disk, None where it is not known.
        counts: grows while reading.
        runs: the runs that its rows are of, under `ReadOptions.one_run`.
        may_widen: whether later rows may have columns that the first batch lacks.
        in_parts: whether a folder or glob stands for several of the files, so that their order is
            that of their names.
    """

    def __init__(
        self,
        inputs: list[Input],
        options: ReadOptions,
        reject: Callable[[Rejected], None] | None,
        fmt: str | None,
        submit: Submit = work_at_once,
        depth: int = 0,
        *,
        in_parts: bool = False,
    ) -> None:
        self.paths = tuple(each.name for each in inputs)
        sizes = [each.size for each in inputs]
        self.total_bytes = None if None in sizes else sum(s for s in sizes if s is not None)
        self.counts = ReadCounts()
        self.runs = RunWatch()
        self.may_widen = len(inputs) > 1
        self.in_parts = in_parts
        self._inputs = inputs
        self._options = add_run_fields(options)
        self._reject = reject
        self._format = fmt
        self._submit = submit
        self._depth = depth
        self._identities: dict[int, InputIdentity] = {}
        self._found: set[str] = set()
        self._met: dict[str, set[str]] = {}

    @property
    def options(self) -> ReadOptions:
        """How the files are read."""
        return self._options

    @property
    def identities(self) -> list[InputIdentity]:
        """What the inputs were, under `ReadOptions.identify`; without a hash before it is read."""
        numbered = enumerate(self._inputs, self._options.first_source)
        unread = ((number, InputIdentity(each.name, each.size, None)) for number, each in numbered)
        return [self._identities.get(number, identity) for number, identity in unread]

    def identify_rest(self) -> None:
        """Under `ReadOptions.identify`, hash the files that were not read to their end.

        Raises:
            DataError: one cannot be read any more.
        """
        if self._options.identify:
            for number, file in enumerate(self._inputs, self._options.first_source):
                if number not in self._identities:
                    self._identities[number] = identify_again(file)

    @property
    def found(self) -> tuple[str, ...]:
        """Names of the fields the files really have, sorted; as far as they have been read."""
        return tuple(sorted(self._found))

    @property
    def layouts(self) -> list[frozenset[str]]:
        """The sets of names that files have, each once: a name counts in its own file alone."""
        return list(dict.fromkeys(map(frozenset, self._met.values())))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Those of them that no column of the schema has: nothing reads them."""
        return tuple(sorted(self._found - self._known(self._found)))

    def _known(self, names: set[str]) -> set[str]:
        """Those names that some column of the schema has."""
        everything = ReadOptions(frozenset(SAMPLES.names), self._options.mapping, joined=True)
        return set(resolve(names, everything, "").values())

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield canonical batches (see `odqa_fast.io`), in the order of the rows.

        Where there is no row, but names of columns, a batch of none says which columns there are.

        Raises:
            DataError: a bad row under `on_error="fail"`, or a file that cannot be read.
            SchemaError: a file whose names are ambiguous; nothing that `where` asks for; several
                runs under `one_run`.
        """
        rows = choose_rows(self._rows(), self._options, self.counts, lambda: self.found)
        return self.runs.watch(rows) if self._options.one_run else rows

    def _rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, whatever `ReadOptions.where` says."""
        named: set[str] = set()
        n_batches = 0
        for number, file in enumerate(self._inputs, self._options.first_source):
            intake = Intake(
                file.name, self._options, self.counts, self._reject, self._submit, self._depth
            )
            intake.source = number
            before = self.counts.bytes_read
            met = self._met.setdefault(file.name, set())
            rows_before = self.counts.rows_read
            with file.open() as raw:
                hashed = self._options.identify
                source = Source(raw, file.name, file.random_access, hashed=hashed)
                for batch in self._batches(file, source, intake, met):
                    n_batches += 1
                    self._found.update(met)
                    self.counts.bytes_read = before + source.position
                    yield batch
                if hashed:
                    self._identities[number] = identify_source(source, file)
            if self.counts.rows_read > rows_before:
                self._check_layout(file, met)
            self.counts.bytes_read = before + (file.size or source.position)
            if not n_batches:
                self._found.update(met)
                named.update(resolve(met, self._options, file.name) if met else ())
        if self._found and not n_batches:
            types = {field.name: field.type for field in SAMPLES if field.name in named}
            none = {name: pa.array([], each) for name, each in types.items()}
            none |= place_columns((), intake)
            yield pa.RecordBatch.from_arrays(list(none.values()), names=list(none))

    def _check_layout(self, file: Input, met: set[str]) -> None:
        """Refuse, of several files, one that is no part of the dump: a folder's README.md."""
        if len(self._inputs) > 1 and met and not self._known(met):
            raise SchemaError(
                "has rows, but none of the columns that are read. Columns found: "
                f"{list_names(met)}.",
                where=file.name,
                hint="Leave the file out, e.g. by a glob of the others, or name its columns "
                "(--map COLUMN=NAME).",
            )

    def _batches(
        self, file: Input, outer: Source, intake: Intake, met: set[str]
    ) -> Iterator[pa.RecordBatch]:
        form = name_form(file.name)
        if is_never_empty(form) and not outer.peek(1):
            raise DataError(
                f"has 0 bytes; {form} without rows has more.", where=file.name, hint=DAMAGED
            )
        source = decompress(outer)
        head = source.peek(SNIFFED_BYTES)
        chosen, intake.layouts = choose_format(self._format, head, file.name)
        self.may_widen |= chosen.may_widen
        if head.startswith(BOM):
            source.read(len(BOM))
        return chosen.read(source, intake, met)


def open_dump(
    paths: Paths,
    options: ReadOptions,
    *,
    reject: Callable[[Rejected], None] | None = None,
    fmt: str | None = None,
    submit: Submit = work_at_once,
    depth: int = 0,
) -> Dump:
    """Find the files of a dump; nothing is read before it is iterated.

    Args:
        paths: files, globs, folders (their files by name), URIs of file systems that pyarrow
            knows, `-` for standard input; one of them or a sequence.
        options: which columns, and how strictly.
        reject: is handed each refused row under `on_error="skip"`.
        fmt: one of `formats.find_formats().names`, where the first bytes should not decide.
        submit: starts work on a part of the input, e.g. a thread pool's.
        depth: how many parts may be in work ahead of the one that is used.

    Raises:
        DataError: a file is missing or may not be read.
        SchemaError: there is no such format.
    """
    if fmt is not None:
        check_format(fmt)
    inputs = find(paths)
    in_parts = len(inputs) > (1 if isinstance(paths, str | os.PathLike) else len(paths))
    return Dump(inputs, options, reject, fmt, submit, depth, in_parts=in_parts)

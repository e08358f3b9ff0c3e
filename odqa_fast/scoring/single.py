"""One metric at a time, on one row or on columns; and what a profile makes of a text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from odqa_fast._kernels import normalize as _kernel
from odqa_fast._kernels import rouge as _rouge
from odqa_fast._kernels.columns import Column
from odqa_fast.errors import ProfileError
from odqa_fast.io import canonical_batches
from odqa_fast.metrics import all_specs
from odqa_fast.profiles import DEFAULT_PROFILE, PROFILES, Profile, check_kernels, get_steps
from odqa_fast.scoring.executor import MIN_RANGE_BYTES
from odqa_fast.scoring.job import score
from odqa_fast.scoring.workers import Workers

#: A float (or None where not scored) for one row, a pyarrow float64 array for columns.
Scored = Any


class MetricFunction(Protocol):
    """A metric of a prediction and its answers, as a function."""

    def __call__(
        self,
        prediction: object,
        answers: object,
        profile: str | Profile = DEFAULT_PROFILE,
        *,
        option: str = "",
        threads: int | None = None,
    ) -> Scored:
        """One row (a text and a list of answers) gives a float, columns (lists, pyarrow, polars, …)
        a pyarrow float64 array.

        Args:
            prediction: a text, or a column of them.
            answers: the gold answers of the row, or a column of lists of them.
            profile: which reference scorer to equal.
            option: what may stand behind the metric's id: `stem`, `stem:precision`.
            threads: as for `score`.
        """


#: What a metric that can be a function reads.
_PREDICTION = {"prediction", "answers"}


def metric_function(name: str) -> MetricFunction | None:
    """The function of a metric; None where there is no metric of that id, or it reads more than a
    prediction and answers."""
    spec = all_specs().get(name)
    if spec is None or spec.at is not None or set(spec.inputs) != _PREDICTION:
        return None

    def function(
        prediction: object,
        answers: object,
        profile: str | Profile = DEFAULT_PROFILE,
        *,
        option: str = "",
        threads: int | None = None,
    ) -> Scored:
        asked = f"{name}:{option}" if option else name
        return _metric(asked, {"prediction": prediction, "answers": answers}, profile, threads)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{spec.about}\n\n{inspect.getdoc(MetricFunction.__call__)}"
    return function


def par(
    summary: object,
    answers: object,
    mode: Literal["raw", "normalized", "token"] = "raw",
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    threads: int | None = None,
) -> Scored:
    """Whether an answer is preserved in the summary, 0 or 1; arguments as for
    `MetricFunction`."""
    return _metric(f"par:{mode}", {"summary": summary, "answers": answers}, profile, threads)


def cr(
    summary: object,
    documents: object,
    unit: Literal["chars", "words"] = "chars",
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    threads: int | None = None,
) -> Scored:
    """Length of the summary over that of the documents (one text, or a list of texts a row)."""
    return _metric(f"cr:{unit}", {"summary": summary, "documents": documents}, profile, threads)


def _metric(
    asked: str, columns: Mapping[str, object], profile: str | Profile, threads: int | None
) -> Scored:
    first, second = columns
    one_row = columns[first] is None or isinstance(columns[first], str | bytes | int | float)
    if one_row:
        columns = {first: [columns[first]], second: [columns[second]]}
    scores = score(columns, [asked], profile, threads=threads).table[asked]
    if one_row:
        return scores[0].as_py()
    return scores.combine_chunks() if scores.num_chunks != 1 else scores.chunk(0)


def normalize(texts: object, profile: str = DEFAULT_PROFILE, *, threads: int | None = None) -> Any:
    """What a profile (or a normalizer: raw, strip, squad, regex, triviaqa, orqa) makes of texts.

    A profile that cuts a prediction first (recomp, acorn) cuts here as well.

    Args:
        texts: one text, or a column of texts.
        profile: a profile or normalizer.
        threads: as for `score`.

    Returns:
        A text, or a pyarrow large_string array; null stays null.

    Raises:
        ProfileError: no such profile or normalizer.
        DataError: a text that is not Unicode.
    """
    check_kernels()
    steps = get_steps(profile)
    if "dpr_tokens" in steps:
        raise ProfileError("'dpr' is a tokenizer.", hint="Call tokenize(texts, 'dpr').")
    cut = PROFILES[profile].cut if profile in PROFILES else "none"

    def normalized(array: pa.Array) -> pa.Array:
        offsets, data = _kernel.normalize(Column("texts", array), steps, cut)
        buffers = [_validity(array), pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), len(array), buffers)

    result = _in_parts(_texts(texts), normalized, threads)
    return result[0].as_py() if isinstance(texts, str) else result


def tokenize(texts: object, tokenizer: str = "squad", *, threads: int | None = None) -> Any:
    """The tokens of texts: those of a profile's normalizer, of DPR's tokenizer, or of ROUGE.

    Args:
        texts: one text, or a column of texts.
        tokenizer: `dpr`; `rouge`, also with `:stem` and `:unicode`; or a profile or normalizer.
        threads: as for `score`.

    Returns:
        A list of texts, or a pyarrow large_list<large_string> array; null stays null.

    Raises:
        ProfileError: no such tokenizer.
        DataError: a text that is not Unicode.
    """
    family, *options = tokenizer.split(":")
    if family == "rouge":
        if len(set(options)) < len(options) or not {"stem", "unicode"}.issuperset(options):
            raise ProfileError(
                f"unknown tokenizer {tokenizer!r}.",
                hint="Options of rouge: stem, unicode.",
            )
        words: Literal["unicode", "ascii"] = "unicode" if "unicode" in options else "ascii"
        cut = partial(_rouge.tokenize, words=words, stem="stem" in options)
    else:
        cut = partial(_kernel.tokenize, steps=get_steps(tokenizer))

    def tokenized(array: pa.Array) -> pa.Array:
        lists, offsets, data = cut(Column("texts", array))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        tokens = pa.Array.from_buffers(pa.large_string(), len(offsets) // 8 - 1, buffers)
        return pa.Array.from_buffers(
            pa.large_list(pa.large_string()),
            len(array),
            [_validity(array), pa.py_buffer(lists)],
            children=[tokens],
        )

    result = _in_parts(_texts(texts), tokenized, threads)
    return result[0].as_py() if isinstance(texts, str) else result


def _in_parts(
    array: pa.Array, made: Callable[[pa.Array], pa.Array], threads: int | None
) -> pa.Array:
    """What is made of an array, by as many threads as its texts are worth."""
    with Workers(threads) as workers:
        parts = max(1, min(workers.threads, array.nbytes // MIN_RANGE_BYTES))
        rows = max(1, -(-len(array) // parts))
        starts = range(0, len(array), rows) or [0]
        jobs = [workers.submit(made, array.slice(start, rows)) for start in starts]
        results = [job.result() for job in jobs]
    return results[0] if len(results) == 1 else pa.concat_arrays(results)


def _texts(texts: object) -> pa.Array:
    column = [texts] if isinstance(texts, str) else texts
    batches = canonical_batches({"prediction": column}, frozenset({"prediction"}), {})
    chunks = [batch.column("prediction").cast(pa.large_string()) for batch in batches]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.large_string())


def _validity(array: pa.Array) -> pa.Buffer | None:
    if array.null_count == 0:
        return None
    # As bits from the first row on, wherever the array begins in its buffers.
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return pa.py_buffer(np.packbits(valid, bitorder="little"))

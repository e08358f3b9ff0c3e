"""What a metric is: the facts the documentation, the command line and the signature print, and the
work it asks of a kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from odqa_fast.errors import MetricError
from odqa_fast.metrics.resources import Resources
from odqa_fast.profiles import DEFAULT_PROFILE, PROFILES, Profile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from odqa_fast._kernels.columns import Column

    Outputs = Mapping[str, npt.NDArray[np.float64]]
    #: Scores the rows [lo, hi) of a batch into the outputs and returns its counts by name; a
    #: `Tally` where it has more to say. Each of these rows gets a value: NaN where it is not
    #: scored. `column.value(row)` is a row as Python has it, None where it is null.
    #: Arguments: settings, the columns by canonical name, lo, hi, outputs.
    RowFunction = Callable[[Any, Mapping[str, Column], int, int, Outputs], Mapping[str, int]]


#: So many examples of a sentence, the first in the order of the rows, are shown.
SHOWN_EXAMPLES = 3


class Tally(Counter[str]):
    """What a row function saw in its rows beside the scores: counts by name.

    Attributes:
        notes: sentences for a reader of the numbers, each once.
        examples: by a sentence, examples of what it says.
    """

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        super().__init__(counts or {})
        self.notes: dict[str, None] = {}
        self.examples: dict[str, list[str]] = {}

    def add_note(self, sentence: str) -> None:
        """Says a sentence, if nobody has."""
        self.notes[sentence] = None

    def add_example(self, sentence: str, example: str) -> None:
        """Keeps an example, if there are not enough."""
        shown = self.examples.setdefault(sentence, [])
        if len(shown) < SHOWN_EXAMPLES and example not in shown:
            shown.append(example)

    def add(self, found: Mapping[str, int]) -> None:
        """Adds what was seen in the rows that follow."""
        self.update(found)
        self.add_words(found)

    def add_words(self, found: Mapping[str, int]) -> None:
        """Adds the notes and examples alone, where there are some."""
        if isinstance(found, Tally):
            self.notes.update(found.notes)
            for sentence, examples in found.examples.items():
                for example in examples:
                    self.add_example(sentence, example)


@runtime_checkable
class Tagged(Protocol):
    """Settings that know more for the signature once they are open: which model, say."""

    def tags(self, output: str) -> Mapping[str, str]:
        """What this adds to the signature of an output."""


@dataclass(frozen=True)
class Work:
    """One output of a kernel call. Works that agree in all but the output share one call.

    A column may be one field of a column's items: `documents.id`. Settings are hashable; where
    there is `open`, it makes of them and a run's resources what the row function gets instead.
    """

    rows: RowFunction
    columns: tuple[str, ...]
    settings: Any
    output: str
    open: Callable[[Any, Resources], Any] | None = None

    def opened(self, resources: Resources) -> Work:
        """The same, ready to run."""
        if self.open is None:
            return self
        return replace(self, settings=self.open(self.settings, resources), open=None)


@dataclass(frozen=True)
class MetricSpec:
    """A metric, by its id.

    Attributes:
        version: raised by every change that can move a number.
        inputs: canonical columns it reads.
        options: the options it takes (`id:option`) and what each means; the first is the default.
        more_options: further groups of options; one of each group may be given, none is by default.
        range: lowest and highest value; None where open.
        open_options: options under which a value may pass the highest, as the reference's own does.
        empty_rule: what an empty or null side scores, in words.
        source: where the definition comes from.
        work: what it asks of a kernel, given the option and profile. The option is one of
            `options` ("" where there are none) and those of `more_options`, joined by ":".
        tags: its part of the signature, likewise.
        uses_profile: whether the profile can change the number.
        at: of a metric `id@k`, what makes the metric of one cut-off, whose id is e.g. `hit@5`; of
            one cut-off always the same object.
    """

    id: str
    about: str
    inputs: tuple[str, ...]
    empty_rule: str
    source: str
    work: Callable[[str, Profile], Work]
    tags: Callable[[str, Profile], Mapping[str, str]]
    version: int = 1
    range: tuple[float, float | None] = (0, 1)
    higher_is_better: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    more_options: tuple[Mapping[str, str], ...] = ()
    open_options: frozenset[str] = frozenset()
    aggregate: Literal["mean"] = "mean"
    uses_profile: bool = True
    at: Callable[[int], MetricSpec] | None = None

    @property
    def default_option(self) -> str:
        """The option of the bare id, "" where it takes none."""
        return next(iter(self.options), "")

    @property
    def all_options(self) -> dict[str, str]:
        """The options of every group and what each means."""
        return {
            word: about
            for group in (self.options, *self.more_options)
            for word, about in group.items()
        }

    def check(self, place: str) -> None:
        """Refuses a metric that cannot be asked for or signed.

        Args:
            place: the file that it stands in.

        Raises:
            MetricError: an option stands twice, a word of it cannot be one, it reads a column that
                there is not, or a tag would break its signature.
        """
        from odqa_fast.schema import SAMPLES

        words = [word for group in (self.options, *self.more_options) for word in group]
        fault = ""
        if len(set(words)) < len(words):
            fault = "has an option twice"
        elif bad := [word for word in words if not re.fullmatch(r"[\w.+-]+", word)]:
            fault = f"has an option {bad[0]!r}, which cannot be written behind a colon"
        elif absent := [name for name in self.inputs if name not in SAMPLES.names]:
            fault = f"reads a column {absent[0]!r}, and there is none"
        elif self.range[1] is not None and not self.range[0] < self.range[1]:
            fault = f"has the range {self.range}, which holds nothing"
        else:
            for word in words or [""]:
                for pair in self.tags(word, PROFILES[DEFAULT_PROFILE]).items():
                    if any("|" in part for part in pair):
                        fault = f"has a tag {':'.join(pair)!r}, and | parts the tags"
        if fault:
            raise MetricError(f"the metric {self.id!r} {fault}.", where=place)

"""Rubrics: what a judge is asked, and how its replies count. Each is one TOML file.

A rubric is one of ours (`rubrics/NAME.toml`, found by scan), one that an installed package brings
(an entry point of the group `odqa_fast.rubrics`), or a user's own, by its path. Its file is a
prompt as `engines.prompt` has it, and then a table:

    id = "relevance"
    version = 1
    user = '''The question: {question} The answer: {prediction} Reply {"verdict": ...}'''

    [rubric]
    key = "verdict"
    labels = { relevant = 1, "partly relevant" = 0.5, irrelevant = 0 }

A prompt with {prediction} is about one prediction, one with {first} and {second} about two. Keys of
the table, of which one of `labels` and `scale` is needed:

- `metric`: the column of the scores; by default the name of the file.
- `key`: the field of a reply that holds the verdict; by default `verdict`.
- `labels`: the verdicts, best first, and what each counts, from 0 to 1.
- `scale`: two whole numbers: the verdicts are those from one to the other, which count 0 and 1.
- `aliases`: other words for a label.
- `may_begin`: whether a reply may begin with its verdict, as in `Relevant. The answer ...`.
- `right`: labels that say that the prediction is right: held against EM, F1 and people.
- `grounded`: labels that say that the context bears it out.
- `partial`: the label whose score `--partial` sets.
- `blank`: the verdict on a blank prediction; without it, there is none.
- `optional`: places that another prompt (`--prompt`) may leave out; it needs all others.
- `list`: where a reply lists things and each has a label: the `key` of the list, the name of an
  `item`, and what the verdict is called where `all` of them count 1, or `else`.

The prompt's hash is that of the file up to the table: another score needs no other replies.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial as bound
from importlib import resources
from importlib.metadata import entry_points
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.prompt import Kind, Prompt, fenced, load_prompt, parse_prompt
from odqa_fast.errors import OdqaError
from odqa_fast.judge.verdict import LabelledList, Labels, Verdict
from odqa_fast.profiles import unknown

#: Raised by every change in how replies are read, or in how a rubric of ours counts them.
VERSION = 2
#: Entry points: the name of a rubric, and the package that holds its NAME.toml.
GROUP = "odqa_fast.rubrics"

#: The places of a prompt about one prediction, and about two.
ONE, TWO = ("question", "answers", "prediction", "context"), ("question", "answers", "first", "second")
_HEAD = re.compile(rb"^\[rubric\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_:-]*")
#: Columns that stand beside those of rubrics.
_TAKEN = ("id", "em", "f1", "contains", "human")


@dataclass(frozen=True)
class Rubric:
    """A question to a judge.

    Attributes:
        id: what it is asked for by.
        metric: the column its scores stand in.
        prompt: the template.
        reading: how a reply is read.
        labels: the verdicts there are, best first.
        right: those that say that the prediction is right.
        grounded: those that say that the context bears it out.
        partial: the label whose score may be set; empty where there is none.
        blank: the verdict on a blank prediction; empty where there is none.
        must: places that its prompt has to have.
        tags: what stands in the signature beside judge and prompt.
    """

    id: str
    metric: str
    prompt: Prompt
    reading: Labels | LabelledList
    labels: tuple[str, ...]
    right: tuple[str, ...] = ()
    grounded: tuple[str, ...] = ()
    partial: str = ""
    blank: str = ""
    must: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_two(self) -> bool:
        """Whether it compares two predictions."""
        return "first" in self.must

    def request(self, **texts: str) -> Request:
        """The request about one row, its texts fenced."""
        schema = json.dumps(self.reading.schema())
        return replace(self.prompt.fill(**fenced(**texts)), schema=schema)

    def read(self, reply: Reply) -> Verdict:
        """What a reply comes to."""
        return self.reading.read(reply)


def list_rubrics() -> list[str]:
    """The rubrics of ours and of installed packages, by name."""
    return sorted(_sources())


def own_rubrics() -> list[Rubric]:
    """The rubrics that come with the package."""
    return [load_rubric(name) for name in sorted(_own())]


def load_rubrics(
    names: Sequence[str], prompts: Mapping[str, str], partial: float | None = None
) -> list[Rubric]:
    """Rubrics that are asked together.

    Args:
        names: of `list_rubrics`, or paths that end in `.toml`.
        prompts: templates of the user's own, by rubric.
        partial: what a partial verdict counts, from 0 to 1; by default what each rubric says.

    Raises:
        OdqaError: no such rubric, one twice, a template that is none or that no rubric asks for.
    """
    known = f"Rubrics: {', '.join(list_rubrics())}; your own is a path that ends in .toml."
    if not names or len(set(names)) < len(names):
        raise OdqaError("a rubric is missing or stands twice.", hint=known)
    rubrics = [load_rubric(name, partial) for name in names]
    for given, file in prompts.items():
        asked = [at for at, each in enumerate(rubrics) if given in (each.id, names[at])]
        if not asked:
            # Of a name that is none, that comes first.
            load_rubric(given)
            raise OdqaError(
                f"a prompt is given for the rubric {given!r}, which is not asked.",
                hint=f"Asked: {', '.join(names)}.",
            )
        rubrics[asked[0]] = _with_prompt(rubrics[asked[0]], file)
    for what in ("id", "metric"):
        each = [getattr(rubric, what) for rubric in rubrics]
        if len(set(each)) < len(each):
            raise OdqaError(f"two rubrics have the same {what}: {', '.join(each)}.")
    return rubrics


def load_rubric(name: str, partial: float | None = None) -> Rubric:
    """A rubric by its name or its path; arguments and errors as of `load_rubrics`."""
    if name.endswith(".toml"):
        source: Traversable = Path(name)
    else:
        sources = _sources()
        if name not in sources:
            listing = f"Rubrics: {', '.join(sorted(sources))}."
            what, hint = unknown("rubric", name, sources, listing)
            raise OdqaError(what, hint=f"{hint} Your own is a path that ends in .toml.")
        source = sources[name]
    try:
        data = source.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise OdqaError(f"cannot read the rubric: {reason}.", where=str(source)) from None
    rubric, table = _parsed(data, source.name.removesuffix(".toml"), str(source), partial)
    if source.name in {each.name for each in _own().values()} and source == _own().get(rubric.id):
        return rubric
    # What the version of this program does not stand for signs for itself.
    return replace(rubric, tags={"rubric": _digest(table), **rubric.tags})


def _own() -> dict[str, Traversable]:
    folder = resources.files("odqa_fast.judge").joinpath("rubrics")
    files = [each for each in folder.iterdir() if each.name.endswith(".toml")]
    return {each.name.removesuffix(".toml"): each for each in files}


def _sources() -> dict[str, Traversable]:
    """The files of the rubrics of ours and of installed packages; ours come first."""
    found = {
        each.name: resources.files(each.module).joinpath(f"{each.name}.toml")
        for each in entry_points(group=GROUP)
    }
    return {**found, **_own()}

"""A rubric of a TOML file: a prompt as `engines.prompt` has it, and behind it a table.

    id = "relevance"
    version = 1
    user = '''The question: {question} The answer: {prediction} Reply {"verdict": ...}'''

    [rubric]
    labels = { relevant = 1, "partly relevant" = 0.5, irrelevant = 0 }

A prompt with {prediction} is about one prediction and may have {question}, {answers} and {context};
one with {first} and {second} compares two and may have {question} and {answers}. The keys of the
table, of which it needs one of `labels` and `scale`:

- `metric`: the column of the scores; by default the file's name.
- `key`: the field of a reply that holds the verdict; by default `verdict`.
- `labels`: the verdicts, best first, and what each counts, from 0 to 1. Of two predictions, what
  the first gets of a win.
- `scale`: two whole numbers. The verdicts are all from one to the other, which count 0 and 1.
- `aliases`: other words for labels.
- `may_begin`: whether a reply may begin with its verdict, as `Relevant. The answer ...` does.
- `right`: labels that say that the prediction is right: held against EM, F1 and people.
- `grounded`: labels that say that the context bears the prediction out.
- `partial`: the label whose score `--partial` sets.
- `blank`: the verdict on a blank prediction, which no judge is asked about.
- `optional`: places that another prompt (`--prompt`) may leave out; it needs all the others.
- `list`: where a reply lists things, each with one of the labels: the `key` of the list, the name
  of an `item`, and the two verdicts, `all` where every item counts 1 and `else`. The score is the
  mean of the items.

The prompt's hash is that of the file up to the table, so that replies are kept where only their
scores change.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odqa_fast.engines.prompts import Kind, Prompt, parse_prompt
from odqa_fast.errors import OdqaError
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.verdict import LabelledList, Labels, Verdict

#: The places of a prompt about one prediction, and of one that compares two.
ONE = Kind(("prediction",), ("question", "answers", "context"))
TWO = Kind(("first", "second"), ("question", "answers"))

_TABLE = re.compile(rb"^\[rubric\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_KEYS: Mapping[str, type | tuple[type, ...]] = {
    "metric": str,
    "key": str,
    "labels": dict,
    "scale": list,
    "aliases": dict,
    "may_begin": bool,
    "right": list,
    "grounded": list,
    "partial": str,
    "blank": (str, int),
    "optional": list,
    "list": dict,
}
_LIST_KEYS = ("key", "item", "all", "else")
_METRIC = re.compile(r"[a-z][a-z0-9_:-]*")
_KEY = re.compile(r"[a-z][a-z_]*")
#: Columns that stand beside those of rubrics.
_TAKEN = ("id", "em", "f1", "contains", "human")
#: A scale with more steps is none that a judge can keep apart.
_LONGEST_SCALE = 101


def read_rubric(path: Path, partial: float | None = None) -> Rubric:
    """The rubric of a file, named as the file is.

    Args:
        path: the file.
        partial: what its partial verdict counts; by default what the file says.

    Raises:
        OdqaError: it cannot be read, or is not as the module's text says.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OdqaError(f"cannot read the rubric: {error.strerror}.", where=str(path)) from None
    prompt, table = _parts(data, str(path))
    name = path.name.removesuffix(".toml")
    try:
        return _make(name, prompt, table, partial)
    except OdqaError as error:
        raise OdqaError(f"is no rubric: {error}", where=str(path)) from None


def digest_of(path: Path) -> str:
    """A hash of all that a rubric's file says of verdicts; comments do not matter."""
    _, table = _parts(path.read_bytes(), str(path))
    return hashlib.sha256(json.dumps(table, default=str).encode()).hexdigest()[:8]


def _parts(data: bytes, where: str) -> tuple[Prompt, dict[str, Any]]:
    """The prompt and the table of a file."""
    head = data
    for found in _TABLE.finditer(data):
        head = data[: found.start()].rstrip() + b"\n"
    try:
        read: dict[str, Any] = tomllib.loads(data.decode())
        table = read.pop("rubric", None)
        if not isinstance(table, dict):
            raise OdqaError("it has no table [rubric].")
        if tomllib.loads(head.decode()) != read:
            raise OdqaError("the table [rubric] has to stand behind the prompt, and no other.")
    except RecursionError:
        raise OdqaError("is no rubric: it is nested too deeply.", where=where) from None
    except (OdqaError, ValueError) as error:
        raise OdqaError(f"is no rubric: {error}", where=where) from None
    texts = f"{read.get('system')} {read.get('user')}"
    is_of_two = any(f"{{{place}}}" in texts for place in TWO.must)
    return parse_prompt(head, TWO if is_of_two else ONE, where), table


def _make(name: str, prompt: Prompt, table: Mapping[str, Any], partial: float | None) -> Rubric:
    _check_types(table)
    labels = _labels(table, partial)
    reading = _make_list(table["list"], labels) if "list" in table else labels
    metric = table.get("metric", name)
    if not _METRIC.fullmatch(metric) or metric in _TAKEN:
        raise OdqaError(
            f"its metric cannot be called {metric!r}.",
            hint=f"A name is of a-z, 0-9, '_', ':' and '-', and none of {', '.join(_TAKEN)}.",
        )

    def known(key: str, value: object) -> str:
        label = str(value)
        if label not in reading.verdicts:
            raise OdqaError(
                f"{key!r} has {label!r}, which is none of its labels.",
                hint=f"Labels: {', '.join(reading.verdicts)}.",
            )
        return label

    partly = table.get("partial", "")
    blank = known("blank", table["blank"]) if "blank" in table else ""
    if isinstance(reading, LabelledList) and (partly or blank):
        raise OdqaError("'partial' and 'blank' go with no 'list'.")
    optional = table.get("optional", [])
    if not prompt.places.issuperset(optional):
        raise OdqaError(f"'optional' has to be places of the prompt, not {optional!r}.")
    return Rubric(
        id=name,
        metric=metric,
        prompt=prompt,
        places=Kind(tuple(sorted(prompt.places - set(optional))), tuple(optional)),
        reading=reading,
        labels=reading.verdicts,
        right=tuple(known("right", each) for each in table.get("right", ())),
        grounded=tuple(known("grounded", each) for each in table.get("grounded", ())),
        partial=partly,
        blank=Verdict(blank, labels.scores[blank], "no prediction") if blank else None,
        tags={"partial": f"{labels.scores[partly]:g}"} if partly else {},
    )


def _check_types(table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if key not in _KEYS:
            raise OdqaError(f"{key!r} is no key of [rubric].", hint=f"Keys: {', '.join(_KEYS)}.")
        if not isinstance(value, _KEYS[key]) or (key != "may_begin" and isinstance(value, bool)):
            kinds = _KEYS[key]
            names = [each.__name__ for each in (kinds if isinstance(kinds, tuple) else (kinds,))]
            raise OdqaError(f"{key!r} has to be of type {' or '.join(names)}.")
        if isinstance(value, list) and not all(isinstance(each, str | int) for each in value):
            raise OdqaError(f"{key!r} has to be a list of labels, places or whole numbers.")
    if ("labels" in table) == ("scale" in table):
        raise OdqaError("it needs either 'labels' or 'scale'.")


def _labels(table: Mapping[str, Any], partial: float | None) -> Labels:
    scores = _scale(table["scale"]) if "scale" in table else dict(table["labels"])
    partly = table.get("partial", "")
    if partly and partly not in scores:
        raise OdqaError(f"'partial' has {partly!r}, which is none of its labels.")
    if partly and partial is not None:
        scores[partly] = partial
    for label, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise OdqaError(f"the label {label!r} counts from 0 to 1, not {score!r}.")
    if len(scores) < 2:
        raise OdqaError("it needs two labels or more.")
    aliases = {word: str(label) for word, label in table.get("aliases", {}).items()}
    labels = Labels(
        _key(table.get("key", "verdict")),
        {label: float(score) for label, score in scores.items()},
        aliases,
        table.get("may_begin", False),
    )
    for word in (*scores, *aliases):
        if not word or labels.named(word) != aliases.get(word, word):
            raise OdqaError(
                f"the label {word!r} would not be found in a reply, or stands for none.",
                hint="A label is of words in small letters with one space between them.",
            )
    if labels.may_begin and labels.is_scale:
        # A list may begin with a number too.
        raise OdqaError("'may_begin' goes with no 'scale'.")
    return labels


def _scale(ends: list[Any]) -> dict[str, float]:
    """The numbers of a scale, best first."""
    if len(ends) != 2 or not all(type(end) is int and end >= 0 for end in ends):
        raise OdqaError("'scale' has to be two whole numbers, e.g. [1, 5].")
    worst, best = ends
    steps = best - worst
    if not 0 < abs(steps) < _LONGEST_SCALE:
        raise OdqaError(f"'scale' has to have from 2 to {_LONGEST_SCALE} numbers.")
    step = 1 if steps > 0 else -1
    return {str(each): (each - worst) / steps for each in range(best, worst - step, -step)}


def _make_list(table: Mapping[str, Any], labels: Labels) -> LabelledList:
    if set(table) != set(_LIST_KEYS) or not all(isinstance(v, str) for v in table.values()):
        raise OdqaError(f"'list' has to have the texts {', '.join(_LIST_KEYS)}.")
    key, item, every, otherwise = (table[name] for name in _LIST_KEYS)
    if not every or not otherwise or every == otherwise:
        raise OdqaError("'all' and 'else' of 'list' have to be two labels.")
    return LabelledList(_key(key), _key(item), labels, every, otherwise)


def _key(name: str) -> str:
    if not _KEY.fullmatch(name):
        raise OdqaError(f"a field of a reply is of a-z and '_', not {name!r}.")
    return name

"""The rubrics there are: a TOML file of this folder each (see `judge.rubric_file`), and what
installed packages bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from odqa_fast.engines.prompts import load_prompt
from odqa_fast.errors import OdqaError
from odqa_fast.judge.rubric import Rubric
from odqa_fast.judge.rubric_file import digest_of, read_rubric
from odqa_fast.plugins import Plugins

_FOLDER = Path(__file__).parent
#: See `Plugins.load_path` for what an entry point names.
RUBRICS = Plugins("rubric", __name__, "odqa_fast.rubrics", files=".toml")


def bundled_names() -> list[str]:
    """The names of the rubrics of this folder."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def bundled_rubrics() -> list[Rubric]:
    """The rubrics of this folder."""
    return [load_rubric(name) for name in bundled_names()]


def load_rubrics(
    names: Sequence[str], prompts: Mapping[str, str] | None = None, partial: float | None = None
) -> list[Rubric]:
    """Rubrics that are asked together.

    Args:
        names: of `RUBRICS`, or paths that end in `.toml`.
        prompts: other templates for some of them: their paths, or names of `engines.prompt`.
        partial: what a partial verdict counts, from 0 to 1; by default what each rubric says.

    Raises:
        OdqaError: no such rubric, one twice, a template that is none or that no rubric asks for.
    """
    if not names or len(set(names)) < len(names):
        known = ", ".join(RUBRICS.names())
        raise OdqaError("a rubric is missing or stands twice.", hint=f"Rubrics: {known}.")
    rubrics = {name: load_rubric(name, partial) for name in names}
    for name, prompt in (prompts or {}).items():
        asked = [each for each, rubric in rubrics.items() if name in (each, rubric.id)]
        if not asked:
            # A name that is no rubric's comes first.
            load_rubric(name)
            raise OdqaError(
                f"a prompt is given for the rubric {name!r}, which is not asked.",
                hint=f"Asked: {', '.join(names)}.",
            )
        rubric = rubrics[asked[0]]
        rubrics[asked[0]] = replace(rubric, prompt=load_prompt(prompt, rubric.places))
    for what in ("id", "metric"):
        used = [getattr(rubric, what) for rubric in rubrics.values()]
        if len(set(used)) < len(used):
            raise OdqaError(f"two rubrics have the same {what}: {', '.join(used)}.")
    return list(rubrics.values())


def load_rubric(name: str, partial: float | None = None) -> Rubric:
    """A rubric by its name or its path; arguments and errors as of `load_rubrics`."""
    path = Path(name) if name.endswith(".toml") else RUBRICS.load_path(name)
    rubric = read_rubric(path, partial)
    if path.parent == _FOLDER:
        return rubric
    # The program's version says nothing of it, so that it says itself how it counts.
    return replace(rubric, tags={"rubric": digest_of(path), **rubric.tags})

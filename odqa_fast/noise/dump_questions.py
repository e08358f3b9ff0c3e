"""A dump's texts with questions of a model's making, in the place of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from odqa_fast.engines.cached import CachedEngine
from odqa_fast.engines.failures import Failures
from odqa_fast.engines.opening import open_engine
from odqa_fast.engines.prompts import load_prompt
from odqa_fast.engines.replies import KEPT_NOTE, ReplyStore
from odqa_fast.errors import DataError, EngineError
from odqa_fast.io.kept import Kept
from odqa_fast.noise.job import NoiseJob
from odqa_fast.noise.questions import replace_questions
from odqa_fast.runs.progress import Progress, Watch
from odqa_fast.texts.text import Text, cut_windows

#: So many texts are asked about together.
_AT_ONCE = 4096


@dataclass(frozen=True)
class Made:
    """Texts with the questions that they go on with.

    Attributes:
        texts: those that have any.
        facts: how the questions came about, as `summary.json` has it; empty where they are the
            dump's own.
        notes: what a reader of the numbers should know of that.
    """

    texts: Sequence[Text]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()


def make_questions(
    texts: Sequence[Text], job: NoiseJob, folder: Path | None, progress: Watch | None = None
) -> Made:
    """Asks the job's model for questions about each text.

    Args:
        texts: without noise.
        job: says who is asked, how, and for how many.
        folder: where there is room for the texts; see `odqa_fast.io.kept.Kept`.
        progress: told of how many texts it is known what came of them.

    Raises:
        ModelError, EngineError: the model cannot be opened, or gives no replies.
        DataError: no text got a question.
    """
    assert job.model is not None
    assert job.generate_questions is not None
    prompt = job.prompt or "questions"
    failures = Failures()
    asking: Kept[Text] = Kept(folder=folder)
    dropped: Counter[str] = Counter()
    done = 0
    with (
        closing(open_engine(job.model, job.engine)) as engine,
        closing(ReplyStore(job.cache)) as store,
    ):
        asked = CachedEngine(engine, store)
        for window in cut_windows(texts, attrgetter("n_chars"), _AT_ONCE):
            some, left_out = replace_questions(
                window, asked, job.generate_questions, prompt=prompt, failures=failures
            )
            dropped += left_out
            for text in some:
                asking.append(text)
            done += len(window)
            if progress is not None:
                progress(Progress(done, len(texts), "texts"))
    reasons = dict(sorted(dropped.items()))
    failed = failures.note("{n} texts got no reply")
    if not asking:
        kind = EngineError if failures.n == len(texts) else DataError
        raise kind(" ".join([f"no text got a question: {reasons}.", *failed]))
    kept = sum(len(text.questions) for text in asking)
    listed = ", ".join(f"{reason} {n}" for reason, n in reasons.items())
    from_before = len(store.from_before)
    facts = {
        "model": asked.signature,
        "prompt": load_prompt(prompt, "questions").signature,
        "kept": kept,
        "dropped": reasons,
        **({"kept_from_before": from_before} if from_before else {}),
    }
    notes = [
        f"{kept} questions were made; left out: {listed or 'nothing'}.",
        *failed,
        *([KEPT_NOTE.format(n=from_before)] if from_before else []),
    ]
    return Made(asking, facts, notes)

"""What a run over levels costs beside its compressor and its reader: 100,000 questions.

The compressor cuts, the reader gives: both take next to nothing. What is left is reading the dump,
the check, scoring, the means and writing the run. Processor time, for others work here as well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

ITEMS = 100_000
RUN = """
import sys, time
from odqa_fast.io import open_dump
from odqa_fast.levels.job import LevelsJob
from odqa_fast.levels.level_rows import ROWS
from odqa_fast.levels.plan import make_plan
from odqa_fast.levels.run import run_levels
from odqa_fast.levels.summary import summarize_levels
from odqa_fast.runs.output import RunFolder
from odqa_fast.steps.plain import Plain
from odqa_fast.steps.readers import ReaderOptions, open_reader
from odqa_fast.texts.text import READ, read_texts
from pathlib import Path

cut = Plain("cut", lambda task: task.documents[0][:200])

path, out = sys.argv[1:]
start = time.process_time()
job = LevelsJob(path, levels="0.4", out=out)
dump = open_dump(path, job.reading(READ))
texts = read_texts(dump)
given = {question.id: question.prediction for text in texts for question in text.questions}
reader = open_reader("given", ReaderOptions(predictions=given))
with RunFolder(Path(out), ROWS) as run:
    result = run_levels(texts, cut, reader, make_plan(job), write=run.write)
    summary = summarize_levels(result, job, dump)
    run.commit(summary)
print(time.process_time() - start, summary.metrics["level_score"].mean)
"""


def dump(path: Path) -> float:
    """Writes rows of one question; every third prediction is right. Returns the score to come."""
    with path.open("w", encoding="utf-8") as file:
        for at in range(ITEMS):
            text = f"Row {at} tells of a mill that {at % 7} people built. " * 20
            row = {
                "id": str(at),
                "question": f"How many people built mill {at}?",
                "answers": [str(at % 7), f"{at % 7} people"],
                "documents": [text, text[:300]],
                "prediction": str(at % 7) if at % 3 == 0 else "nobody",
            }
            file.write(json.dumps(row) + "\n")
    return len(range(0, ITEMS, 3)) / ITEMS


@pytest.mark.benchmark(group="levels")
def test_overhead_of_a_run(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    expected = dump(path)
    seconds: list[float] = []

    def run() -> None:
        command = [sys.executable, "-c", RUN, str(path), str(tmp_path / "run")]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        took, score = map(float, done.stdout.split())
        assert score == pytest.approx(expected)
        seconds.append(took)

    benchmark.pedantic(run, rounds=3)
    microseconds = 1e6 * min(seconds) / ITEMS
    print(f"\n{benchmark.name}: {microseconds:.1f} us of processor time an item")
    assert microseconds <= 50

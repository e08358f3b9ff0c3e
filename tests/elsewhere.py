"""Sends errors and results through processes of one kind: `python elsewhere.py fork`.

The parent has used its threads before. It prints nothing, and fails where something else arrives.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import odqa_fast as oq

#: Enough text for several threads.
ROWS = 2_000
TEXT = "the cat sat on the mat " * 10


def scored(rows: int) -> oq.ScoreTable:
    data = {
        "prediction": [f"{TEXT} {row}" for row in range(rows)],
        "answers": [[f"{TEXT} {row}", "dog"] for row in range(rows)],
        "summary": [TEXT] * rows,
        "documents": [[TEXT, "a dog"]] * rows,
    }
    return oq.diagnose(data, ["em", "f1", "par:token"], threads=4)


def fails(row: int) -> object:
    return oq.score([{"prediction": row, "answers": {"no": "answer"}}])


def raised_by(call: Callable[[], object]) -> oq.OdqaError:
    try:
        call()
    except oq.OdqaError as error:
        return error
    raise AssertionError("a bad row went by")


def same(error: oq.OdqaError, expected: oq.OdqaError) -> bool:
    return (
        error == expected
        and (error.what, error.where, error.hint, error.exit_code)
        == (expected.what, expected.where, expected.hint, expected.exit_code)
        and str(error) == str(expected)
    )


def main(method: str) -> None:
    expected = scored(ROWS)
    raised = raised_by(lambda: fails(0))
    context = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        result = pool.apply_async(scored, (ROWS,)).get(60)
        assert result == expected
        assert result.table.equals(expected.table)
        assert same(raised_by(lambda: pool.apply_async(fails, (0,)).get(60)), raised)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        assert executor.submit(scored, ROWS).result(60) == expected
        assert same(raised_by(lambda: executor.submit(fails, 0).result(60)), raised)


if __name__ == "__main__":
    main(sys.argv[1])

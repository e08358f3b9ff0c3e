"""Judges that say what a test tells them to, and the rows they say it of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from odqa_fast.engines.base import Reply, Request
from odqa_fast.io import canonical_batches
from odqa_fast.judge.job import JudgeJob
from odqa_fast.judge.result import JudgeResult
from odqa_fast.judge.selection import SelectedRows, Selection, select_rows

COLUMNS = ("question", "answers", "prediction", "context", "human", "system")


class Scripted:
    """A judge made of a function from the texts it is shown to what it says.

    The function gets the fenced texts by name and returns a verdict, the whole of a reply, or a
    Reply.
    """

    max_input_tokens = None

    def __init__(
        self, says: Callable[[dict[str, str]], str | Reply], name: str = "http:http://here/v1#judge"
    ) -> None:
        self.id = self.signature = name
        self.requests: list[Request] = []
        self._says = says

    def count_tokens(self, request: Request) -> int | None:
        return None

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        for at, request in enumerate(requests):
            self.requests.append(request)
            said = self._says(texts_in(request))
            yield at, said if isinstance(said, Reply) else Reply(said, "stop", 10, 5, 0.5)

    def close(self) -> None:
        pass


def texts_in(request: Request) -> dict[str, str]:
    """The fenced texts of a request, by name, as only a reader who knows the number can tell."""
    pattern = r"<([a-z]+)-([0-9a-f]+)>\n(.*?)\n</\1-\2>"
    return {name: text for name, _, text in re.findall(pattern, request.user, re.DOTALL)}


def verdict(label: str) -> str:
    return json.dumps({"explanation": "So it is.", "verdict": label})


def winner(label: str) -> str:
    return json.dumps({"explanation": "So it is.", "winner": label})


def claims(*support: str) -> str:
    return json.dumps({"claims": [{"claim": "c", "support": each} for each in support]})


def rows_of(rows: list[dict[str, Any]], selection: Selection | None = None) -> SelectedRows:
    columns = frozenset({"id", "summary", "documents", *COLUMNS} - {"context"})
    return select_rows(canonical_batches(rows, columns), COLUMNS, selection)


def batches_of(rows: list[dict[str, Any]], size: int) -> list[pa.RecordBatch]:
    return pa.Table.from_pylist(rows).to_batches(max_chunksize=size)


def summary_of(result: JudgeResult) -> dict[str, Any]:
    """The summary of what a job gives back."""
    return JudgeJob("dump", "http:http://here/v1#judge").summarize(result).as_dict()

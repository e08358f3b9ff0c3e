"""Covers: hosts of a dump that do not answer. Compared against: a port that nobody listens on.

Run: pytest tests/io/test_io_remote.py
"""

from __future__ import annotations

import socket
import time

import pytest
from program import odqa_fast, refused

import odqa_fast as oq


@pytest.fixture
def closed() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    "uri",
    [
        "s3://bucket/dump.jsonl?endpoint_override=127.0.0.1:{port}&scheme=http",
        "s3://bucket/dump.jsonl?endpoint_override=http%3A%2F%2F127.0.0.1%3A{port}",
        "gs://anonymous@bucket/dump.jsonl?endpoint_override=127.0.0.1:{port}&scheme=http",
        "hdfs://127.0.0.1:{port}/dump.jsonl",
    ],
)
def test_a_host_that_is_not_there_is_named_soon(uri: str, closed: int) -> None:
    start = time.monotonic()
    with pytest.raises(oq.DataError, match=f"host 127.0.0.1, port {closed}, cannot be reached"):
        oq.score_file(uri.format(port=closed))
    # pyarrow tries for six seconds where a connection is refused, and longer where nobody answers.
    assert time.monotonic() - start < 3


def test_a_host_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        asked.append((address, timeout))
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(oq.DataError, match=r"host far\.example, port 443, cannot .* timed out"):
        oq.score_file("s3://bucket/x.jsonl?endpoint_override=far.example")
    assert asked == [(("far.example", 443), 10.0)]


def test_the_command_says_so_in_one_line(closed: int) -> None:
    uri = f"s3://bucket/dump.jsonl?endpoint_override=127.0.0.1:{closed}&scheme=http"
    refused(odqa_fast("score", uri), 3, f"the host 127.0.0.1, port {closed}, cannot be reached")

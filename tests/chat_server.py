"""A chat endpoint on this machine that plays what a test has written down."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal


@dataclass(frozen=True)
class Play:
    """What the endpoint does with one request.

    `body` stands for the whole body of the answer where it is given. `hang` never answers, `drop`
    closes the connection at once, `cut` in the middle of the body.
    """

    text: str | None = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    finish: str | None = "stop"
    refusal: str | None = None
    tokens: tuple[Any, Any] = (10, 5)
    thought: str | None = None
    act: Literal["answer", "hang", "drop", "cut"] = "answer"

    def written(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.status != 200:
            return json.dumps({"error": {"message": self.text}}).encode()
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        if self.thought is not None:
            message["reasoning_content"] = self.thought
        usage = {"prompt_tokens": self.tokens[0], "completion_tokens": self.tokens[1]}
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        return json.dumps({"choices": [choice], "usage": usage}).encode()


#: Told the body of a request and how many came before it.
Script = Callable[[dict[str, Any], int], Play]


class ChatServer(ThreadingHTTPServer):
    """Runs a script; `bodies` and `headers` are what it was sent."""

    daemon_threads = True
    # A process of its own may have many connections to begin with.
    request_queue_size = 128

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()
        self.lock = threading.Lock()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def engine(self, model: str = "test-judge") -> str:
        """The name by which the program asks for it."""
        return f"http:{self.base}#{model}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            before = len(self.server.bodies)
            self.server.bodies.append(body)
            self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
        play = self.server.script(body, before)
        if self.path != "/v1/chat/completions":
            play = Play("no such path", 404)
        if play.act == "hang":
            self.server.over.wait()
        if play.act in ("hang", "drop"):
            self.close_connection = True
            return
        written = play.written()
        self.send_response(play.status)
        for name, value in {"Content-Type": "application/json", **play.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        if play.act == "cut":
            self.wfile.write(written[: len(written) // 2])
            self.close_connection = True
            return
        self.wfile.write(written)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is the tests'."""


@contextmanager
def chat_server(script: Script | list[Play] | Play) -> Iterator[ChatServer]:
    """An endpoint that plays a script, or a list of plays in turn, the last of them for good."""
    if isinstance(script, Play):
        script = [script]
    if isinstance(script, list):
        plays = script
        server = ChatServer(lambda body, before: plays[min(before, len(plays) - 1)])
    else:
        server = ChatServer(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()

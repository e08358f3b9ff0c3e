"""Models behind an OpenAI-compatible chat endpoint: vLLM, llama.cpp, Ollama, hosted ones.

Requests are sent a bounded number at a time, by an event loop in a thread of its own, so that this
also works where a loop already runs. What may pass (a busy or failing server, a lost connection)
is tried again; what cannot (no access, no credit, no such model) ends the run at once. A field that
the endpoint does not take is left out from then on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from email.utils import parsedate_to_datetime
from itertools import count
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.chat import (
    FINAL_KINDS,
    Dialect,
    NoCompletionError,
    read_complaint,
    read_completion,
)
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.patience import Failure, Patience
from odqa_fast.errors import EngineError, OdqaError, OdqaWarning

#: See `engines.opening`.
ARGUMENT = "<base-url>#<model>"
HONOURS = frozenset(
    {
        "timing",
        "temperature",
        "top_p",
        "seed",
        "thinking",
        "key_env",
        "timeout_seconds",
        "retries",
        "concurrency",
        "request_fields",
    }
)

DEFAULT_KEY_ENV = "ODQA_FAST_API_KEY"

_LARGEST_BODY = 4 << 20

#: Statuses that may pass: time-outs, too many requests, a server in trouble.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_HOPELESS = {
    401: "does not accept the key",
    402: "asks for payment",
    403: "refuses access",
    404: "knows no such path or model",
    **dict.fromkeys((301, 302, 307, 308), "sends to another address"),
}
#: Statuses with which endpoints refuse a field; llama-cpp-python's says 500.
_REFUSING = frozenset({400, 422, 500})


def open_engine(argument: str, options: EngineOptions) -> HttpEngine:
    """The engine of `<base-url>#<model>`.

    Raises:
        OdqaError: see `HttpEngine`.
    """
    return HttpEngine(f"http:{argument}", options)


class HttpEngine:
    """An engine (see `engines.base`) of `http:<base-url>#<model>`.

    Its signature as opened says how the endpoint is asked; once replies came, how it was really
    asked, without the fields that it does not take.

    Args:
        name: for instance `http:http://localhost:8000/v1#qwen2.5-7b-instruct`.
        options: how it is asked.
        clock: tells seconds, from any start.
        sleep: waits so many seconds.
        jitter: a random number in [0, 1).

    Raises:
        OdqaError: the name is not of that form, or the variable that `key_env` names holds no key.
    """

    facts: Mapping[str, object] = MappingProxyType({})
    max_input_tokens: int | None = None

    def __init__(
        self,
        name: str,
        options: EngineOptions | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._base, model = _parsed(name)
        self.id = name
        self._options = options or EngineOptions()
        self._clock = clock
        self._patience = Patience(name, self._options.retries, clock, sleep, jitter)
        self._key = _key_from_environment(self._options.key_env)
        self._dialect = Dialect.of(model, self._options)
        self._said = ""

    @property
    def signature(self) -> str:
        """The name, and how the endpoint is asked."""
        sampling = {"temperature": "unset", **self._dialect.sampling}
        tags = [
            f"{name}:{value}" if isinstance(value, str) else f"{name}:{value:g}"
            for name, value in sampling.items()
        ]
        if self._dialect.more:
            more = json.dumps(self._dialect.more, sort_keys=True, separators=(",", ":"))
            tags.append(f"fields:{more}")
        left_out = self._dialect.left_out(self._options)
        if left_out := [name for name in left_out if name not in sampling]:
            tags.append(f"without:{'+'.join(left_out)}")
        return f"{self.id};{','.join(tags)}"

    def count_tokens(self, request: Request) -> int | None:
        """None: only the endpoint could say."""
        return None

    def close(self) -> None:
        """Nothing is open between calls of `generate`."""

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, as they come.

        Raises:
            EngineError: no HTTP client is installed, the endpoint cannot be reached at all, gives
                no access, refuses all that it is asked, or asks to wait longer than
                `patience.LONGEST_WAIT_SECONDS`.
        """
        done: SimpleQueue[tuple[int, Reply] | Exception | None] = SimpleQueue()
        taken = asyncio.Semaphore(0)
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = Future()

        async def all_of_them() -> None:
            started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
            await self._all(requests, done.put, taken)

        def work() -> None:
            try:
                asyncio.run(all_of_them())
            except asyncio.CancelledError:
                pass  # nobody waits for more
            except BaseExceptionGroup as group:
                done.put(_first(group))
            except Exception as error:
                done.put(error) if started.done() else started.set_exception(error)
            else:
                done.put(None)

        thread = threading.Thread(target=work, name="odqa-fast-http", daemon=True)
        thread.start()
        loop, task = started.result()

        def tell(what: Callable[[], object]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(what)

        try:
            while (item := done.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
                tell(taken.release)
        finally:
            tell(lambda: task and task.cancel())
            thread.join()
        self._say_what_is_left_out()

    def _say_what_is_left_out(self) -> None:
        names = ", ".join(self._dialect.left_out(self._options))
        if names != self._said:
            self._said = names
            warnings.warn(
                f"{self.id} does not take {names}: replies are made without, and cut here where "
                "it would have cut them.",
                OdqaWarning,
                stacklevel=3,
            )

    async def _all(
        self,
        requests: Sequence[Request],
        put: Callable[[tuple[int, Reply]], None],
        taken: asyncio.Semaphore,
    ) -> None:
        http = _client_library()
        waiting = iter(enumerate(requests))
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        at_once = 1 if self._options.timing == "each" else self._options.concurrency
        # The limits are ours: the whole of a try has to end in time, not each of its steps.
        async with http.AsyncClient(headers=headers, timeout=None) as client:

            async def worker() -> None:
                for at, request in waiting:
                    put((at, await self._answer(client, request)))
                    # A reply that is not taken yet is not kept yet, and would be lost with us.
                    await taken.acquire()

            async with asyncio.TaskGroup() as group:
                for _ in range(min(at_once, len(requests))):
                    group.create_task(worker())

    async def _answer(self, client: Any, request: Request) -> Reply:
        for attempt in count(1):
            await self._patience.ready()
            outcome = await self._try(client, request)
            if isinstance(outcome, Reply):
                self._patience.succeeded()
                return replace(outcome, attempts=attempt)
            if not self._patience.try_again(outcome, attempt):
                failed = outcome.reply or Reply("", "error")
                return replace(failed, error=outcome.error, attempts=attempt)
        raise AssertionError("count() does not end")

    async def _try(self, client: Any, request: Request) -> Reply | Failure:
        http = _client_library()
        asked = replace(self._dialect)
        limit = self._options.timeout_seconds
        started = self._clock()
        try:
            async with asyncio.timeout(limit):
                status, headers, content = await self._post(client, asked.body(request))
        except TimeoutError:
            return Failure("timed out", f"no reply in {limit:g} s", may_pass=True)
        except http.ConnectError as error:
            return Failure("no connection", self._shown(str(error)), may_pass=True)
        except (http.HTTPError, http.InvalidURL) as error:
            return Failure("connection lost", self._shown(str(error) or repr(error)), True)
        if status == 200:
            return self._read(content, request, asked, self._clock() - started)
        complaint = read_complaint(content)
        said = self._shown(complaint.text)
        if status in _REFUSING and self._dialect.learn(complaint, request, asked):
            return await self._try(client, request)
        if status in _HOPELESS or "insufficient_quota" in said:
            known = _HOPELESS.get(status, "has no credit left")
            what = f"{known} (HTTP {status}: {said})"
            raise self._patience.stopped(what, self._access_hint(status))
        return Failure(f"HTTP {status}", said, status in _PASSING, _retry_after(headers))

    def _read(
        self, content: bytes, request: Request, asked: Dialect, seconds: float
    ) -> Reply | Failure:
        try:
            reply = read_completion(
                content, request, seconds, secret=self._key, limited=bool(asked.limits[0])
            )
        except NoCompletionError:
            shown = self._shown(content.decode("latin-1"))
            return Failure("not a chat completion", shown, may_pass=True)
        if reply.finish != "error":
            return reply
        kind, _, detail = reply.error.partition(": ")
        # An error in a reply is of the endpoint, as one in its place is.
        return Failure(
            kind,
            self._shown(detail),
            may_pass=kind not in FINAL_KINDS,
            reply=None if kind == "error in the reply" else reply,
        )

    async def _post(
        self, client: Any, body: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, str], bytes]:
        async with client.stream("POST", f"{self._base}/chat/completions", json=body) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > _LARGEST_BODY:
                    break
            return response.status_code, response.headers, bytes(content)

    def _shown(self, text: str) -> str:
        """Foreign text on one line, not too long, without the key that it may repeat."""
        text = text[:4000]
        if self._key:
            text = text.replace(self._key, "***")
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= 300 else f"{line[:297]}..."

    def _access_hint(self, status: int) -> str:
        if status == 404 or status < 400:
            return "The form is http:<base-url>#<model>; most base URLs end in /v1."
        variable = self._options.key_env or DEFAULT_KEY_ENV
        held = "holds a key" if self._key else "holds none"
        return f"The key is read from the environment variable {variable}, which {held}."


def _key_from_environment(named: str | None) -> str:
    """The endpoint's key; nothing where no variable is named and the usual one is not set.

    Raises:
        OdqaError: the variable that is named holds no key.
        EngineError: the variable holds what no header may.
    """
    variable = named or DEFAULT_KEY_ENV
    key = os.environ.get(variable, "").strip()
    if named is not None and not key:
        raise OdqaError(
            f"--key-env {named}: there is no such environment variable, or no key in it."
        )
    if not (key.isascii() and key.isprintable()):
        raise EngineError("holds something that is no key.", where=f"variable {variable}")
    return key


def _parsed(name: str) -> tuple[str, str]:
    """The base URL and the model of `http:<base-url>#<model>`."""
    base, _, model = name.removeprefix("http:").partition("#")
    hint = "E.g. http:http://localhost:8000/v1#qwen2.5-7b-instruct"
    try:
        url = urlsplit(base)
        known = url.scheme in ("http", "https") and bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        known = False
    if not known or not model or "|" in name or not name.isprintable():
        raise OdqaError(f"{name!r} is no http:<base-url>#<model>.", hint=hint)
    if url.username or url.password or url.query:
        raise OdqaError("a base URL takes no user, password or query.", hint=hint)
    return base.rstrip("/"), model


def _client_library() -> Any:
    try:
        import httpx2
    except ImportError:
        raise EngineError(
            "models over HTTP need the library 'httpx2'.", hint="pip install 'odqa-fast[http]'"
        ) from None
    return httpx2


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds a server asks to wait, which it may give as a date (RFC 9110, 10.2.3); None
    where it asks for none, and so leaves the waiting to its clients."""
    value = headers.get("retry-after", "").strip()
    try:
        if value.replace(".", "", 1).isdigit():
            wait = float(value)
        else:
            wait = parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return wait if wait > 0 else None


def _first(group: BaseExceptionGroup[BaseException]) -> Exception:
    """What went wrong first in a group of tasks; the others were only told to end."""
    error = group.exceptions[0]
    if isinstance(error, BaseExceptionGroup):
        return _first(error)
    return error if isinstance(error, Exception) else EngineError(f"ended by {error!r}.")

"""Models behind an OpenAI-compatible chat endpoint: vLLM, llama.cpp, Ollama, hosted ones.

Requests are sent a bounded number at a time, by an event loop in a thread of its own, so that this
also works where a loop already runs. What may pass (a busy or failing server, a lost connection)
is tried again; what cannot (no access, no credit, no such model) ends the run at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from itertools import count
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

from odqa_fast.errors import EngineError, OdqaError, OdqaWarning
from odqa_fast.inference.chat import Dialect, NoCompletionError, read_complaint, read_completion
from odqa_fast.inference.engine import Reply, Request

DEFAULT_KEY_ENV = "ODQA_FAST_API_KEY"

#: A server that asks for more patience than this is left for a later run.
LONGEST_WAIT_SECONDS = 300.0
_FIRST_WAIT_SECONDS = 1.0
_LARGEST_BODY = 4 << 20
#: So many requests in a row that failed for good, and the endpoint is given up.
_LONGEST_FAILURE = 20

_LATER = "Run again later."

#: Statuses that may pass: time-outs, too many requests, a server in trouble.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_HOPELESS = {
    401: "does not accept the key",
    402: "asks for payment",
    403: "refuses access",
    404: "knows no such path or model",
    **dict.fromkeys((301, 302, 307, 308), "sends to another address"),
}


@dataclass(frozen=True)
class HttpOptions:
    """How an endpoint is asked.

    Attributes:
        key_env: the environment variable that holds the key; no key is sent where it is not set.
            No other place is looked at, and no other service's key is ever sent.
        concurrency: how many requests are under way at most.
        timeout_seconds: the longest one try may take.
        retries: how often a try that failed is repeated.
        temperature: of sampling; None leaves it to the endpoint.
    """

    key_env: str = DEFAULT_KEY_ENV
    concurrency: int = 8
    timeout_seconds: float = 300.0
    retries: int = 5
    temperature: float | None = 0.0


@dataclass(frozen=True)
class _Failure:
    """A try that brought no reply; `wait_seconds` is what the server asked for."""

    kind: str
    detail: str
    may_pass: bool
    wait_seconds: float | None = None


class HttpEngine:
    """An engine (see `inference.engine`) of `http:<base-url>#<model>`.

    Args:
        name: for instance `http:http://localhost:8000/v1#qwen2.5-7b-instruct`.
        options: how it is asked.
        clock: tells seconds, from any start.
        sleep: waits so many seconds.
        jitter: a random number in [0, 1).

    Raises:
        OdqaError: the name is not of that form.
    """

    max_input_tokens: int | None = None

    def __init__(
        self,
        name: str,
        options: HttpOptions | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._base, model = _parsed(name)
        self.id = name
        self._options = options or HttpOptions()
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        temperature = self._options.temperature
        shown = "unset" if temperature is None else f"{temperature:g}"
        self.signature = f"{name};temperature:{shown}"
        self._key = ""
        self._resume_at = 0.0
        self._answered = False
        self._failed_in_a_row = 0
        self._dialect = Dialect(model, temperature)

    def count_tokens(self, request: Request) -> int | None:
        """None: only the endpoint could say."""
        return None

    def close(self) -> None:
        """Nothing is open between calls of `generate`."""

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, as they come.

        Raises:
            EngineError: no HTTP client is installed, the endpoint cannot be reached at all, gives
                no access, or asks to wait longer than `LONGEST_WAIT_SECONDS`.
        """
        self._key = self._key_from_environment()
        asked_for_schema = not self._dialect.without_schema
        done: SimpleQueue[tuple[int, Reply] | Exception | None] = SimpleQueue()
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = Future()

        async def all_of_them() -> None:
            started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
            await self._all(requests, done.put)

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
        try:
            while (item := done.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(lambda: task and task.cancel())
            thread.join()
        if asked_for_schema and self._dialect.without_schema:
            warnings.warn(
                f"{self.id} cannot hold replies to a JSON schema: they are read as they come.",
                OdqaWarning,
                stacklevel=2,
            )

    async def _all(
        self, requests: Sequence[Request], put: Callable[[tuple[int, Reply]], None]
    ) -> None:
        http = _client_library()
        waiting = iter(enumerate(requests))
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        # The limits are ours: the whole of a try has to end in time, not each of its steps.
        async with http.AsyncClient(headers=headers, timeout=None) as client:

            async def worker() -> None:
                for at, request in waiting:
                    put((at, await self._answer(client, request)))

            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._options.concurrency, len(requests))):
                    group.create_task(worker())

    async def _answer(self, client: Any, request: Request) -> Reply:
        for attempt in count(1):
            while (ahead := self._resume_at - self._clock()) > 0:
                await self._sleep(ahead)
            outcome = await self._try(client, request)
            if isinstance(outcome, Reply):
                self._answered, self._failed_in_a_row = True, 0
                return replace(outcome, attempts=attempt)
            if not outcome.may_pass or attempt > self._options.retries:
                if outcome.kind == "no connection" and not self._answered:
                    raise self._stopped(f"cannot be reached: {outcome.detail}", "Is it running?")
                error = f"{outcome.kind}: {outcome.detail}"
                self._failed_in_a_row += outcome.may_pass
                if self._failed_in_a_row == _LONGEST_FAILURE:
                    raise self._stopped(f"has failed {_LONGEST_FAILURE} requests ({error})", _LATER)
                return Reply("", "error", error=error, attempts=attempt)
            self._back_off(attempt, outcome.wait_seconds)
        raise AssertionError("count() does not end")

    def _back_off(self, attempt: int, asked_seconds: float | None) -> None:
        """Makes every request wait, for what one of them met the others will meet."""
        wait = asked_seconds
        if wait is None:
            # Waits that double, each of random length, so that clients do not come back in step.
            wait = _FIRST_WAIT_SECONDS * 2 ** (attempt - 1) * (0.5 + self._jitter() / 2)
        elif wait > LONGEST_WAIT_SECONDS:
            raise self._stopped(f"asks to wait {wait:.0f} s", _LATER)
        self._resume_at = max(self._resume_at, self._clock() + min(wait, LONGEST_WAIT_SECONDS))

    async def _try(self, client: Any, request: Request) -> Reply | _Failure:
        http = _client_library()
        dialect = replace(self._dialect)
        limit = self._options.timeout_seconds
        started = self._clock()
        try:
            async with asyncio.timeout(limit):
                status, headers, content = await self._post(client, dialect.body(request))
        except TimeoutError:
            return _Failure("timed out", f"no reply in {limit:g} s", may_pass=True)
        except http.ConnectError as error:
            return _Failure("no connection", self._shown(str(error)), may_pass=True)
        except (http.HTTPError, http.InvalidURL) as error:
            return _Failure("connection lost", self._shown(str(error) or repr(error)), True)
        if status == 200:
            try:
                reply = read_completion(content, request, self._clock() - started)
            except NoCompletionError:
                shown = self._shown(content.decode("latin-1"))
                return _Failure("not a chat completion", shown, may_pass=True)
            return replace(reply, error=self._shown(reply.error))
        said = self._shown(read_complaint(content))
        if status in (400, 422, 500) and self._dialect.learn(said, dialect):
            return await self._try(client, request)
        if status in _HOPELESS or "insufficient_quota" in said:
            known = _HOPELESS.get(status, "has no credit left")
            raise self._stopped(f"{known} (HTTP {status}: {said})", self._access_hint(status))
        return _Failure(f"HTTP {status}", said, status in _PASSING, _retry_after(headers))

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

    def _stopped(self, what: str, hint: str) -> EngineError:
        return EngineError(f"the endpoint {what}.", where=self.id, hint=hint)

    def _access_hint(self, status: int) -> str:
        if status == 404 or status < 400:
            return "The form is http:<base-url>#<model>; most base URLs end in /v1."
        held = "holds a key" if self._key else "holds none"
        return (
            f"The key is read from the environment variable {self._options.key_env}, which {held}."
        )

    def _key_from_environment(self) -> str:
        key = os.environ.get(self._options.key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise EngineError(
                "holds something that is no key.", where=f"variable {self._options.key_env}"
            )
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
    """The seconds a server asks to wait, which it may give as a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    try:
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time()) if value else None
    except (ValueError, OverflowError):
        return None


def _first(group: BaseExceptionGroup[BaseException]) -> Exception:
    """What went wrong first in a group of tasks; the others were only told to end."""
    error = group.exceptions[0]
    if isinstance(error, BaseExceptionGroup):
        return _first(error)
    return error if isinstance(error, Exception) else EngineError(f"ended by {error!r}.")

"""The chat completions that OpenAI-compatible endpoints speak: requests written, replies read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from odqa_fast.inference.engine import Reply, Request
from odqa_fast.inference.thoughts import cut, parted, sent_apart

#: What `response_format` is for a schema.
SchemaForm = Callable[[Any], dict[str, Any] | None]

#: Ways to ask for a reply to a schema, that of OpenAI and that of others; the last resort is not to
#: ask.
SCHEMA_FORMS: tuple[SchemaForm, ...] = (
    lambda schema: {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": schema},
    },
    lambda schema: {"type": "json_object", "schema": schema},
    lambda schema: None,
)


class NoCompletionError(ValueError):
    """A body that is no chat completion."""


@dataclass
class Dialect:
    """How one endpoint wants to be asked, as far as that has been found out.

    Attributes:
        model: the model's name there.
        temperature: None leaves it to the endpoint.
        forms: ways to ask for a schema, the first of which is used.
        limit: what the longest reply is called.
    """

    model: str
    temperature: float | None
    forms: tuple[SchemaForm, ...] = SCHEMA_FORMS
    limit: str = "max_tokens"

    def body(self, request: Request) -> dict[str, Any]:
        """A request as JSON."""
        turns = {"system": request.system, "user": request.user, "assistant": request.prefill}
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": role, "content": text}
                for role, text in turns.items()
                if text or role == "user"
            ],
            self.limit: request.max_new_tokens + request.thought_tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if request.stop and not request.thought_tokens:
            # With room for a thought, which a stop text may end as well, the reply is cut here.
            body["stop"] = list(request.stop)
        if request.schema and (wanted := self.forms[0](json.loads(request.schema))):
            body["response_format"] = wanted
        return body

    def learn(self, said: str, refused: Dialect) -> bool:
        """Whether a request that was refused should be sent anew, in words the endpoint knows.

        Args:
            said: why it was refused.
            refused: how it was asked; another request may have found the same out meanwhile.
        """
        if "max_completion_tokens" in said and refused.limit == "max_tokens":
            self.limit = "max_completion_tokens"
        elif any(word in said for word in ("response_format", "json_schema")):
            if self.forms == refused.forms and len(self.forms) > 1:
                self.forms = self.forms[1:]
        return self != refused

    @property
    def without_schema(self) -> bool:
        """Whether the endpoint knows no schema at all."""
        return len(self.forms) == 1


def read_completion(content: bytes, request: Request, seconds: float) -> Reply:
    """The reply in a body.

    Raises:
        NoCompletionError: it holds none.
    """
    try:
        read = json.loads(content)
        choice = read["choices"][0]
        message, ended = choice["message"], choice.get("finish_reason")
        text, refusal = _text(message.get("content")), message.get("refusal")
        usage = read.get("usage") or {}
        apart = sent_apart(message, usage)
        used = [int(usage.get(f"{side}_tokens") or 0) for side in ("prompt", "completion")]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise NoCompletionError from None
    reply = Reply("", "error", tokens_in=used[0], tokens_out=used[1], seconds=seconds)
    if refusal or ended == "content_filter":
        return replace(reply, error=f"refused: {refusal or 'by the content filter'}")
    said = parted(text, apart)
    text, stopped = cut(said.text.removeprefix(request.prefill), request.stop)
    cut_off = said.is_open or (ended == "length" and not stopped)
    finish: Literal["stop", "length"] = "length" if cut_off else "stop"
    return replace(reply, text=text, finish=finish, thought=said.thought)


def read_complaint(content: bytes) -> str:
    """What a refusal says, in whichever of the usual places."""
    text = content.decode("utf-8", "replace")
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inner = read.get("error", read) if isinstance(read, dict) else read
    if isinstance(inner, dict):
        parts = [inner.get(key) for key in ("message", "detail", "code", "type")]
        return " ".join(str(part) for part in parts if part) or str(inner)
    return str(inner)


def _text(content: object) -> str:
    """The text of a message, whose content may come in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return "" if content is None else str(content)

"""The chat completions that OpenAI-compatible endpoints speak: requests written, replies read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.thoughts import Parted, cut, find_thought, split_thought

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

#: What the longest reply is called: of old, by OpenAI's later models; the last resort is to cut it.
LIMITS = ("max_tokens", "max_completion_tokens", "")

#: What `finish_reason` is for a whole reply: of OpenAI, of Hugging Face's servers, of Anthropic's,
#: xAI's, Cohere's and Google's compatible endpoints.
_WHOLE = frozenset({"stop", "eos", "eos_token", "stop_sequence", "end_turn", "complete"})
#: For one that ran into a limit: of OpenAI, Anthropic and Google, Mistral, z.AI.
_CUT = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
#: For one that was withheld: of OpenAI, Google, Anthropic, z.AI.
_WITHHELD = frozenset({"content_filter", "safety", "refusal", "sensitive"})

#: Kinds of errors that the same request meets again.
FINAL_KINDS = frozenset({"refused", "cut off"})

#: How endpoints word that they do not take a field.
_REFUSAL = re.compile(
    r"unsupported|n.t support|not (be )?(support|permit|allow|implement|available|a valid field)"
    r"|unknown|unrecogni[sz]ed|unexpected|forbidden|extraneous|deprecated|instead"
    r"|only (the default|\S+ is (allowed|supported))",
    re.IGNORECASE,
)
#: What they say it of.
_OF_FIELDS = re.compile(r"parameter|argument|field|propert|input|\bname\b|support", re.IGNORECASE)
_OF_SCHEMAS = re.compile(r"response_format|json_schema")
_SURROGATES = re.compile("[\ud800-\udfff]")

#: A shorter key may be any word ("EMPTY", "none"), and stays where a reply holds it.
_SHORTEST_SECRET = 8
#: Where nobody counts tokens: so many characters to one, which is usual for English.
_CHARS_PER_TOKEN = 4
_LARGEST_COUNT = 1 << 40


class NoCompletionError(ValueError):
    """A body that is no chat completion."""


@dataclass(frozen=True)
class Complaint:
    """Why an endpoint takes no request.

    Attributes:
        text: in its words.
        about: the fields that it names as the reason; none where only its words tell.
    """

    text: str
    about: frozenset[str] = frozenset()

    def refused(self, sent: Collection[str]) -> list[str]:
        """Which of the fields that were sent it does not take."""
        if not _REFUSAL.search(self.text):
            return []
        if self.about:
            return [name for name in sent if name in self.about]
        # A server in trouble may say of an unexpected stop that it comes from the temperature.
        named = r"['\"`]{}['\"`]" if not _OF_FIELDS.search(self.text) else r"\b{}\b"
        return [name for name in sent if re.search(named.format(name), self.text)]


@dataclass
class Dialect:
    """How one endpoint wants to be asked, as far as that has been found out.

    Attributes:
        model: the model's name there.
        sampling: `temperature`, `top_p` and `seed`, those that are sent.
        more: other fields that every request has.
        forms: ways to ask for a schema, the first of which is used.
        limits: names of the longest reply, the first of which is used; none where it is empty.
        stops: whether stop texts are sent; replies are cut at them here as well.
    """

    model: str
    sampling: Mapping[str, float]
    more: Mapping[str, Any]
    forms: tuple[SchemaForm, ...] = SCHEMA_FORMS
    limits: tuple[str, ...] = LIMITS
    stops: bool = True

    @staticmethod
    def of(model: str, options: EngineOptions) -> Dialect:
        """How it is asked at first."""
        sampling = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "seed": options.seed if options.draws else None,
        }
        more = dict(options.request_fields)
        if options.thinking:
            # vLLM, SGLang and llama.cpp hand these to the model's chat template.
            arguments = {"enable_thinking": options.thinking == "on"}
            more["chat_template_kwargs"] = {**more.get("chat_template_kwargs", {}), **arguments}
        return Dialect(model, {k: v for k, v in sampling.items() if v is not None}, more)

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
            **self.more,
        }
        return body | self._dispensable(request)

    def _dispensable(self, request: Request) -> dict[str, Any]:
        """The fields without which a request can do."""
        fields: dict[str, Any] = dict(self.sampling)
        if self.limits[0]:
            fields[self.limits[0]] = request.max_new_tokens + request.thought_tokens
        if request.stop and self.stops and not request.thought_tokens:
            # With room for a thought, which a stop text may end as well, the reply is cut here.
            fields["stop"] = list(request.stop)
        if request.schema and (wanted := self.forms[0](json.loads(request.schema))):
            fields["response_format"] = wanted
        return fields

    def learn(self, complaint: Complaint, request: Request, asked: Dialect) -> bool:
        """Whether a request that was refused should be sent anew, in words the endpoint knows.

        Args:
            complaint: why it was refused.
            request: what was refused.
            asked: how it was asked; another request may have found the same out meanwhile.
        """
        sent = asked._dispensable(request)
        refused = complaint.refused(sent)
        if "response_format" in sent and _OF_SCHEMAS.search(complaint.text):
            # Endpoints word it in many ways that they know another form than the one they got.
            refused.append("response_format")
        for name in refused:
            if name == "response_format" and self.forms == asked.forms:
                self.forms = self.forms[1:]
            elif name == "stop":
                self.stops = False
            elif name == asked.limits[0] and self.limits == asked.limits:
                self.limits = self.limits[1:]
            elif name in self.sampling:
                self.sampling = {k: v for k, v in self.sampling.items() if k != name}
        return self != asked

    def left_out(self, options: EngineOptions) -> list[str]:
        """The fields that the endpoint was to be sent and does not take."""
        wanted = Dialect.of(self.model, options).sampling
        missing = {
            **{name: name not in self.sampling for name in wanted},
            "max_tokens": not self.limits[0],
            "stop": not self.stops,
            "response_format": len(self.forms) == 1,
        }
        return [name for name, is_missing in missing.items() if is_missing]


def read_completion(
    content: bytes, request: Request, seconds: float, *, secret: str = "", limited: bool = True
) -> Reply:
    """The reply in a body; one with an `error` where the body says that there is none.

    Args:
        content: the body.
        request: what was asked.
        seconds: what the endpoint took.
        secret: what no text may repeat.
        limited: whether the endpoint was told the longest reply; else it is cut here.

    Raises:
        NoCompletionError: the body is no chat completion.
    """
    try:
        read = _cleaned(json.loads(content), secret if len(secret) >= _SHORTEST_SECRET else "")
        usage = _usage(read.get("usage"))
        reply = Reply("", "error", tokens_in=usage[0], tokens_out=usage[1], seconds=seconds)
        if complaint := _error_in(read):
            return replace(reply, error=f"error in the reply: {complaint}")
        choice = read["choices"][0]
        if complaint := _error_in(choice):
            return replace(reply, error=f"error in the reply: {complaint}")
        message, reason = choice["message"], choice.get("finish_reason")
        text, refusal = _text(message.get("content")), message.get("refusal")
        said = split_thought(text, find_thought(message, read.get("usage")))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise NoCompletionError from None
    ended = str(reason or "").casefold()
    if refusal or ended in _WITHHELD:
        return replace(reply, error=f"refused: {refusal or f'the endpoint says {ended}'}")
    if not ended:
        return replace(reply, error="no finish_reason: it is not said how the reply ended")
    if ended not in _WHOLE | _CUT:
        return replace(reply, error=f"unknown finish_reason: {reason}")
    reply = replace(reply, thought=said.thought)
    return _ended(reply, request, said, is_cut=ended in _CUT, limited=limited)


def _ended(reply: Reply, request: Request, said: Parted, *, is_cut: bool, limited: bool) -> Reply:
    """A reply that ended, cut at the stop texts and, where nobody else did, at its limit."""
    finish: Literal["stop", "length"] = "length" if is_cut else "stop"
    if said.is_open:
        return replace(reply, finish="length")
    text = said.text.removeprefix(request.prefill)
    if not limited and text:
        # Of the tokens that are counted, the thought has its part.
        tokens = reply.tokens_out * len(text) // (len(text) + len(said.thought))
        tokens = tokens or -(-len(text) // _CHARS_PER_TOKEN)
        if tokens > request.max_new_tokens:
            text, finish = text[: len(text) * request.max_new_tokens // tokens], "length"
    text, stopped = cut(text, request.stop)
    if stopped:
        finish = "stop"
    if not text.strip():
        why = "cut off: at its limit there was" if finish == "length" else "empty reply: there is"
        return replace(reply, error=f"{why} no text")
    return replace(reply, text=text, finish=finish)


def read_complaint(content: bytes) -> Complaint:
    """What a refusal says, in whichever of the usual places."""
    text = content.decode("utf-8", "replace")
    try:
        read = json.loads(text)
        inner = read.get("error", read) if isinstance(read, dict) else read
        if not isinstance(inner, dict):
            return Complaint(str(inner))
        parts = [inner.get(key) for key in ("message", "detail", "code", "type", "metadata")]
        about = {inner.get("param"), *_places(inner.get("detail"))}
        said = " ".join(str(part) for part in parts if part) or str(inner)
        return Complaint(said, frozenset(each for each in about if isinstance(each, str) and each))
    except (ValueError, TypeError, RecursionError):
        return Complaint(text)


def _places(detail: object) -> list[object]:
    """The places that pydantic names, e.g. of `[{"loc": ["body", "seed"], ...}]`."""
    errors = detail if isinstance(detail, list) else []
    found = [each.get("loc") for each in errors if isinstance(each, dict)]
    return [part for place in found if isinstance(place, list) for part in place]


def _error_in(read: Mapping[str, Any]) -> str:
    """What a body or a choice of it says went wrong; empty where it says nothing of the kind."""
    if read.get("error") or read.get("object") == "error":
        return read_complaint(json.dumps(read).encode()).text or "it does not say which"
    return ""


def _cleaned(value: Any, secret: str) -> Any:
    """JSON whose texts are all text (half a surrogate pair is none) and do not hold a secret."""
    if isinstance(value, str):
        text = _SURROGATES.sub("\ufffd", value)
        return text.replace(secret, "***") if secret else text
    if isinstance(value, list):
        return [_cleaned(each, secret) for each in value]
    if isinstance(value, dict):
        return {_cleaned(name, secret): _cleaned(each, secret) for name, each in value.items()}
    return value


def _usage(usage: object) -> tuple[int, int]:
    """Tokens of the prompt and the reply; 0 for what is no count."""
    found = usage if isinstance(usage, dict) else {}
    sides = (found.get("prompt_tokens"), found.get("completion_tokens"))
    prompt, completion = (n if type(n) is int and 0 <= n <= _LARGEST_COUNT else 0 for n in sides)
    return prompt, completion


def _text(content: object) -> str:
    """The text of a message, whose content may come in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if content is None or isinstance(content, str):
        return content or ""
    raise NoCompletionError

"""`OnnxEngine`: a model folder that runs prompts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.card import ModelCard, load_card
from odqa_fast.engines.extractive import ExtractiveReader
from odqa_fast.engines.generate.continuous_batching import Slots
from odqa_fast.engines.generate.decoding import Decoding
from odqa_fast.engines.generate.dynamic_cache import EncoderDecoder, PaddedDecoder
from odqa_fast.engines.generate.sampling import Sampling
from odqa_fast.engines.generate.scheduling import Limits
from odqa_fast.engines.generate.shared_cache import SharedCache
from odqa_fast.engines.generate.static_batching import Batches
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.session import DeviceMemoryError, Runtime, open_runtime
from odqa_fast.engines.tokens import Codec, Ids
from odqa_fast.errors import ModelError, OdqaError, OdqaWarning

#: By device: prompts at once, bytes of cache, and tokens of prompts that are read together. On a
#: CPU a matrix product is at its best from some hundred rows on; a GPU wants thousands.
_LIMITS = {"cpu": (16, 1 << 30, 512), "cuda": (128, 16 << 30, 8192)}

#: Tokens and answers of the run before the first that counts.
_WARM_UP_TOKENS, _WARM_UP_NEW = 16, 2

#: Requests whose tokens are kept: a caller counts them before they are run.
_KEPT_REQUESTS = 4096


#: See `engines.opening`.
ARGUMENT = "FOLDER"
HONOURS = frozenset(
    {"device", "threads", "timing", "rows", "temperature", "top_p", "seed", "thinking"}
)


def open_engine(argument: str, options: EngineOptions) -> OnnxEngine:
    """The engine of a model folder.

    Raises:
        OdqaError, ModelError, EngineError: see `OnnxEngine`.
    """
    return OnnxEngine(Path(argument), options)


def open_reader(argument: str, options: EngineOptions) -> ExtractiveReader | None:
    """The reader that a model for question-answering is; None for other models.

    Raises:
        OdqaError, ModelError, EngineError: see `ExtractiveReader`.
    """
    folder = Path(argument)
    if load_card(folder, verify=False).task != "question-answering":
        return None
    return ExtractiveReader(folder, options)


class OnnxEngine:
    """Runs prompts through a model folder; see `engine.Engine`.

    Equal prompts run once. In float32 a text depends neither on the batch nor on the order.

    Attributes:
        card: of the model.
        runtime: where it really runs.

    Raises:
        OdqaError: an option is of no use to a model folder.
        ModelError: the folder holds no model that generates, or is not as its card says.
        EngineError: the device or a library is not available.
    """

    def __init__(self, folder: Path, options: EngineOptions | None = None) -> None:
        options = options or EngineOptions()
        self._sampling = _sampling(options)
        self.card = load_card(folder, "text-generation", "text2text-generation")
        self.runtime = open_runtime(options.device, options.threads)
        self._codec = Codec(self.card, options.thinking)
        self._loop, token_bytes = _loop(self.card, self.runtime)
        rows, cache_bytes, prefill = _LIMITS[self.runtime.device]
        self._limits = Limits(options.rows or rows, max(1, cache_bytes // token_bytes), prefill)
        if options.timing == "each":
            self._limits = Limits(1, self._limits.tokens, prefill, share=False)
        self._is_warm = False
        self._tokens_of = lru_cache(_KEPT_REQUESTS)(self._encode)
        self.id = f"onnx:{self.card.id}"
        self.max_input_tokens: int | None = self.card.max_input
        self.signature = "|".join(
            [
                f"{self.id}@{self.card.sha256[:8]}",
                self.card.dtype,
                self.runtime.signature,
                str(self._sampling),
                *([f"thinking:{options.thinking}"] if options.thinking else []),
            ]
        )

    @property
    def facts(self) -> dict[str, object]:
        """Where and how it runs."""
        return {**self.runtime.facts, "rows": self._limits.rows}

    def _encode(self, request: Request) -> tuple[Ids, float]:
        begun = perf_counter()
        ids = self._codec.encode(request)
        return ids, perf_counter() - begun

    def count_tokens(self, request: Request) -> int:
        """The tokens of a whole prompt; more than the model takes also where its longest answer
        would leave too little room."""
        return len(self._tokens_of(request)[0]) + self._longer_answer(request)

    def _longer_answer(self, request: Request) -> int:
        """By how much an answer may be longer than the card reckons with; a decoder alone has its
        prompt and its answer in the same positions."""
        if self.card.task == "text2text-generation":
            return 0
        return max(0, request.max_new_tokens - self.card.max_new)

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Each request's position and reply, in the order in which they get done."""
        decodings: list[Decoding] = []
        places: dict[tuple[object, ...], list[int]] = {}
        for index, request in enumerate(requests):
            decoding = self._start_decoding(request)
            if error := self._refusal(request):
                decoding.fail(error)
                yield index, decoding.reply()
                continue
            if decoding.key not in places:
                decodings.append(decoding)
            places.setdefault(decoding.key, []).append(index)
        if decodings and not self._is_warm:
            self._warm_up(decodings[0].ids[:_WARM_UP_TOKENS])
        ready = perf_counter()
        for decoding in decodings:
            decoding.ready = ready
        for decoding in self._run(decodings):
            reply = decoding.reply()
            for index in places[decoding.key]:
                yield index, reply

    def _start_decoding(self, request: Request) -> Decoding:
        ids, seconds = self._tokens_of(request)
        forced: tuple[int, ...] = ()
        if request.prefill and self.card.task == "text2text-generation":
            forced = tuple(self._codec.ids(request.prefill).tolist())
        if request.thought_tokens:
            request = replace(request, thought_tokens=self._thought_room(request, len(ids)))
        decoding = Decoding(request, ids, self._codec, self._sampling, self.card.eos_ids, forced)
        decoding.tokenize_seconds = seconds
        return decoding

    def _thought_room(self, request: Request, tokens: int) -> int:
        """How long a thought may be, after a prompt of so many tokens and before the reply."""
        if self.card.task == "text2text-generation":
            return request.thought_tokens
        positions = self.card.max_input + self.card.max_new
        left = positions - tokens - request.max_new_tokens
        return max(0, min(request.thought_tokens, left))

    def _refusal(self, request: Request) -> str:
        """Why a request cannot be run; empty where it can."""
        found = len(self._tokens_of(request)[0])
        room = self.card.max_input - self._longer_answer(request)
        if not found:
            return "empty: the prompt has no tokens."
        if found > room:
            return f"too long: the prompt has {found:,} tokens; the model takes {room:,}."
        return ""

    def _warm_up(self, ids: Ids) -> None:
        """Run something that does not count: the first run sets up what later ones find."""
        self._is_warm = True
        few = Request("", max_new_tokens=_WARM_UP_NEW)
        decoding = Decoding(few, ids, self._codec, self._sampling, self.card.eos_ids)
        for _ in self._run([decoding]):
            pass

    def _run(self, decodings: Sequence[Decoding]) -> Iterator[Decoding]:
        """Each decoding, once it is done, in smaller batches where memory runs out."""
        waiting = {id(decoding): decoding for decoding in decodings}
        while waiting:
            try:
                for decoding in self._loop.run(list(waiting.values()), self._limits):
                    del waiting[id(decoding)]
                    yield decoding
            except DeviceMemoryError:
                rows = self._loop.running
                for decoding in waiting.values():
                    decoding.restart()
                if rows == 1:
                    longest = max(waiting.values(), key=lambda decoding: decoding.room)
                    longest.fail(
                        f"out of memory: {len(longest.ids):,} tokens of prompt and "
                        f"{longest.max_new:,} of reply do not fit by themselves."
                    )
                    yield waiting.pop(id(longest))
                else:
                    self._limits = self._limits.halved(rows)
                    warnings.warn(
                        f"the memory of the device did not suffice for {rows} prompts at once; "
                        f"now {self._limits.rows} run together.",
                        OdqaWarning,
                        2,
                    )

    def close(self) -> None:
        """Let go of the model."""
        del self._loop


def _sampling(options: EngineOptions) -> Sampling:
    """How tokens are chosen where nobody else could say."""
    if options.temperature is None:
        raise OdqaError(
            "--temperature below 0 leaves it to an endpoint; a model folder takes 0 or more."
        )
    top_p = 1.0 if options.top_p is None else options.top_p
    return Sampling(options.temperature, top_p, options.seed or 0)


def _loop(card: ModelCard, runtime: Runtime) -> tuple[Slots | Batches, int]:
    """What runs a model's decodings, and the bytes that a token takes in its cache."""
    graph = card.graphs["decoder"]
    decoder = runtime.session(card.path(graph.file))
    if card.task == "text2text-generation" and card.decoder_start_id is not None:
        encoder = runtime.session(card.path(card.graphs["encoder"].file))
        model = EncoderDecoder(encoder, decoder, graph, card.pad_id, card.decoder_start_id)
        return Batches(model), model.token_bytes
    if card.task == "text-generation" and graph.kv is not None:
        if graph.kv.shared and graph.inputs in ("seqlens", "mask"):
            cache = SharedCache(decoder, graph, card.pad_id)
            return Slots(cache), cache.token_bytes
        if graph.inputs == "mask+positions":
            padded = PaddedDecoder(decoder, graph, card.pad_id)
            return Batches(padded), padded.token_bytes
    raise ModelError(
        f"a decoder with inputs {graph.inputs!r} is not run for {card.task}.",
        where=str(card.folder),
        hint="Export the model again.",
    )

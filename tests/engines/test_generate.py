"""Covers: text from model folders, in batches of any size. Compared against: plain numpy, one
prompt at a time, the whole of it again for every token.

Run: pytest tests/engines/test_generate.py
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tiny
import tiny_models

from odqa_fast.engines.backends.onnx import OnnxEngine
from odqa_fast.engines.base import Reply, Request
from odqa_fast.engines.generate.dynamic_cache import GrowingModel
from odqa_fast.engines.generate.sampling import Sampling
from odqa_fast.engines.generate.scheduling import SHARED_TOKENS
from odqa_fast.engines.generate.shared_cache import SharedCache
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.session import DeviceMemoryError
from odqa_fast.engines.tokens import Codec
from odqa_fast.errors import ModelError, OdqaError, OdqaWarning

REQUESTS = [Request(prompt, max_new_tokens=tiny_models.NEW) for prompt in tiny_models.PROMPTS]


@pytest.fixture(scope="module", params=["llama", "t5"])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(family: str, request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(family)
    return path


@pytest.fixture(scope="module")
def expected(family: str, folder: Path) -> list[str]:
    texts = tiny_models.greedy(family, folder, tiny_models.PROMPTS)
    assert len(set(texts)) > 5  # else any text would do
    return texts


def opened(folder: Path, **options: Any) -> OnnxEngine:
    return OnnxEngine(folder, EngineOptions(device="cpu", threads=1, **options))


def replies(engine: OnnxEngine, requests: Sequence[Request]) -> list[Reply]:
    found = list(engine.generate(requests))
    assert sorted(index for index, _ in found) == list(range(len(requests)))
    return [dict(found)[index] for index in range(len(requests))]


def texts(engine: OnnxEngine, requests: Sequence[Request]) -> list[str]:
    return [reply.text for reply in replies(engine, requests)]


@pytest.mark.parametrize("rows", [1, 4, 16])
def test_texts_are_the_likeliest_in_batches_of_any_size(
    folder: Path, expected: list[str], rows: int
) -> None:
    assert texts(opened(folder, rows=rows), REQUESTS) == expected


def test_texts_are_the_same_one_by_one(folder: Path, expected: list[str]) -> None:
    engine = opened(folder, timing="each")
    assert texts(engine, REQUESTS) == expected
    assert [texts(engine, [request])[0] for request in REQUESTS] == expected


def test_texts_do_not_depend_on_the_order(folder: Path, expected: list[str]) -> None:
    order = list(range(len(REQUESTS)))
    for seed in range(3):
        random.Random(seed).shuffle(order)
        found = texts(opened(folder, rows=3), [REQUESTS[at] for at in order])
        assert found == [expected[at] for at in order]


def test_replies_of_different_lengths_in_one_batch(family: str, folder: Path) -> None:
    # Rows leave one after another, so that others move into their places.
    requests = [replace(each, max_new_tokens=1 + at % 7) for at, each in enumerate(REQUESTS)]
    expected = [
        tiny_models.greedy(family, folder, [each.user], each.max_new_tokens)[0] for each in requests
    ]
    for rows in (2, 5, 16):
        assert texts(opened(folder, rows=rows), requests) == expected


def test_a_reply_says_what_it_took(folder: Path, expected: list[str]) -> None:
    engine = opened(folder)
    for request, reply in zip(REQUESTS, replies(engine, REQUESTS), strict=True):
        assert reply.tokens_in == engine.count_tokens(request)
        assert 0 < reply.tokens_out <= tiny_models.NEW
        assert reply.finish == ("length" if reply.tokens_out == tiny_models.NEW else "stop")
        assert min(reply.seconds, reply.tokenize_seconds, reply.queue_seconds) >= 0
        assert reply.seconds > 0


def test_shares_of_a_batch_add_up_to_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that ticks once a look: what is measured is exactly what the loop measures.
    ticks = iter(range(10**9))
    for module in ("continuous_batching", "static_batching"):
        monkeypatch.setattr(
            f"odqa_fast.engines.generate.{module}.perf_counter", lambda: float(next(ticks))
        )
    engine = opened(folder, rows=16)
    replies(engine, REQUESTS[:1])  # the warm-up looks at the clock as well
    before = next(ticks)
    total = sum(reply.seconds for reply in replies(engine, REQUESTS))
    # Two looks at each run of the model, one tick apart.
    assert total == pytest.approx((next(ticks) - before - 1) / 2)


def test_equal_prompts_run_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(folder)
    assert texts(engine, REQUESTS[:1])
    read: list[int] = []
    for model in (SharedCache, GrowingModel):
        name = "prefill" if model is SharedCache else "_forget"
        run = getattr(model, name)

        def counted(self: Any, *args: Any, run: Any = run) -> Any:
            read.append(args[0] if isinstance(args[0], int) and len(args) == 1 else len(args[1]))
            return run(self, *args)

        monkeypatch.setattr(model, name, counted)
    many = replies(engine, REQUESTS[:3] * 10)
    assert sum(read) == 3
    assert many[:3] * 10 == many


def test_another_limit_is_another_request(folder: Path) -> None:
    short = replace(REQUESTS[0], max_new_tokens=2)
    found = replies(opened(folder), [REQUESTS[0], short, REQUESTS[0]])
    assert found[1].tokens_out == 2
    assert found[0] == found[2]


def test_a_stop_text_ends_a_reply(folder: Path, expected: list[str]) -> None:
    # Texts of two and more characters that begin in one token and end in another.
    whole = expected[3]
    for at in range(1, len(whole) - 3):
        stop = whole[at : at + 3]
        (reply,) = replies(opened(folder), [replace(REQUESTS[3], stop=("never", stop))])
        assert reply.text == whole[: whole.index(stop)]
        assert reply.finish == "stop"
        assert reply.tokens_out <= tiny_models.NEW


def test_a_prompt_of_any_length_up_to_the_limit(llama: Path) -> None:
    engine = opened(llama)
    limit = engine.max_input_tokens
    assert limit == 256 - 32
    words = "a " * 400
    codec = Codec(engine.card)
    fits = codec.decode(codec.ids(words)[:limit].tolist())
    assert engine.count_tokens(Request(fits)) == limit
    fit, longer, answer, short = replies(
        engine,
        [
            Request(fits),
            Request(fits + " a"),
            Request(fits, max_new_tokens=33),
            Request("Q", max_new_tokens=255),
        ],
    )
    assert fit.finish != "error"
    assert (longer.finish, longer.text) == ("error", "")
    assert longer.error == "too long: the prompt has 225 tokens; the model takes 224."
    assert answer.error == "too long: the prompt has 224 tokens; the model takes 223."
    assert engine.count_tokens(Request(fits, max_new_tokens=33)) > limit
    assert short.finish != "error"


def test_an_empty_prompt_is_an_error_of_its_own(llama: Path) -> None:
    empty, other = replies(opened(llama), [Request(""), REQUESTS[0]])
    assert empty.error == "empty: the prompt has no tokens."
    assert other.finish != "error"


def test_the_reply_of_an_encoder_decoder_begins_as_it_has_to(t5: Path) -> None:
    engine = opened(t5)
    codec = Codec(engine.card)
    for prefill in ("The river", "Mount Kenya is"):
        forced = codec.ids(prefill).tolist()
        ids = codec.ids(tiny_models.PROMPTS[0], special=True).tolist()
        reply: list[int] = []
        while len(reply) < 5:
            token = int(np.argmax(tiny_models.logits("t5", ids, forced + reply)))
            if token in engine.card.eos_ids:
                break
            reply.append(token)
        requests = [
            Request(tiny_models.PROMPTS[0], prefill=prefill, max_new_tokens=5),
            *REQUESTS,  # others in the batch that begin as they like
        ]
        assert texts(engine, requests)[0] == codec.decode(reply)


# Prompts that share a beginning


def long_text(engine: OnnxEngine) -> str:
    codec = Codec(engine.card)
    ids = codec.ids(" ".join(tiny.CORPUS) * 5)[: SHARED_TOKENS + 20]
    return codec.decode(ids.tolist())


def test_a_shared_beginning_is_read_once(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(llama, rows=4)
    text = long_text(engine)
    shared = [Request(f"{text}\nQ: {q}", max_new_tokens=6) for q in tiny_models.PROMPTS]
    requests = [shared[0], REQUESTS[0], *shared[1:], REQUESTS[1]]
    alone = opened(llama, timing="each")
    expected = [texts(alone, [request])[0] for request in requests]
    fed: list[int] = []
    prefill = SharedCache.prefill

    def counted(self: SharedCache, first: int, prompts: Any, known: int = 0) -> Any:
        fed.append(sum(len(prompt) - known for prompt in prompts))
        return prefill(self, first, prompts, known)

    monkeypatch.setattr(SharedCache, "prefill", counted)
    assert texts(engine, requests) == expected
    whole = sum(engine.count_tokens(request) for request in requests)
    again = sum(fed) - 16  # the warm-up
    # All but the first of those that share read less than what they do not share with another.
    assert again < whole - (len(shared) - 1) * SHARED_TOKENS
    fed.clear()
    assert texts(alone, shared) == [expected[0], *expected[2:-1]]
    assert sum(fed) == sum(engine.count_tokens(request) for request in shared)


def test_a_prompt_that_is_the_beginning_of_another(llama: Path) -> None:
    engine = opened(llama, rows=2)
    text = long_text(engine)
    requests = [Request(text + more, max_new_tokens=5) for more in ("", " and", " and more", "!")]
    alone = opened(llama, timing="each")
    expected = [texts(alone, [request])[0] for request in requests]
    for rows in (1, 2, 4):
        assert texts(opened(llama, rows=rows), requests) == expected
        assert texts(opened(llama, rows=rows), requests[::-1]) == expected[::-1]


# Sampling


def test_draws_depend_on_seed_and_prompt_alone(folder: Path) -> None:
    drawn = {
        seed: texts(opened(folder, temperature=1.0, top_p=0.9, seed=seed), REQUESTS)
        for seed in (1, 2)
    }
    assert drawn[1] != drawn[2]
    again = opened(folder, rows=2, temperature=1.0, top_p=0.9, seed=1)
    assert texts(again, REQUESTS[::-1]) == drawn[1][::-1]
    assert "temperature:1,top_p:0.9,seed:1" in again.signature


def test_draws_have_the_probabilities_of_the_model(llama: Path) -> None:
    engine = opened(llama)
    ids = Codec(engine.card).ids(tiny_models.PROMPTS[0])
    logits = tiny_models.logits("llama", ids.tolist(), []).astype(np.float32)
    for temperature, top_p in ((1.0, 1.0), (0.5, 1.0), (2.0, 0.6)):
        p = np.exp(logits.astype(float) / temperature)
        p /= p.sum()
        order = np.argsort(-p)
        # The fewest tokens that together reach top_p.
        kept = order[: int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1][: len(p)]
        expected = np.zeros_like(p)
        expected[kept] = p[kept] / p[kept].sum()
        n = 4000
        counts = np.zeros_like(p)
        for seed in range(n):
            draws = Sampling(temperature, top_p, seed).draws(ids)
            assert draws is not None
            counts[draws.next(logits)] += 1
        assert counts[expected == 0].sum() == 0
        # Five standard deviations, and two draws of what is hardly ever drawn.
        assert (abs(counts - n * expected) <= 5 * np.sqrt(n * expected) + 2).all()


@pytest.mark.parametrize("bad", [(-1.0, 1.0), (1.0, 0.0), (1.0, 1.5), (float("nan"), 1.0)])
def test_a_sampling_that_cannot_be(bad: tuple[float, float]) -> None:
    with pytest.raises(OdqaError, match="top-p"):
        Sampling(*bad)


# What goes wrong


def test_logits_that_are_no_numbers_are_the_error_of_their_rows(tmp_path: Path) -> None:
    folder = tiny_models.llama(tmp_path)
    # One token is broken; the head, which is the same table, would break every prompt.
    graph = onnx.load(folder / "model.onnx")
    table = next(each for each in graph.graph.initializer if list(each.dims) == [tiny.WORDS, 32])
    values = onnx.numpy_helper.to_array(table).copy()
    token = 200
    values[token] = np.nan
    broken_table = onnx.numpy_helper.from_array(values, "broken")
    graph.graph.initializer.append(broken_table)
    (gather,) = (n for n in graph.graph.node if n.op_type == "Gather" and "input_ids" in n.input)
    gather.input[0] = "broken"
    onnx.save(graph, folder / "model.onnx")
    tiny_models.rehash(folder)
    engine = opened(folder)
    codec = Codec(engine.card)
    broken = Request("river" + codec.decode([token]), max_new_tokens=4)
    assert token in codec.encode(broken)
    good, bad, other = replies(engine, [REQUESTS[2], broken, REQUESTS[5]])
    assert (bad.finish, bad.text) == ("error", "")
    assert bad.error.startswith("not a number: ")
    assert "--dtype fp32 " in bad.error
    assert good.finish != "error"
    assert other.finish != "error"


def too_many(limit: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Memory for so many prompts at once, and no more."""
    tried: list[int] = []

    def check(rows: int) -> None:
        tried.append(rows)
        if rows > limit:
            raise DeviceMemoryError("the memory of the device does not suffice.")

    open_cache, forget = SharedCache.open, GrowingModel._forget

    def checked_open(self: SharedCache, rows: int, length: int) -> None:
        check(rows)
        open_cache(self, rows, length)

    def checked_forget(self: GrowingModel, rows: int) -> None:
        check(rows)
        forget(self, rows)

    monkeypatch.setattr(SharedCache, "open", checked_open)
    monkeypatch.setattr(GrowingModel, "_forget", checked_forget)
    return tried


def test_too_little_memory_halves_the_batch_and_says_so(
    folder: Path, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(folder, rows=16)
    tried = too_many(3, monkeypatch)
    with pytest.warns(OdqaWarning, match="did not suffice for 10 prompts at once; now 5") as notes:
        assert texts(engine, REQUESTS) == expected
    assert len(notes) == 2
    assert tried[:4] == [1, 10, 5, 2]  # 1: the warm-up
    # What was learned holds.
    tried.clear()
    assert texts(engine, REQUESTS) == expected
    assert max(tried) == 2


def test_what_does_not_fit_even_alone_is_an_error_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(folder)
    assert texts(engine, REQUESTS[:1])
    too_many(0, monkeypatch)
    with pytest.warns(OdqaWarning):
        found = replies(engine, REQUESTS[:2])
    assert [reply.finish for reply in found] == ["error", "error"]
    tokens = engine.count_tokens(REQUESTS[1])
    assert found[1].error == (
        f"out of memory: {tokens} tokens of prompt and 12 of reply do not fit by themselves."
    )


def test_a_model_for_something_else(tmp_path: Path) -> None:
    from odqa_fast.export import export

    config = tiny.bert_config()
    export(tiny.write(tmp_path / "hf", config, tiny.bert_weights(config)), tmp_path / "bert")
    with pytest.raises(ModelError, match="is a model for token-embeddings, not for"):
        opened(tmp_path / "bert")


def test_the_signature_names_model_device_and_choice(llama: Path) -> None:
    engine = opened(llama)
    model, dtype, provider, runtime, sampling = engine.signature.split("|")
    assert model == f"onnx:llama-hf@{engine.card.sha256[:8]}"
    assert (dtype, provider, sampling) == ("fp32", "CPUExecutionProvider", "greedy")
    assert runtime.startswith("onnxruntime:1.")


# D070: memory that grows with every new length

_MEMORY = """
import sys
from pathlib import Path
from odqa_fast.engines.base import Request
from odqa_fast.engines.backends.onnx import OnnxEngine
from odqa_fast.engines.options import EngineOptions

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

engine = OnnxEngine(Path(sys.argv[1]), EngineOptions(device="cpu", threads=1, rows=4))
peaks = [0, 0, 0]
for third in range(3):
    for i in range(third * 30, third * 30 + 30):
        requests = [Request(f"{i} " + "a " * (1 + (i * 37 + k * 53) % 180), max_new_tokens=2)
                    for k in range(4)]
        assert all(reply.finish != "error" for _, reply in engine.generate(requests))
        peaks[third] = max(peaks[third], resident())
print(*peaks)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc/self/statm here")
def test_memory_does_not_grow_with_every_new_length(llama: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _MEMORY, str(llama)],
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, third = map(int, done.stdout.split())
    assert max(second, third) < 1.15 * first

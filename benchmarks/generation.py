"""Generating text, beside transformers on the same weights: checks the texts, then times both.

    make build && pip install '.[cpu,export]'
    python benchmarks/generation.py --peer /venv/bin/python --model MODEL --hf HF [--only NAME]

MODEL is a folder of `odqa-fast models export HF`, HF the Hugging Face folder it was made from, and
the peer a Python with torch and transformers. A text that differs ends the run: nothing is timed
that is not the same. Both sides run in turn, and the shortest of the rounds counts. On a machine
that others use, the time of the processors says more than the clock, with --threads 1: waiting
threads spin.

prompts   32 prompts of five passages (about 630 tokens), in batches of 8
shared    8 questions about one text of about 1,500 tokens
equal     1,000 requests of 300 prompts against the 300 alone
t5        8 inputs of about 630 tokens through random weights of Flan-T5-small's shape
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import corpus

from odqa_fast.engines.backends.onnx import OnnxEngine
from odqa_fast.engines.base import Request
from odqa_fast.engines.options import EngineOptions
from odqa_fast.engines.tokens import Codec

SHARED = Path(os.environ.get("ODQA_FAST_SHARED", Path(__file__).parents[2] / "shared"))
MAX_NEW = 32

#: Flan-T5-small.
T5_SMALL = {
    "model_type": "t5",
    "architectures": ["T5ForConditionalGeneration"],
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 1024,
    "num_layers": 8,
    "num_decoder_layers": 8,
    "num_heads": 6,
    "vocab_size": 32128,
    "feed_forward_proj": "gated-gelu",
    "relative_attention_num_buckets": 32,
    "relative_attention_max_distance": 128,
    "layer_norm_epsilon": 1e-6,
    "tie_word_embeddings": False,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
    "n_positions": 2048,
}

QUESTIONS = (
    "Who is the text about?",
    "Which year is named first?",
    "Which place is named first?",
    "Name one person in the text.",
    "What happened in the end?",
    "Which country is it about?",
    "What is the main subject?",
    "Is a war mentioned?",
)


#: Texts, and what they took by the clock and of all processors.
Done = tuple[list[str], tuple[float, float]]


class Peer:
    """transformers in another Python."""

    def __init__(self, python: str, folder: Path, kind: str, args: argparse.Namespace) -> None:
        script = Path(__file__).with_name("transformers_peer.py")
        self._process = subprocess.Popen(
            [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version = self._ask(
            folder=str(folder),
            kind=kind,
            threads=args.threads,
            device=args.device,
            dtype=args.dtype,
        )["version"]

    def _ask(self, **decoding: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(decoding), file=self._process.stdin, flush=True)
        reply = self._process.stdout.readline()
        if not reply:
            sys.exit("the peer died")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def generate(self, engine: OnnxEngine, requests: Sequence[Request], batch: int) -> Done:
        codec, card = Codec(engine.card), engine.card
        prompts = [codec.encode(request).tolist() for request in requests]
        done = self._ask(
            prompts=prompts, batch=batch, max_new=MAX_NEW, eos=list(card.eos_ids), pad=card.pad_id
        )
        return [codec.decode(tokens) for tokens in done["tokens"]], tuple(done["seconds"])

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def ours(engine: OnnxEngine, requests: Sequence[Request]) -> Done:
    begun = time.perf_counter(), time.process_time()
    replies = dict(engine.generate(requests))
    spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
    return [replies[index].text for index in range(len(requests))], spent


def compared(
    name: str,
    run_ours: Callable[[], Done],
    run_peer: Callable[[], Done],
    args: argparse.Namespace,
    what: str = "transformers",
) -> None:
    times: list[list[tuple[float, float]]] = [[], []]
    for _ in range(args.rounds):
        mine, spent = run_ours()
        times[0].append(spent)
        theirs, spent = run_peer()
        times[1].append(spent)
        equal = sum(a == b for a, b in zip(mine, theirs, strict=True))
        if equal < args.equal * len(mine):
            sys.exit(f"{name}: only {equal} of {len(mine)} texts are equal")
    print(f"{name}: {equal} of {len(mine)} texts equal, {len(set(mine))} distinct; {what} takes")
    for unit, label in enumerate(("by the clock", "of the processors")):
        we, they = (min(spent[unit] for spent in side) for side in times)
        shown = "  ".join(f"{a[unit]:.2f}/{b[unit]:.2f}" for a, b in zip(*times, strict=True))
        print(f"    {they / we:.2f} times our {we:.2f} s {label} ({shown})", flush=True)


def passages(n: int) -> list[str]:
    path = SHARED / "data" / "rag_topk.parquet"
    if path.is_file():
        import pyarrow.parquet as pq

        rows = pq.read_table(path, columns=["passages"])["passages"].to_pylist()
        return [text for row in rows for text in row][:n]
    return [document["text"] for row in corpus.rows(n) for document in row["documents"]][:n]


def prompt_requests(n: int) -> list[Request]:
    draw = random.Random(7)
    texts = passages(2000)
    requests = []
    for _ in range(n):
        chosen = "\n".join(f"[{i}] {text}" for i, text in enumerate(draw.sample(texts, 5), 1))
        question = draw.choice(QUESTIONS)
        requests.append(
            Request(f"{chosen}\n\nQuestion: {question}\nAnswer.", max_new_tokens=MAX_NEW)
        )
    return requests


def shared_requests(codec: Codec) -> list[Request]:
    text = ""
    for passage in passages(100):
        if len(codec.ids(text)) > 1500:
            break
        text += passage + "\n"
    return [Request(f"{text}\nQuestion: {q}", max_new_tokens=MAX_NEW) for q in QUESTIONS]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True, help="a Python with torch and transformers")
    parser.add_argument("--model", type=Path, help="an exported decoder")
    parser.add_argument(
        "--hf", type=Path, help="what it was exported from: a folder or a GGUF file"
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--prompts", type=int, default=32, help="how many of about 630 tokens")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", default="float32", help="of the peer")
    parser.add_argument("--rows", type=int, default=8, help="prompts at once, on both sides")
    parser.add_argument("--equal", type=float, default=1.0, help="the least share of equal texts")
    args = parser.parse_args()

    def wanted(name: str) -> bool:
        return args.only in ("", name)

    options = EngineOptions(device=args.device, threads=args.threads, rows=args.rows)
    if args.model is not None:
        engine = OnnxEngine(args.model, options)
        if wanted("equal"):
            few = [
                Request(f"What is {n} plus {n}?", max_new_tokens=MAX_NEW // 4) for n in range(300)
            ]
            many = random.Random(7).choices(few, k=700) + few
            compared(
                "equal",
                lambda: ours(engine, many),
                lambda: _expanded(ours(engine, few), few, many),
                args,
                "the 300 alone",
            )
        peer = Peer(args.peer, args.hf, "causal", args)
        if wanted("prompts"):
            requests = prompt_requests(args.prompts)
            compared(
                "prompts",
                lambda: ours(engine, requests),
                lambda: peer.generate(engine, requests, args.rows),
                args,
            )
        if wanted("shared"):
            asked = shared_requests(Codec(engine.card))
            compared(
                "shared",
                lambda: ours(engine, asked),
                lambda: peer.generate(engine, asked, args.rows),
                args,
            )
        peer.close()
    if wanted("t5"):
        with tempfile.TemporaryDirectory() as folder:
            run_t5(Path(folder), args, options)


def run_t5(folder: Path, args: argparse.Namespace, options: EngineOptions) -> None:
    from odqa_fast.export import export

    write_t5(folder / "hf")
    export(folder / "hf", folder / "model")
    engine = OnnxEngine(folder / "model", options)
    draw = random.Random(7)
    requests = [
        Request(
            " ".join(f"w{draw.randrange(3, 32128)}" for _ in range(draw.randint(560, 700))),
            max_new_tokens=MAX_NEW,
        )
        for _ in range(8)
    ]
    peer = Peer(args.peer, folder / "hf", "seq2seq", args)
    compared(
        "t5",
        lambda: ours(engine, requests),
        lambda: peer.generate(engine, requests, args.rows),
        args,
    )
    peer.close()


def write_t5(folder: Path) -> None:
    """A folder of Hugging Face's with random weights, and a token for each word w0, w1, ..."""
    import numpy as np
    import tokenizers
    from safetensors.numpy import save_file

    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(T5_SMALL))
    words = ["<pad>", "</s>", "<unk>", *(f"w{n}" for n in range(3, T5_SMALL["vocab_size"]))]
    model = tokenizers.models.WordLevel({word: n for n, word in enumerate(words)}, "<unk>")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.save(str(folder / "tokenizer.json"))
    draw = np.random.default_rng(7)
    hidden, inner = T5_SMALL["d_model"], T5_SMALL["num_heads"] * T5_SMALL["d_kv"]

    def drawn(*shape: int, size: float = 1.5) -> np.ndarray:
        return draw.standard_normal(shape, np.float32) * np.float32(size * shape[-1] ** -0.5)

    weights = {
        "shared.weight": drawn(T5_SMALL["vocab_size"], hidden, size=20),
        "lm_head.weight": drawn(T5_SMALL["vocab_size"], hidden),
    }
    for side, n_parts in (("encoder", 2), ("decoder", 3)):
        weights[f"{side}.final_layer_norm.weight"] = np.ones(hidden, np.float32)
        for layer in range(T5_SMALL["num_layers"]):
            for part in range(n_parts):
                at = f"{side}.block.{layer}.layer.{part}"
                weights[f"{at}.layer_norm.weight"] = np.ones(hidden, np.float32)
                if part < n_parts - 1:
                    attention = f"{at}.{'EncDecAttention' if part else 'SelfAttention'}"
                    # T5's scores are not scaled, its weights are.
                    weights[f"{attention}.q.weight"] = drawn(inner, hidden, size=0.2)
                    for name in "kv":
                        weights[f"{attention}.{name}.weight"] = drawn(inner, hidden)
                    weights[f"{attention}.o.weight"] = drawn(hidden, inner)
                else:
                    for name in ("wi_0", "wi_1"):
                        shape = T5_SMALL["d_ff"], hidden
                        weights[f"{at}.DenseReluDense.{name}.weight"] = drawn(*shape)
                    weights[f"{at}.DenseReluDense.wo.weight"] = drawn(hidden, T5_SMALL["d_ff"])
        bias = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        weights[bias] = drawn(32, T5_SMALL["num_heads"])
    save_file(weights, folder / "model.safetensors")


def _expanded(done: Done, few: Sequence[Request], many: Sequence[Request]) -> Done:
    text_of = dict(zip(few, done[0], strict=True))
    return [text_of[request] for request in many], done[1]


if __name__ == "__main__":
    main()

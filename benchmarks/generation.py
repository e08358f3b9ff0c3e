"""Generating text, beside transformers on the same weights: checks the texts, then times both.

    make build && pip install '.[cpu,export]'
    python benchmarks/generation.py --peer /venv/bin/python --model MODEL --hf HF [--only NAME]

MODEL is a folder of `odqa-fast models export HF`, HF the Hugging Face folder it was made from, and
the peer a Python with torch and transformers. A text that differs ends the run: nothing is timed
that is not the same. Both sides run in turn, and the shortest of the rounds counts.

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

from odqa_fast.inference.engine import Request
from odqa_fast.inference.generate import OnnxEngine, OnnxOptions
from odqa_fast.inference.tokens import Codec

MAX_NEW = 32

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

    def _ask(self, **job: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(job), file=self._process.stdin, flush=True)
        reply = self._process.stdout.readline()
        if not reply:
            sys.exit("the peer died")
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def generate(
        self, engine: OnnxEngine, requests: Sequence[Request], batch: int
    ) -> tuple[list[str], float]:
        codec, card = Codec(engine.card), engine.card
        prompts = [codec.encode(request).tolist() for request in requests]
        done = self._ask(
            prompts=prompts, batch=batch, max_new=MAX_NEW, eos=list(card.eos_ids), pad=card.pad_id
        )
        return [codec.decode(tokens) for tokens in done["tokens"]], done["seconds"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def ours(engine: OnnxEngine, requests: Sequence[Request]) -> tuple[list[str], float]:
    begun = time.perf_counter()
    replies = dict(engine.generate(requests))
    seconds = time.perf_counter() - begun
    return [replies[index].text for index in range(len(requests))], seconds


def compared(
    name: str,
    run_ours: Callable[[], tuple[list[str], float]],
    run_peer: Callable[[], tuple[list[str], float]],
    rounds: int,
    what: str = "transformers",
) -> None:
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for side, side_run in enumerate((run_ours, run_peer)):
            texts, seconds = side_run()
            times[side].append(seconds)
            if side:
                equal = sum(a == b for a, b in zip(mine, texts, strict=True))
                if equal < len(mine):
                    sys.exit(f"{name}: only {equal} of {len(mine)} texts are equal")
            else:
                mine = texts
    best = [min(side) for side in times]
    shown = "  ".join(f"{a:.2f}/{b:.2f}" for a, b in zip(*times, strict=True))
    print(
        f"{name}: {len(mine)} of {len(mine)} texts equal; {best[0]:.2f} s, {what} {best[1]:.2f} s: "
        f"{best[1] / best[0]:.2f} times ({shown})",
        flush=True,
    )


def passages(n: int) -> list[str]:
    path = corpus.SHARED / "data" / "rag_topk.parquet"
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
    parser.add_argument("--hf", type=Path, help="what it was exported from")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", default="float32", help="of the peer")
    args = parser.parse_args()

    def wanted(name: str) -> bool:
        return args.only in ("", name)

    options = OnnxOptions(device=args.device, threads=args.threads, rows=8)
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
                args.rounds,
                "the 300 alone",
            )
        peer = Peer(args.peer, args.hf, "causal", args)
        if wanted("prompts"):
            requests = prompt_requests(32)
            compared(
                "prompts",
                lambda: ours(engine, requests),
                lambda: peer.generate(engine, requests, 8),
                args.rounds,
            )
        if wanted("shared"):
            asked = shared_requests(Codec(engine.card))
            compared(
                "shared",
                lambda: ours(engine, asked),
                lambda: peer.generate(engine, asked, 8),
                args.rounds,
            )
        peer.close()
    if wanted("t5"):
        with tempfile.TemporaryDirectory() as folder:
            run_t5(Path(folder), args, options)


def _expanded(
    done: tuple[list[str], float], few: Sequence[Request], many: Sequence[Request]
) -> tuple[list[str], float]:
    text_of = dict(zip(few, done[0], strict=True))
    return [text_of[request] for request in many], done[1]


if __name__ == "__main__":
    main()

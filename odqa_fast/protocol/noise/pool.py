"""What can be injected: sentences, documents or answers, of the other rows or of a file.

A pool is the same whatever the order of the rows: equal texts stand in it once, under the least of
their sources, in the order of their digests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from odqa_fast.protocol.draws import digest
from odqa_fast.protocol.sentences import sentences
from odqa_fast.protocol.texts import Row, Text
from odqa_fast.protocol.words import content, words

#: A shorter sentence is a heading, an initial or a remnant.
_SHORTEST_SENTENCE = 20
#: How a sentence ends that is not cut off, and what may still close behind it.
_ENDS, _CLOSES = ".!?…。！？", "\"')]}”’»」』"

#: The source of what comes from a file.
FILE = "pool"


@dataclass(frozen=True, order=True, slots=True)
class Source:
    """Where something in a pool comes from: a row and a document of it, or a file and a line."""

    name: str
    index: int


@dataclass(frozen=True)
class Pool:
    """Texts to inject, each with its source; `rows` are documents where it holds those."""

    texts: tuple[str, ...]
    sources: tuple[Source, ...]
    rows: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def holding_word(self) -> Counter[str]:
        """How many of the texts have a word, for each content word."""
        counts: Counter[str] = Counter()
        for start in range(0, len(self.texts), 4096):
            for tokens in words(self.texts[start : start + 4096]):
                counts.update(content(tokens))
        return counts


def sentence_pool(texts: Iterable[Text]) -> Pool:
    """The whole sentences of all documents: passages are cut anywhere, and what is left of a
    sentence at their ends would give the noise away."""
    return _pool(
        (sentence, Source(text.id, at), {})
        for text in texts
        for at, document in enumerate(text.texts)
        for sentence in sentences(document)
        if _is_whole(sentence)
    )


def _is_whole(sentence: str) -> bool:
    return (
        len(sentence) >= _SHORTEST_SENTENCE
        and not sentence[0].islower()
        and sentence.rstrip(_CLOSES).endswith(tuple(_ENDS))
    )


def document_pool(texts: Iterable[Text]) -> Pool:
    """All documents that are not blank."""
    return _pool(
        (document["text"], Source(text.id, at), document)
        for text in texts
        for at, document in enumerate(text.documents)
        if document["text"].strip()
    )


def file_pool(lines: Sequence[str]) -> Pool:
    """The lines of a file that are not blank, each a piece."""
    return _pool(
        (line.strip(), Source(FILE, at), {"text": line.strip()})
        for at, line in enumerate(lines, 1)
        if line.strip()
    )


def _pool(found: Iterable[tuple[str, Source, Row]]) -> Pool:
    least: dict[str, tuple[Source, Row]] = {}
    for text, source, row in found:
        if text not in least or source < least[text][0]:
            least[text] = source, row
    ordered = sorted(least, key=digest)
    return Pool(
        texts=tuple(ordered),
        sources=tuple(least[text][0] for text in ordered),
        rows=tuple(least[text][1] for text in ordered),
    )

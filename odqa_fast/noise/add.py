"""Noise for the texts of a dump; of each row it depends on the seed, the row and the pool alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import get_args

from odqa_fast.errors import OdqaError
from odqa_fast.io.prefetch import work_ahead
from odqa_fast.noise import factual
from odqa_fast.noise.choose import Choice, choose
from odqa_fast.noise.manifest import Kind, Noised
from odqa_fast.noise.place import with_documents, with_sentences, with_swaps
from odqa_fast.noise.pool import Pooled, Source, document_pool, file_pool, sentence_pool
from odqa_fast.profiles import DEFAULT_PROFILE, Profile, get_profile
from odqa_fast.scoring.workers import Workers
from odqa_fast.texts.draws import Draws, digest
from odqa_fast.texts.holding import holding
from odqa_fast.texts.sentences import sentences
from odqa_fast.texts.text import Text, windows
from odqa_fast.texts.words import content, words

#: So many texts are checked against the matcher in one call.
_AT_ONCE = 256

#: So many answers are tried in place of another before it is left as it is.
_MOST_ANSWERS = 20


@dataclass(frozen=True)
class NoiseOptions:
    """What noise to add.

    Attributes:
        kind: `sentences` at sentence borders, `documents` among the retrieved ones, `factual`
            errors in documents that hold an answer (of texts with one question).
        count: pieces for each text; 1 where neither this nor `share` is given. Not for `factual`,
            which has a probability of its own.
        share: pieces until they have at least this share of the text's own code points.
        swap: documents take the place of others that hold no answer, instead of being added.
        top_k: documents go among the first so many; anywhere by default.
        rare: a piece shares no word with the questions that at most this share of the pool has
            (or one piece); 0 turns that guard off.
        seed: another seed is other noise.
        profile: whose rule `normalized` follows where an answer is looked for.

    Raises:
        OdqaError: an option out of its range, or one that this kind does not have.
    """

    kind: Kind
    count: int | None = None
    share: float | None = None
    swap: bool = False
    top_k: int | None = None
    rare: float = 0.01
    seed: int = 0
    profile: str | Profile = DEFAULT_PROFILE

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise OdqaError(
                f"there is no kind of noise {self.kind!r}.",
                hint=f"Kinds: {', '.join(get_args(Kind))}.",
            )
        if self.count is not None and self.share is not None:
            raise OdqaError("a count and a share of noise exclude each other.")
        for name in ("count", "top_k"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OdqaError(f"{name} must be 1 or more, not {value}.")
        if self.share is not None and not 0 < self.share < math.inf:
            raise OdqaError(f"share must be greater than 0 and finite, not {self.share:g}.")
        if not 0 <= self.rare <= 1:
            raise OdqaError(f"rare is a share from 0 to 1, not {self.rare:g}.")
        if self.kind == "factual" and (self.count is not None or self.share is not None):
            raise OdqaError(
                "factual noise takes no count or share: of N documents with an answer each "
                "becomes wrong with probability 1/(N + 1)."
            )
        if self.kind != "documents" and (self.swap or self.top_k is not None):
            raise OdqaError(f"swap and top_k are for documents, not for {self.kind}.")

    @property
    def tag(self) -> str:
        """What makes it this noise, for signatures."""
        amount = f"share={self.share:g}" if self.share else f"count={self.count or 1}"
        parts = [self.kind, *([] if self.kind == "factual" else [amount, f"rare={self.rare:g}"])]
        parts += ["swap"] * self.swap + ([] if self.top_k is None else [f"top_k={self.top_k}"])
        return ",".join([*parts, f"seed={self.seed}"])


def add_noise(
    texts: Sequence[Text],
    options: NoiseOptions,
    *,
    pool: Sequence[str] | None = None,
    threads: int | None = None,
) -> list[Noised]:
    """Adds noise to texts.

    Args:
        texts: the texts; where there is no `pool`, also what the noise is taken from.
        options: what to add.
        pool: sentences, documents or answers to take instead.
        threads: how many; changes nothing.

    Returns:
        One for each text, in order.
    """
    return list(noised_texts(texts, options, pool=pool, threads=threads))


def noised_texts(
    texts: Sequence[Text],
    options: NoiseOptions,
    *,
    pool: Sequence[str] | None = None,
    threads: int | None = None,
    folder: Path | None = None,
) -> Iterator[Noised]:
    """As `add_noise`, one after the other, of which few are in memory.

    Args:
        texts: see `add_noise`; they are gone through several times.
        options: likewise.
        pool: likewise.
        threads: likewise.
        folder: where there is room for the pool; see `odqa_fast.io.kept.Kept`.

    Raises:
        OdqaError: the pool is empty.
        OutputError: there is no room.
    """
    # Not in the generator: what is wrong with the pool is said before anything is written.
    return _streamed(texts, _Noise(texts, options, pool, folder), threads)


def _streamed(texts: Iterable[Text], noise: _Noise, threads: int | None) -> Iterator[Noised]:
    with Workers(threads) as workers:
        parts = work_ahead(
            windows(texts, attrgetter("n_chars"), _AT_ONCE),
            lambda window: workers.submit(noise.add, window),
            workers.threads,
        )
        for _, part in parts:
            assert part is not None
            yield from part.result()


class _Noise:
    """One kind of noise with its pool; threads may share it."""

    def __init__(
        self,
        texts: Sequence[Text],
        options: NoiseOptions,
        pool: Sequence[str] | None,
        folder: Path | None,
    ) -> None:
        self._options = options
        self._profile = get_profile(options.profile)
        if options.kind == "factual":
            self._answers = (
                factual.row_answers(texts, folder)
                if pool is None
                else factual.file_answers(pool, folder)
            )
            return
        if pool is not None:
            self._pool = file_pool(pool, folder)
        else:
            of_rows = sentence_pool if options.kind == "sentences" else document_pool
            self._pool = of_rows(texts, folder)
        if not len(self._pool):
            raise OdqaError("there is nothing to inject: the pool is empty.")
        self._rare = self._pool.rare(_asked(texts), options.rare)

    def add(self, texts: Sequence[Text]) -> list[Noised]:
        """The texts with their noise."""
        add = {
            "sentences": self._sentences,
            "documents": self._documents,
            "factual": self._factual,
        }[self._options.kind]
        return _with_evidence(texts, add(texts), self._profile)

    def _draws(self, text: Text, what: str) -> Draws:
        questions = (question.text for question in text.questions)
        return Draws(self._options.seed, digest(what, text.id, *questions, *text.texts))

    def _wanted(self, text: Text) -> float:
        """Pieces, or code points."""
        if self._options.share is None:
            return self._options.count or 1
        return self._options.share * text.n_chars

    def _amount(self, chosen: Sequence[Pooled]) -> float:
        if self._options.share is None:
            return len(chosen)
        return sum(len(piece.text) for piece in chosen)

    def _choices(self, texts: Sequence[Text], most: Sequence[int] | None = None) -> list[Choice]:
        def choice(at: int, text: Text) -> Choice:
            wanted = self._wanted(text)
            places = len(self._pool) if most is None else most[at]

            def enough(chosen: Sequence[Pooled]) -> bool:
                return len(chosen) >= places or self._amount(chosen) >= wanted

            return Choice(text, self._draws(text, "pieces"), enough)

        choices = [choice(at, text) for at, text in enumerate(texts)]
        choose(choices, self._pool, self._rare, self._profile)
        return choices

    def _unplaced(self, choice: Choice) -> int:
        missing = self._wanted(choice.text) - self._amount(choice.chosen)
        if self._options.share is None:
            return int(missing)
        return int(missing > 0)

    def _sentences(self, texts: Sequence[Text]) -> list[Noised]:
        most = [len(self._pool) if text.documents else 0 for text in texts]
        return [
            replace(
                with_sentences(choice.text, choice.chosen, self._draws(choice.text, "places")),
                unplaced=self._unplaced(choice),
            )
            for choice in self._choices(texts, most)
        ]

    def _documents(self, texts: Sequence[Text]) -> list[Noised]:
        top_k = self._options.top_k
        if not self._options.swap:
            return [
                replace(
                    with_documents(
                        choice.text,
                        choice.chosen,
                        self._draws(choice.text, "places"),
                        top_k,
                    ),
                    unplaced=self._unplaced(choice),
                )
                for choice in self._choices(texts)
            ]
        places = []
        for text, evidential in zip(texts, self._evidential(texts), strict=True):
            free = [at for at in range(len(text.documents))[:top_k] if at not in evidential]
            order = self._draws(text, "places").order(len(free))
            places.append([free[at] for at in order])
        choices = self._choices(texts, [len(free) for free in places])
        return [
            replace(
                with_swaps(choice.text, choice.chosen, free),
                unplaced=self._unplaced(choice),
            )
            for choice, free in zip(choices, places, strict=True)
        ]

    def _evidential(self, texts: Sequence[Text]) -> list[list[int]]:
        """Of each text, which documents hold an answer, as whole tokens."""
        flat = [(at, number) for at, text in enumerate(texts) for number in range(len(text.texts))]
        found = holding(
            [texts[at].texts[number] for at, number in flat],
            [texts[at].answers for at, _ in flat],
            self._profile,
            "token",
        )
        evidential: list[list[int]] = [[] for _ in texts]
        for (at, number), holds in zip(flat, found, strict=True):
            if holds:
                evidential[at].append(number)
        return evidential

    def _factual(self, texts: Sequence[Text]) -> list[Noised]:
        noised = []
        for text, evidential in zip(texts, self._evidential(texts), strict=True):
            draws = self._draws(text, "factual")
            drawn = factual.drawn_document(evidential, draws)
            if drawn is None or len(text.questions) != 1:
                noised.append(Noised(text, ()))
            else:
                noised.append(self._with_error(text, drawn, draws))
        return noised

    def _with_error(self, text: Text, at: int, draws: Draws) -> Noised:
        """The text with an answer of the same kind that is none of its own, which leaves no answer
        in that document; the text as it is where no such answer is found."""
        question = text.questions[0]
        known = self._answers.like(text.answers[0], question.text)
        tried: set[int] = set()
        while len(tried) < min(len(known), _MOST_ANSWERS):
            drawn = draws.below(len(known))
            if drawn in tried:
                continue
            tried.add(drawn)
            answer, source, *_ = known[drawn]
            noised = factual.replaced(text, at, answer, Source(*source))
            written = noised.text.texts[at]
            helps = holding([answer], [text.answers], self._profile, "token", "normalized")
            right = holding([written], [text.answers], self._profile, "token")
            if noised.pieces and not helps[0] and not right[0]:
                return noised
        return Noised(text, (), unplaced=1)


def _asked(texts: Iterable[Text]) -> set[str]:
    """The content words of all questions."""
    asked: set[str] = set()
    questions = (question.text for text in texts for question in text.questions)
    while some := list(islice(questions, _AT_ONCE)):
        asked.update(*map(content, words(some)))
    return asked


def _with_evidence(
    texts: Sequence[Text], noised: Sequence[Noised], profile: Profile
) -> list[Noised]:
    """Notes which sentences of the clean texts hold an answer and still stand in the noisy ones."""
    own = [
        (at, sentence)
        for at, text in enumerate(texts)
        for document in text.texts
        for sentence in sentences(document)
        if any(sentence in noisy for noisy in noised[at].text.texts)
    ]
    answers = [texts[at].answers for at, _ in own]
    found = holding([sentence for _, sentence in own], answers, profile, "token")
    evidence: list[dict[str, None]] = [{} for _ in texts]
    for (at, sentence), holds in zip(own, found, strict=True):
        if holds:
            evidence[at][sentence] = None
    return [replace(each, evidence=tuple(evidence[at])) for at, each in enumerate(noised)]

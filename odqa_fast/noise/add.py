"""Noise for the texts of a dump; of each row it depends on the seed, the row and the pool alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from pathlib import Path

from odqa_fast.errors import OdqaError
from odqa_fast.io.prefetch import work_ahead
from odqa_fast.noise import factual
from odqa_fast.noise.choose import Choice, choose
from odqa_fast.noise.manifest import Noised
from odqa_fast.noise.options import NoiseOptions
from odqa_fast.noise.place import insert_documents, insert_sentences, swap_documents
from odqa_fast.noise.pool import Pooled, Source, pool_documents, pool_lines, pool_sentences
from odqa_fast.profiles import Profile, get_profile
from odqa_fast.scoring.workers import Workers
from odqa_fast.texts.draws import Draws, digest
from odqa_fast.texts.holding import find_holding
from odqa_fast.texts.sentences import split_sentences
from odqa_fast.texts.text import Text, cut_windows
from odqa_fast.texts.words import select_content, split_words

#: So many texts are checked against the matcher in one call.
_AT_ONCE = 256

#: So many answers are tried in place of another before it is left as it is.
_MOST_ANSWERS = 20


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
    return list(stream_noise(texts, options, pool=pool, threads=threads))


def stream_noise(
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
            cut_windows(texts, attrgetter("n_chars"), _AT_ONCE),
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
                factual.pool_row_answers(texts, folder)
                if pool is None
                else factual.pool_file_answers(pool, folder)
            )
            return
        if pool is not None:
            self._pool = pool_lines(pool, folder)
        else:
            of_rows = pool_sentences if options.kind == "sentences" else pool_documents
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
        return Draws(self._options.seed or 0, digest(what, text.id, *questions, *text.texts))

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
                insert_sentences(choice.text, choice.chosen, self._draws(choice.text, "places")),
                unplaced=self._unplaced(choice),
            )
            for choice in self._choices(texts, most)
        ]

    def _documents(self, texts: Sequence[Text]) -> list[Noised]:
        top_k = self._options.top_k
        if not self._options.swap:
            return [
                replace(
                    insert_documents(
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
                swap_documents(choice.text, choice.chosen, free),
                unplaced=self._unplaced(choice),
            )
            for choice, free in zip(choices, places, strict=True)
        ]

    def _evidential(self, texts: Sequence[Text]) -> list[list[int]]:
        """Of each text, which documents hold an answer, as whole tokens."""
        flat = [(at, number) for at, text in enumerate(texts) for number in range(len(text.texts))]
        found = find_holding(
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
            drawn = factual.draw_document(evidential, draws)
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
            noised = factual.replace_answer(text, at, answer, Source(*source))
            written = noised.text.texts[at]
            helps = find_holding([answer], [text.answers], self._profile, "token", "normalized")
            right = find_holding([written], [text.answers], self._profile, "token")
            if noised.pieces and not helps[0] and not right[0]:
                return noised
        return Noised(text, (), unplaced=1)


def _asked(texts: Iterable[Text]) -> set[str]:
    """The content words of all questions."""
    asked: set[str] = set()
    questions = (question.text for text in texts for question in text.questions)
    while some := list(islice(questions, _AT_ONCE)):
        asked.update(*map(select_content, split_words(some)))
    return asked


def _with_evidence(
    texts: Sequence[Text], noised: Sequence[Noised], profile: Profile
) -> list[Noised]:
    """Notes which sentences of the clean texts hold an answer and still stand in the noisy ones."""
    own = [
        (at, sentence)
        for at, text in enumerate(texts)
        for document in text.texts
        for sentence in split_sentences(document)
        if any(sentence in noisy for noisy in noised[at].text.texts)
    ]
    answers = [texts[at].answers for at, _ in own]
    found = find_holding([sentence for _, sentence in own], answers, profile, "token")
    evidence: list[dict[str, None]] = [{} for _ in texts]
    for (at, sentence), holds in zip(own, found, strict=True):
        if holds:
            evidence[at][sentence] = None
    return [replace(each, evidence=tuple(evidence[at])) for at, each in enumerate(noised)]

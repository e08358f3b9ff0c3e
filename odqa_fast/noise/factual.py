"""Factual noise: the answer in a document replaced by another answer of the same kind.

After ACoRN (the ODQA compression paper): of N documents that hold an answer, each becomes wrong
with probability 1/(N + 1), and none with the same; with N < 2 none does. So one always stays right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from odqa_fast.io.kept import Kept
from odqa_fast.noise.manifest import Noised, Piece
from odqa_fast.noise.pool import FILE, Found, Source, sort_pieces
from odqa_fast.texts.draws import Draws
from odqa_fast.texts.text import Text

_MONTHS = re.compile(
    r"\b(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)"
    r"(uary|ruary|ch|il|ust|ember|tember|ober)?\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"[12][0-9]{3}")
_NUMBER = re.compile(r"[\d.,/:-]+")
_ASKING = re.compile(
    r"\b(who|whom|whose|when|where|how many|how much|how long|what year|what time)\b", re.IGNORECASE
)

#: Answers that are written and read together.
_GROUP = 64

#: What is of one kind: the answer's shape, and what the question asks with.
Key = tuple[str, ...]


def tell_shape(answer: str) -> str:
    """What an answer looks like: a year, a date, a number, a quantity, a name, other words."""
    answer = answer.strip()
    if _YEAR.fullmatch(answer):
        return "year"
    if any(character.isdigit() for character in answer):
        if _MONTHS.search(answer):
            return "date"
        return "number" if _NUMBER.fullmatch(answer) else "quantity"
    if answer.lower() in ("yes", "no"):
        return "yes-no"
    # Small words of a name ("of", "da") are lower; what has no case counts as a name.
    first, last = answer[:1], answer.split()[-1][:1] if answer.split() else ""
    named = not (first.islower() or last.islower())
    return f"{'name' if named else 'words'}-{min(len(answer.split()), 3)}"


def find_asking_word(question: str) -> str:
    """What a question asks with (who, when, where, how many, ...); empty where that says little."""
    found = _ASKING.search(question)
    return found[1].lower() if found else ""


class AnswerPool:
    """Answers to put in place of others, by kind; the same whatever the order of the rows."""

    def __init__(
        self, found: Iterable[tuple[str, str, tuple[str, int]]], folder: Path | None = None
    ) -> None:
        """Takes answers with their questions and sources; see `odqa_fast.io.kept.Kept`."""
        self._answers: dict[Key, Kept[Found]] = {}
        for piece in sort_pieces(_of_all_kinds(found), folder):
            if piece.kind not in self._answers:
                self._answers[piece.kind] = Kept(folder=folder, group=_GROUP)
            self._answers[piece.kind].append(piece)

    def like(self, answer: str, question: str) -> Sequence[Found]:
        """Answers of the same shape, to questions that ask with the same word if there are some
        beside this one's own."""
        shape = tell_shape(answer)
        same = self._answers.get((shape, find_asking_word(question)), ())
        return same if len(same) > 1 else self._answers.get((shape, ""), ())


def _of_all_kinds(found: Iterable[tuple[str, str, tuple[str, int]]]) -> Iterator[Found]:
    for answer, question, source in found:
        if answer.strip():
            shape, word = tell_shape(answer), find_asking_word(question)
            for kind in dict.fromkeys([(shape, word), (shape, "")]):
                yield Found(answer, source, kind=kind)


def pool_row_answers(texts: Iterable[Text], folder: Path | None = None) -> AnswerPool:
    """The first answer to each question."""
    found = (
        (answers[0], question.text, (text.id, at))
        for text in texts
        for at, question in enumerate(text.questions)
        if (answers := [answer for answer in question.answers or () if answer])
    )
    return AnswerPool(found, folder)


def pool_file_answers(lines: Sequence[str], folder: Path | None = None) -> AnswerPool:
    """The lines of a file."""
    found = ((line.strip(), "", (FILE, at)) for at, line in enumerate(lines, 1))
    return AnswerPool(found, folder)


def compile_answers(answers: Sequence[str]) -> re.Pattern[str] | None:
    """Finds answers in a text as whole words: in any case, spaced otherwise, in NFC and NFD.

    The longest of those that begin in one place is found. None where no answer has a word.
    """
    spelled = {unicodedata.normalize(form, answer) for answer in answers for form in ("NFC", "NFD")}
    parts = [_spaced(answer) for answer in sorted(spelled, key=lambda text: (-len(text), text))]
    parts = [part for part in parts if part]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _spaced(answer: str) -> str:
    tokens = re.findall(r"\w+|[^\w\s]", answer)
    if not tokens:
        return ""
    pattern = re.escape(tokens[0])
    for before, token in pairwise(tokens):
        both_words = before[-1].isalnum() and token[0].isalnum()
        pattern += (r"\s+" if both_words else r"\s*") + re.escape(token)
    opens = r"(?<!\w)" if re.match(r"\w", tokens[0]) else ""
    closes = r"(?!\w)" if re.match(r"\w", tokens[-1][-1]) else ""
    return f"{opens}{pattern}{closes}"


def draw_document(evidential: Sequence[int], draws: Draws) -> int | None:
    """Which of the documents that hold an answer becomes wrong; see the module's text."""
    if len(evidential) < 2:
        return None
    drawn = draws.below(len(evidential) + 1)
    return None if drawn == len(evidential) else evidential[drawn]


def replace_answer(text: Text, at: int, answer: str, source: Source) -> Noised:
    """The text with another answer in document `at`, wherever it had one of its own."""
    pattern = compile_answers(text.answers)
    document = text.documents[at]
    whole: str = document["text"]
    built: list[str] = []
    pieces: list[Piece] = []
    length = done = 0
    for match in pattern.finditer(whole) if pattern is not None else ():
        before, written = whole[done : match.start()], _in_case_of(match[0], answer)
        start = length + len(before)
        end = start + len(written)
        was = {"text": match[0]}
        pieces.append(Piece("factual", at, start, end, source.name, source.index, was))
        built += [before, written]
        length, done = end, match.end()
    documents = list(text.documents)
    documents[at] = {**document, "text": "".join([*built, whole[done:]])}
    return Noised(text.with_documents(documents), tuple(pieces))


def _in_case_of(found: str, answer: str) -> str:
    """The answer in capitals or small letters where the one it replaces is."""
    if found.isupper() and len(found) > 1:
        return answer.upper()
    if found.islower():
        return answer.lower()
    return answer[:1].upper() + answer[1:] if found[:1].isupper() else answer

"""The sentences that hold an answer: an upper bound, for it is told the answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from odqa_fast.engines.base import Compressor, Task
from odqa_fast.profiles import Profile
from odqa_fast.steps.compressors import CompressorOptions
from odqa_fast.steps.plain import Plain, choose_fitting, join_pieces, split_task
from odqa_fast.texts.holding import find_holding
from odqa_fast.texts.sentences import name_splitter

#: A choice of sentences by their numbers that holds an answer to some question.
Span = tuple[int, ...]


def open_compressor(argument: str, options: CompressorOptions) -> Compressor:
    """Sentences with answers to as many questions as fit, then further ones with answers; of a text
    without any, the first sentences."""

    def kept(task: Task) -> str:
        pieces = split_task(task)
        wanted = [_spans(pieces, answers, options.profile) for answers in task.answers]
        order = _cheapest_first(pieces, [spans for spans in wanted if spans])
        every = [[answer for answers in task.answers for answer in answers]] * len(pieces)
        holds = find_holding(pieces, every, options.profile, "raw", "token")
        order += [at for at, hit in enumerate(holds) if hit and at not in order]
        return join_pieces(pieces, choose_fitting(pieces, order or range(len(pieces)), task))

    return Plain("oracle", kept, name_splitter(), sees_answers=True)


def _spans(pieces: Sequence[str], answers: Sequence[str], profile: Profile) -> list[Span]:
    """Sentences that hold an answer verbatim; else pairs of neighbours, that a wrong border has
    parted; else sentences that hold one as whole tokens."""

    def found(spans: list[Span], mode: str) -> list[Span]:
        texts = [join_pieces(pieces, span) for span in spans]
        holds = find_holding(texts, [answers] * len(spans), profile, mode)
        return [span for span, hit in zip(spans, holds, strict=True) if hit]

    single: list[Span] = [(at,) for at in range(len(pieces))]
    return (
        found(single, "raw")
        or found(list(pairwise(range(len(pieces)))), "raw")
        or found(single, "token")
    )


def _cheapest_first(pieces: Sequence[str], wanted: list[list[Span]]) -> list[int]:
    """One choice of sentences for each question, the shortest additions first."""
    order: list[int] = []
    while wanted:
        costs = [
            min((sum(len(pieces[at]) for at in span if at not in order), span) for span in spans)
            for spans in wanted
        ]
        _, span = min(costs)
        order += [at for at in span if at not in order]
        wanted = [spans for spans in wanted if not any(set(s) <= set(order) for s in spans)]
    return order

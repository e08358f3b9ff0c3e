"""What a row is compressed or answered from, and the two steps that do it."""

from __future__ import annotations

from dataclasses import replace

from odqa_fast.engines.base import Task
from odqa_fast.engines.context import NO_CONTEXT, Context
from odqa_fast.steps.job import Choice
from odqa_fast.steps.step import NOT_ASKED, NotAsked, Row, Step
from odqa_fast.texts.length import make_length


def _take_documents(row: Row) -> Context:
    found = row.get("documents") or []
    texts = [(each.get("title") or "", each["text"]) for each in found if each and each["text"]]
    return Context("documents", tuple(texts)) if texts else NO_CONTEXT


def _need_documents(row: Row) -> Context | NotAsked:
    context = _take_documents(row)
    return context if context.texts else NOT_ASKED


def make_compress_step(level: float | None = None) -> Step:
    """From the documents of a row to its summary; a row without any asks nothing.

    Args:
        level: the largest ratio of compressed to original characters; None where the compressor's
            own length counts.
    """
    step = Step("compressor", "summary", frozenset({"documents"}), _need_documents, ask=_take_task)
    if level is None:
        return step
    length = make_length("chars")

    def take_task(question: str, context: Context) -> Task:
        task = _take_task(question, context)
        # No title counts as a part of the text.
        return replace(task, level=level, length=length, titles=())

    return replace(
        step, ask=take_task, tag=f",level={level:g},{length.tag}", facts={"level": level}
    )


def _take_task(question: str, context: Context) -> Task:
    titles = tuple(title for title, _ in context.texts)
    return Task(tuple(context.plain()), (question,) if question else (), titles=titles)


def make_answer_step(choice: Choice = "auto", *, compressed: bool | None = False) -> Step:
    """From a question and a context to a prediction.

    Args:
        choice: the context; `auto` is the summary where a row has one, else its documents, else
            none. A row that lacks what was chosen is asked without a context; one whose
            compression failed is not asked for its summary's sake.
        compressed: whether the dump has summaries. Where it does, `auto` never takes the documents
            of a row that lacks one: it would be answered from more than the others. None: by what
            columns stand beside the row.
    """

    def take_context(row: Row) -> Context | NotAsked:
        summary = row.get("summary")
        if choice not in ("auto", "summary"):
            return _take_documents(row) if choice == "documents" else NO_CONTEXT
        if summary is not None:
            return Context("summary", (("", summary),))
        if error := row.get("compressor_error"):
            return NotAsked(f"no summary: {error}")
        if row.get("compressor_finish") == "error":
            return NotAsked("no summary: the compression failed")
        documents = _take_documents(row) if choice == "auto" else NO_CONTEXT
        has_summaries = "summary" in row if compressed is None else compressed
        if documents.texts and has_summaries:
            return NotAsked("no summary: the row has none, and others have")
        return documents

    needs = {"question", choice} & {"question", "summary", "documents"}
    return Step("reader", "prediction", frozenset(needs), take_context, choice == "auto")

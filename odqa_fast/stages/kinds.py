"""The two stages that run models: compressing and answering."""

from __future__ import annotations

from typing import Literal

from odqa_fast.inference.prepared import NO_CONTEXT, Context
from odqa_fast.stages.stage import Row, Stage

Choice = Literal["auto", "summary", "documents", "none"]


def _documents(row: Row) -> Context:
    found = row.get("documents") or []
    texts = [(each.get("title") or "", each["text"]) for each in found if each and each["text"]]
    return Context("documents", tuple(texts)) if texts else NO_CONTEXT


def _compressed(row: Row) -> Context | None:
    context = _documents(row)
    return context if context.texts else None


#: From the documents of a row to its summary; a row without any asks nothing.
COMPRESS = Stage("compressor", "summary", frozenset({"documents"}), _compressed)


def answer(choice: Choice = "auto") -> Stage:
    """From a question and a context to a prediction.

    Args:
        choice: the context; `auto` is the summary where a row has one, else its documents, else
            none. A row that lacks what was chosen is asked without a context.
    """

    def context(row: Row) -> Context:
        summary = row.get("summary")
        if choice in ("auto", "summary") and summary is not None:
            return Context("summary", (("", summary),))
        return _documents(row) if choice in ("auto", "documents") else NO_CONTEXT

    needs = {"question", choice} & {"question", "summary", "documents"}
    return Stage("reader", "prediction", frozenset(needs), context, choice == "auto")

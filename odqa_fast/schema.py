"""The canonical columns of a dump, and the other names they go by."""

from __future__ import annotations

import pyarrow as pa

TEXTS = pa.list_(pa.string())

DOCUMENT = pa.struct(
    [
        pa.field("text", pa.string()),
        pa.field("title", pa.string()),
        pa.field("id", pa.string()),
        pa.field("score", pa.float64()),
    ]
)

#: One row per sample. Every column is optional; `id` defaults to the row number from 0. Seconds are
#: those of a row that runs by itself; amortized seconds are its share of a batch. A row about one
#: text may instead have several `questions`, and then the answers of each. `injected` and
#: `evidence_sentences` stand in a noise manifest: what was put into the row's documents, and which
#: sentences of its own hold an answer. Where a row has an error, a compressor or a reader was asked
#: and gave nothing.
SAMPLES = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("question", pa.string()),
        pa.field("answers", TEXTS),
        pa.field("prediction", pa.string()),
        pa.field("documents", pa.list_(DOCUMENT)),
        pa.field("relevant_ids", TEXTS),
        pa.field("summary", pa.string()),
        pa.field("level", pa.float64()),
        pa.field("text_id", pa.string()),
        pa.field("relevance", pa.list_(pa.int32())),
        pa.field("relevant_titles", TEXTS),
        pa.field("evidence", pa.list_(TEXTS)),
        pa.field("compressor_seconds", pa.float64()),
        pa.field("reader_seconds", pa.float64()),
        pa.field("system", pa.string()),
        pa.field("human", pa.string()),
        pa.field("compressor_amortized_seconds", pa.float64()),
        pa.field("reader_amortized_seconds", pa.float64()),
        pa.field("questions", TEXTS),
        pa.field("answers_by_question", pa.list_(TEXTS)),
        pa.field("injected", TEXTS),
        pa.field("evidence_sentences", TEXTS),
        pa.field("compressor_error", pa.string()),
        pa.field("compressor_finish", pa.string()),
        pa.field("reader_error", pa.string()),
    ]
)

#: What is read beside a column and becomes part of it: further gold answers follow `answers`.
PARTS = {"answers": "answer_aliases"}

_PART_TYPES = {part: SAMPLES.field(column).type for column, part in PARTS.items()}

#: Every name that a field of an input can be mapped to.
READABLE = (*SAMPLES.names, *_PART_TYPES)


def column_type(column: str) -> pa.DataType:
    """The type of a canonical column, or of a part of one; any other field is read as text."""
    if column in SAMPLES.names:
        return SAMPLES.field(column).type
    return _PART_TYPES.get(column, pa.string())


#: What came of a model, and the column that says of a row why nothing did.
ERRORS = {"prediction": "reader_error", "summary": "compressor_error"}

#: Names the same columns have in other tools' dumps. The canonical name wins where both stand.
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "id": ("qid", "question_id", "query_id", "_id", "example_id", "QuestionId"),
    "question": ("query", "input_question", "Question"),
    "answers": (
        "golden_answers",
        "gold_answers",
        "gold_answer",
        "expected_answer",
        "answer",
        "Answer",
        "references",
        "reference",
        "golds",
        "gold",
        "targets",
        "ground_truth",
        "ground_truths",
        "possible_answers",
    ),
    "answer_aliases": ("aliases",),
    "prediction": (
        "pred",
        "predict",
        "predicted_answer",
        "generated_answer",
        "output",
        "response",
    ),
    "documents": (
        "docs",
        "ctxs",
        "contexts",
        "passages",
        "retrieved",
        "retrieved_documents",
        "retrieval_result",
        "original",
        "source_text",
    ),
    "relevant_ids": ("gold_ids", "positive_ids"),
    "summary": ("compress", "compressed", "compressed_text", "compressed_context"),
    "text_id": ("cluster_id",),
    "human": ("human_correct", "human_label"),
}

#: Names that may mean something else as well: they count only where no other name stands.
WEAK_NAMES: dict[str, tuple[str, ...]] = {"answers": ("label",)}

#: Objects that stand for a list of answers, by the fields it is made of: those of SQuAD, and of
#: TriviaQA as Hugging Face has it and as it is (its own scorer takes `NormalizedAliases` and
#: `HumanAnswers`). The first whose fields are there counts.
ANSWER_FIELDS = (
    ("text",),
    ("value", "aliases", "normalized_value", "normalized_aliases"),
    ("Value", "Aliases", "NormalizedValue", "NormalizedAliases", "HumanAnswers"),
)

#: Names of a document's fields in other tools' dumps; one with a point is a field of a field
#: (LlamaIndex keeps a document in the `node` of its result).
DOCUMENT_NAMES: dict[str, tuple[str, ...]] = {
    "text": ("contents", "content", "passage", "paragraph_text", "page_content", "node.text"),
    "title": (),
    "id": ("doc_id", "docid", "passage_id", "_id", "node.id_"),
    "score": (),
}

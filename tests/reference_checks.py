"""The reference vectors as checks: which key of which file is which metric under which profile.

Two tests walk this list: one holds the oracles against it, the other the product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reference.store import Record, records


@dataclass(frozen=True)
class Check:
    """One number of one vector file."""

    file: str
    key: str  #: path into `expected`, its parts joined by "/"
    metric: str
    profile: str

    def __str__(self) -> str:
        return f"{self.file}-{self.key}-{self.metric}:{self.profile}"


CHECKS = [
    Check("squad_v1", "squad_v1/em", "em", "squad"),
    Check("squad_v1", "squad_v1/f1", "f1", "squad"),
    Check("squad_v1", "mrqa/em", "em", "squad"),
    Check("squad_v1", "mrqa/f1", "f1", "squad"),
    Check("squad_v2", "squad_v2/exact", "em", "squad2"),
    Check("squad_v2", "squad_v2/f1", "f1", "squad2"),
    Check("squad_v2", "squad_v2_hf/exact", "em", "squad2"),
    Check("squad_v2", "squad_v2_hf/f1", "f1", "squad2"),
    Check("triviaqa", "em", "em", "triviaqa"),
    Check("triviaqa", "f1", "f1", "triviaqa"),
    Check("hotpotqa_2wiki", "hotpot_per_gold/em", "em", "hotpotqa"),
    Check("hotpotqa_2wiki", "hotpot_per_gold/f1", "f1", "hotpotqa"),
    Check("hotpotqa_2wiki", "hotpot_per_gold/prec", "precision", "hotpotqa"),
    Check("hotpotqa_2wiki", "hotpot_per_gold/recall", "recall", "hotpotqa"),
    Check("hotpotqa_2wiki", "2wiki_max/em", "em", "2wiki"),
    Check("hotpotqa_2wiki", "2wiki_max/f1", "f1", "2wiki"),
    Check("hotpotqa_2wiki", "2wiki_max/prec", "precision", "2wiki"),
    Check("hotpotqa_2wiki", "2wiki_max/recall", "recall", "2wiki"),
    Check("musique_coqa_recomp", "musique/em", "em", "musique"),
    Check("musique_coqa_recomp", "musique/f1", "f1", "musique"),
    Check("musique_coqa_recomp", "recomp/em", "em", "recomp"),
    Check("musique_coqa_recomp", "recomp/f1", "f1", "recomp"),
    Check("nq_open_dpr_fid", "dpr_reader_em", "em", "nq"),
    Check("nq_open_dpr_fid", "fid_em", "em", "nq"),
    Check("nq_open_dpr_fid", "orqa_em", "em", "orqa"),
    Check("match_popqa_flashrag", "popqa_acc", "contains", "popqa"),
    Check("match_popqa_flashrag", "selfrag_match", "contains", "selfrag"),
    Check("match_popqa_flashrag", "flashrag/em", "em", "flashrag"),
    Check("match_popqa_flashrag", "flashrag/acc", "contains", "flashrag"),
    Check("match_popqa_flashrag", "flashrag/f1", "f1", "flashrag"),
    Check("match_popqa_flashrag", "flashrag/precision", "precision", "flashrag"),
    Check("match_popqa_flashrag", "flashrag/recall", "recall", "flashrag"),
    Check("longbench", "qa_f1", "f1", "longbench"),
    Check("dpr_has_answer", "dpr_string", "par:token", "nq"),
    Check("dpr_has_answer", "fid", "par:token", "nq"),
    Check("dpr_has_answer", "dpr_kilt", "par:normalized", "nq"),
    Check("dpr_has_answer", "flashrag_contains", "par:normalized", "flashrag"),
    Check("compression_papers", "acorn/em", "em", "acorn"),
    Check("compression_papers", "acorn/f1", "f1", "acorn"),
    Check("compression_papers", "acorn/precision", "precision", "acorn"),
    Check("compression_papers", "acorn/recall", "recall", "acorn"),
    Check("compression_papers", "acorn/acc", "contains", "acorn"),
    Check("compression_papers", "acorn_evidentiality", "par", "acorn"),
    Check("seed1_recipe", "EM", "em", "seed"),
    Check("seed1_recipe", "F1", "f1", "seed"),
    Check("seed1_recipe", "CR", "cr", "seed"),
    Check("seed1_recipe", "PAR", "par", "seed"),
]

#: key of the `normalize` file -> normalizer
NORMALIZER_KEYS = {
    "squad": "squad",
    "regex_module": "regex",
    "triviaqa": "triviaqa",
    "orqa_nfd": "orqa",
}


def rows(check: Check) -> Iterator[tuple[Record, float | None]]:
    """Each row of a check under our own column names, with the score the reference gave it."""
    for record in records(check.file):
        if check.file == "seed1_recipe":
            yield from _seed_items(record, check.key)
        elif check.key.startswith("hotpot_per_gold/"):
            part = check.key.partition("/")[2]
            per_gold = record["expected"]["hotpot_per_gold"]
            for gold, found in zip(record["golds"], per_gold, strict=True):
                yield {"prediction": record["prediction"], "answers": [gold]}, found[part]
        else:
            yield _inputs(record), _expected(record["expected"], check.key)


def _inputs(record: Record) -> Record:
    answers = record["golds"] if "golds" in record else record["answers"]
    row = {"answers": answers}
    if "prediction" in record:
        row["prediction"] = record["prediction"]
    if "summary" in record or "text" in record:
        row["summary"] = record["summary"] if "summary" in record else record["text"]
    return row


def _expected(found: Any, key: str) -> float | None:
    for part in key.split("/"):
        if "error" in found:
            break
        found = found[part]
    if isinstance(found, dict):
        assert set(found) == {"error"}, found
        return None
    assert isinstance(found, float), found
    return found


def _seed_items(record: Record, key: str) -> Iterator[tuple[Record, float | None]]:
    columns = ("final_answers", "gold_answers", "summaries", "original_docs")
    items = zip(*(record[column] for column in columns), strict=True)
    for item, found in zip(items, record["expected_per_item"], strict=True):
        prediction, gold, summary, document = item
        row = {
            "prediction": prediction,
            "answers": [gold],
            "summary": summary,
            "documents": [document],
        }
        yield row, _expected(found, key)

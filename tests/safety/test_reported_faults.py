"""Covers: faults of readers seen in other tools (D034-D049, D055, D061-D063, D068, D072).

D054, D059 and D060 are in test_bad_luck.py, D050-D053 in tests/test_cases.py, and those of joins
(D041, D044, D045) in tests/cli/test_join.py.

Compared against: what each problem report settled on; arithmetic.
Run: pytest tests/safety/test_reported_faults.py -k D036
"""

from __future__ import annotations

import csv
import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import measured, odqa_fast, refused, rows_of, summary_of, write_jsonl


def scored(
    folder: Path, dump: Path, metrics: str = "em", *options: object
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The summary and the rows of a run that the command makes."""
    run = folder / "run"
    summary = summary_of(odqa_fast("score", dump, "--metrics", metrics, "--out", run, *options))
    written = json.loads((run / "summary.json").read_text())
    assert written == summary
    return summary, rows_of(run)


def means(summary: dict[str, Any]) -> dict[str, float | None]:
    return {metric: row["mean"] for metric, row in summary["metrics"].items()}


def by_id(rows: list[dict[str, Any]], metric: str = "em") -> dict[str, Any]:
    return {row["id"]: row[metric] for row in rows}


def text(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_bytes("\n".join(lines).encode())
    return path


GOOD = '{"id":"%s","prediction":"x","answers":["x"]}'


def test_D034_one_line_without_a_newline(tmp_path: Path) -> None:
    dump = text(tmp_path, "one.jsonl", '{"id":"q1","prediction":"Rome","answers":["Rome"]}')
    assert scored(tmp_path, dump)[1] == [{"id": "q1", "em": 1.0}]


@pytest.mark.parametrize(
    ("late", "keep"),
    [
        ('"note":"new field"', "answers"),
        ('"question":"known and new"', "question"),
    ],
)
def test_D035_a_field_that_comes_late(tmp_path: Path, late: str, keep: str) -> None:
    pad = "z" * 100
    lines = [GOOD[:-1] % f"q{i}" + f',"pad":"{pad}"' + "}" for i in range(80_000)]
    dump = text(tmp_path, "late.jsonl", *lines, GOOD[:-1] % "last" + f",{late}" + "}")
    assert dump.stat().st_size > 8 << 20
    summary, rows = scored(tmp_path, dump, "em", "--keep", keep)
    assert means(summary) == {"em": 1.0}
    assert len(rows) == 80_001
    assert rows[-1][keep] == (["x"] if keep == "answers" else "known and new")


def test_D036_a_line_of_8_megabytes(tmp_path: Path) -> None:
    rows = [{"id": f"q{i}", "prediction": "x", "answers": ["x"]} for i in range(10)]
    big = {"id": "big", "prediction": "x", "answers": ["x"], "original": "w " * 4_000_000}
    dump = write_jsonl(tmp_path / "long.jsonl", [*rows, big])
    summary, scores = scored(tmp_path, dump)
    assert means(summary) == {"em": 1.0}
    assert len(scores) == 11


def test_D037_numbers_and_texts_in_one_field(tmp_path: Path) -> None:
    dump = text(
        tmp_path,
        "mixed.jsonl",
        '{"id":1,"prediction":1969,"answers":[1969]}',
        '{"id":"2","prediction":"Paris","answers":["Paris"]}',
        '{"id":3,"prediction":true,"answers":["True","yes"]}',
    )
    assert by_id(scored(tmp_path, dump)[1]) == {"1": 1.0, "2": 1.0, "3": 1.0}


def test_D038_a_bare_gold_is_one_gold(tmp_path: Path) -> None:
    dump = text(
        tmp_path,
        "golds.jsonl",
        '{"id":"a","prediction":"e","answers":"Rome"}',
        '{"id":"b","prediction":"Rome","answers":"Rome"}',
        '{"id":"c","prediction":"Rome","answers":["Roma","Rome"]}',
    )
    assert by_id(scored(tmp_path, dump)[1]) == {"a": 0.0, "b": 1.0, "c": 1.0}


def test_D039_dates_stay_text(tmp_path: Path) -> None:
    dump = text(
        tmp_path,
        "dates.jsonl",
        '{"id":"a","prediction":"2009-01-01","answers":["2009-01-01"]}',
        '{"id":"b","prediction":"2011-05-06","answers":["6 May 2011","2011-05-06"]}',
    )
    summary, rows = scored(tmp_path, dump, "em,f1", "--keep", "prediction")
    assert means(summary) == {"em": 1.0, "f1": 1.0}
    assert by_id(rows, "prediction") == {"a": "2009-01-01", "b": "2011-05-06"}


def test_D040_numbers_in_csv_stay_text(tmp_path: Path) -> None:
    dump = text(
        tmp_path, "p.csv", "id,prediction,answers", '1,007,"[""007""]"', '2,"042","[""042""]"', ""
    )
    rows = scored(tmp_path, dump, "em", "--keep", "prediction")[1]
    assert by_id(rows) == {"1": 1.0, "2": 1.0}
    assert by_id(rows, "prediction") == {"1": "007", "2": "042"}


def test_D042_line_ends_inside_csv_cells(tmp_path: Path) -> None:
    dump = tmp_path / "nl.csv"
    with dump.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["id", "prediction", "answers"])
        for i in range(60_000):
            writer.writerow([i, "first line\nsecond line", '["first line second line"]'])
    summary, rows = scored(tmp_path, dump)
    assert means(summary) == {"em": 1.0}
    assert len(rows) == 60_000


def test_D043_gzip_members(tmp_path: Path) -> None:
    lines = [(GOOD % name + "\n").encode() for name in "abc"]
    dump = tmp_path / "m.jsonl.gz"
    dump.write_bytes(gzip.compress(lines[0]) + gzip.compress(lines[1] + lines[2]))
    assert [row["id"] for row in scored(tmp_path, dump)[1]] == ["a", "b", "c"]


def test_D046_bad_rows_are_named_or_counted(tmp_path: Path) -> None:
    dump = text(tmp_path, "bad.jsonl", GOOD % 1, "{not json}", '"only a string"', "[1,2]", GOOD % 5)
    refused(odqa_fast("score", dump), 3, "bad.jsonl, line 2", "not JSON")
    counts = scored(tmp_path, dump, "em", "--on-error", "skip")[0]["counts"]
    assert (counts["rows_read"], counts["rows"], counts["rejected"]) == (5, 2, 3)
    rejected = (tmp_path / "run" / "rejected.jsonl").read_text().splitlines()
    assert [json.loads(row)["line"] for row in rejected] == [2, 3, 4]


def test_D047_lines_are_those_of_the_file(tmp_path: Path) -> None:
    pad = "z" * 500
    lines = [GOOD[:-1] % i + f',"pad":"{pad}"' + "}" for i in range(20_000)]
    bad = '{"id":20000,"prediction":["nested"],"answers":["x"]}'
    dump = text(tmp_path, "blk.jsonl", *lines, bad)
    assert dump.stat().st_size > 8 << 20
    refused(odqa_fast("score", dump), 3, "line 20001:", "'prediction'")


def test_D048_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    dump = text(
        tmp_path,
        "u.jsonl",
        '{"id":"1","prediction":"left\u2028right","answers":["left right"]}',
        '{"id":"2","prediction":"a\u0085b","answers":["a b"]}',
        '{"id":"3","prediction":"c\u2029d","answers":["c d"]}',
    )
    # "a" is an article: b is left of the second row on both sides.
    assert by_id(scored(tmp_path, dump)[1]) == {"1": 1.0, "2": 1.0, "3": 1.0}


def test_D049_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    dump = tmp_path / "bad.jsonl"
    dump.write_bytes(
        b'{"id":"1","prediction":"ok","answers":["ok"]}\n'
        b'{"id":"2","prediction":"caf\xe9","answers":["caf\xc3\xa9"]}\n'
    )
    refused(odqa_fast("score", dump), 3, "bad.jsonl, line 2", "'prediction'", "UTF-8")
    summary, rows = scored(tmp_path, dump, "em", "--encoding-errors", "replace")
    assert by_id(rows) == {"1": 1.0, "2": 0.0}
    assert summary["counts"]["replaced_encodings"] == 1


def test_D055_a_dictionary_of_contexts_is_not_written_out(tmp_path: Path) -> None:
    # 5 GB where it is decoded: 20,000 rows name one of four texts of 250,000 characters.
    contexts = pa.array([(f"c{k} " * 83_334)[:250_000] for k in range(4)])
    n = 20_000
    table = pa.table(
        {
            "prediction": ["x"] * n,
            "answers": [["x"]] * n,
            "original": pa.DictionaryArray.from_arrays(
                pa.array([i % 4 for i in range(n)], pa.int32()), contexts
            ),
            "compressed": ["c"] * n,
        }
    )
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    pq.write_table(table, tmp_path / "t.parquet")
    few = write_jsonl(tmp_path / "few.jsonl", [{"summary": "c", "documents": ["c"]}])
    baseline = measured("score", few, "--metrics", "cr", folder=tmp_path)[1]
    for name in ("t.arrow", "t.parquet"):
        done, peak = measured("score", tmp_path / name, "--metrics", "cr", folder=tmp_path)
        assert means(summary_of(done)) == {"cr": 1 / 250_000}
        assert peak < baseline + 300


def test_D061_a_wrong_column(tmp_path: Path) -> None:
    dump = text(tmp_path, "p.jsonl", '{"qid":"1","reply":"x","truth":["x"]}')
    done = odqa_fast("score", dump, "--metrics", "em")
    refused(done, 2, "'prediction'", "reply", "truth", "qid", "--map")


def test_D062_no_value_is_null_and_counted(tmp_path: Path) -> None:
    row = {"id": "1", "prediction": "x", "answers": ["x"], "original": "", "compressed": ""}
    dump = write_jsonl(tmp_path / "e.jsonl", [row])
    summary, rows = scored(tmp_path, dump, "em,cr")
    assert means(summary) == {"em": 1.0, "cr": None}
    assert (summary["metrics"]["cr"]["n_scored"], summary["metrics"]["cr"]["n_null"]) == (0, 1)
    assert rows == [{"id": "1", "em": 1.0, "cr": None}]
    assert "nan" not in (tmp_path / "run" / "summary.json").read_text().lower()


def test_D063_empty_originals_and_compressions(tmp_path: Path) -> None:
    rows = [
        {"id": "r1", "answers": ["x"], "compressed": "", "original": "some text"},
        {"id": "r2", "answers": ["x"], "compressed": "x", "original": ""},
        {"id": "r3", "answers": ["x"], "compressed": "longer than before x", "original": "x y"},
    ]
    summary, scores = scored(tmp_path, write_jsonl(tmp_path / "d.jsonl", rows), "cr,par")
    assert by_id(scores, "cr") == {"r1": 0.0, "r2": None, "r3": 20 / 3}
    assert by_id(scores, "par") == {"r1": 0.0, "r2": 1.0, "r3": 1.0}
    assert summary["metrics"]["cr"]["mean"] == pytest.approx(20 / 3 / 2, abs=1e-15)
    assert summary["metrics"]["cr"]["n_null"] == 1
    assert summary["counts"]["longer_summaries"] == 1


SHARDS = [
    '{"id":"1","prediction":null,"answers":["x"]}',
    '{"id":"2","prediction":"x","answers":["x"]}',
    '{"id":"3","answers":["x"]}',
]
ORDERS = list(permutations(range(3)))


@pytest.mark.parametrize("order", ORDERS)
def test_D068_a_shard_of_nulls(tmp_path: Path, order: tuple[int, ...]) -> None:
    for place, shard in enumerate(order):
        text(tmp_path, f"s{place}.jsonl", SHARDS[shard], "")
    rows = scored(tmp_path, tmp_path / "s*.jsonl")[1]
    assert by_id(rows) == {"1": 0.0, "2": 1.0, "3": 0.0}
    assert [row["id"] for row in rows] == [str(shard + 1) for shard in order]


@pytest.mark.parametrize(
    "data",
    [
        '{\n  "id": "1",\n  "prediction": "x",\n  "answers": [\n    "x"\n  ]\n}\n',
        '[{"id":"1","prediction":"x","answers":["x"]}]\n',
        '[\n  {\n    "id": "1",\n    "prediction": "x",\n    "answers": ["x"]\n  }\n]',
    ],
)
def test_D072_json_that_is_not_json_lines(tmp_path: Path, data: str) -> None:
    dump = text(tmp_path, "pretty.json", data)
    assert scored(tmp_path, dump)[1] == [{"id": "1", "em": 1.0}]

"""Files of every format and packing, folders, pipes, and what cannot be read."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import jsonl, read, write

from odqa_fast.errors import DataError, SchemaError
from odqa_fast.io.formats import sniff

ROWS = [
    {"id": str(i), "answers": ["x", f"é{i}"], "prediction": f"p{i}", "documents": [{"text": "t"}]}
    for i in range(20)
]
LINES = jsonl(ROWS)
TABLE = pa.Table.from_pylist(ROWS)


def packed(codec: str, data: bytes) -> bytes:
    return bytes(pa.compress(data, codec, asbytes=True))


def ipc(new: Any, table: pa.Table = TABLE) -> bytes:
    sink = io.BytesIO()
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return sink.getvalue()


def parquet(table: pa.Table = TABLE, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def cells(row: dict[str, Any]) -> str:
    quoted = [v if isinstance(v, str) else json.dumps(v) for v in row.values()]
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in quoted)


CSV = "\n".join(["id,answers,prediction,documents", *map(cells, ROWS)]).encode()
HALF = len(jsonl(ROWS[:9]))

FORMATS = {
    "jsonl": LINES,
    "gz": gzip.compress(LINES),
    "gz of members": gzip.compress(LINES[:HALF]) + gzip.compress(LINES[HALF:]),
    "zst": packed("zstd", LINES),
    "zst of frames": packed("zstd", LINES[:HALF]) + packed("zstd", LINES[HALF:]),
    "array": json.dumps(ROWS).encode(),
    "array.gz": gzip.compress(json.dumps(ROWS).encode()),
    "csv": CSV,
    "csv.zst": packed("zstd", CSV),
    "parquet": parquet(row_group_size=6),
    "parquet plain": parquet(use_dictionary=False),
    "arrow": ipc(pa.ipc.new_file),
    "arrow stream": ipc(pa.ipc.new_stream),
    "arrow stream.gz": gzip.compress(ipc(pa.ipc.new_stream)),
    "arrow.zst": packed("zstd", ipc(pa.ipc.new_file)),
    "parquet.gz": gzip.compress(parquet()),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, "dump.txt", FORMATS[name])
    result = read(path)
    assert result.rows == ROWS
    assert result.counts.rows_read == len(ROWS)
    assert result.counts.bytes_read == path.stat().st_size
    assert {"id", "answers", "prediction", "documents"} <= set(result.found)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_from_a_pipe(name: str, tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from reading import read\n"
        "result = read('-'); print(len(result.rows), result.rows[-1]['prediction'])"
    )
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", code, str(here), *sys.path],
        input=FORMATS[name],
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [b"20", b"p19"]
    assert done.stderr == b""


def test_shards_folders_and_globs(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    write(folder, "b.parquet", parquet(TABLE.slice(10)))
    write(folder, "a.jsonl", jsonl(ROWS[:10]))
    write(folder, ".hidden", "not a dump")
    (folder / "inner").mkdir()
    for paths in (
        folder,
        str(folder / "*.*"),
        [folder / "a.jsonl", folder / "b.parquet"],
        folder.as_uri(),
        [(folder / "a.jsonl").as_uri(), str(folder / "b*")],
    ):
        assert read(paths).rows == ROWS


def test_a_name_with_glob_characters(tmp_path: Path) -> None:
    assert read(write(tmp_path, "run[1]*.jsonl", LINES)).rows == ROWS


def test_rows_count_from_0_in_every_file(tmp_path: Path) -> None:
    good = write(tmp_path, "a.parquet", parquet())
    bad = write(tmp_path, "b.parquet", parquet(pa.table({"prediction": [["x"]]})))
    with pytest.raises(DataError, match=r"b\.parquet, row 0: field 'prediction' must be text"):
        read([good, bad])


def test_all_null_in_one_shard(tmp_path: Path) -> None:
    shards = [
        write(tmp_path, "0", b'{"id":"1","prediction":null,"answers":["x"]}\n'),
        write(tmp_path, "1", b'{"id":"2","prediction":"x","answers":["x"]}\n'),
    ]
    assert read(shards).column("prediction") == [None, "x"]
    assert read(shards[::-1]).column("prediction") == ["x", None]


def test_empty_files(tmp_path: Path) -> None:
    for data in (b"", b"\n\n", gzip.compress(b""), b"\xef\xbb\xbf", parquet(TABLE.slice(0, 0))):
        result = read(write(tmp_path, "empty", data))
        assert (result.rows, result.counts.rows_read) == ([], 0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(LINES)[:-9], "Truncated compressed stream"),
        (packed("zstd", LINES)[:-3], "Truncated compressed stream"),
        (parquet()[:-20], "broken Parquet file"),
        (ipc(pa.ipc.new_file)[:-20], "broken Arrow file"),
        (ipc(pa.ipc.new_stream)[:-60], "broken Arrow stream"),
        (b"PK\x03\x04rest of a zip", "zip archive. Unzip it first"),
        (b"\xfd7zXZ\0rest", "Decompress it first"),
        (LINES.decode().encode("utf-16"), "UTF-16"),
        (LINES.decode().encode("utf-16-le"), "UTF-16"),
    ],
)
def test_broken_files(data: bytes, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path, "broken.jsonl", data)
    with pytest.raises(DataError, match=reason) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_missing_places(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "no.jsonl", "no such file"),
        (tmp_path / "*.jsonl", "matches no file"),
        (tmp_path, "holds no file"),
        (f"{tmp_path.as_uri()}/no.jsonl", "no such file"),
    ):
        with pytest.raises(DataError, match=reason):
            read(path)
    with pytest.raises(SchemaError, match="no format 'xml'"):
        read(write(tmp_path, "a", b""), fmt="xml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = write(tmp_path, "secret", LINES)
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read"):
        read(path)


@pytest.mark.parametrize(
    ("head", "fmt"),
    [
        (b'{"id":1}\n', "jsonl"),
        (b'  \n{"id":1}', "jsonl"),
        (b'x"id":1}\n{"id":2}\n{"id":3}\n', "jsonl"),
        (b'[1,2]\n{"id":2}\n', "jsonl"),
        (b'["id":1}\n{"id":2}\n{"id":3}\n', "jsonl"),
        (b'{not json}\n{"id":2}\n', "jsonl"),
        (b"", "jsonl"),
        (b'[\n{"id":1}\n]', "json"),
        (b'[{"id":1},\n{"id":2}]', "json"),
        (b'{\n "id": 1\n}', "json"),
        (b"prediction\nx\n", "csv"),
        (b"id\tprediction\n1\tx", "csv"),
    ],
)
def test_sniffing(head: bytes, fmt: str) -> None:
    assert sniff(head, "f") == fmt


def test_parquet_layouts(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array(["1", "2", "3", "4"], pa.large_string()),
            "prediction": pa.array(["x", "y", "x", "y"], pa.string_view()),
            "original": pa.array(["aa", "aa", "bb", "bb"]).dictionary_encode(),
            "answers": pa.array([["x"], ["z"], ["x"], []], pa.large_list(pa.large_string())),
        }
    )
    result = read(write(tmp_path, "t", parquet(table)))
    assert result.column("prediction") == ["x", "y", "x", "y"]
    assert result.column("answers") == [["x"], ["z"], ["x"], []]
    assert [row[0]["text"] for row in result.column("documents")] == ["aa", "aa", "bb", "bb"]


def test_parquet_reads_only_known_fields_of_documents(tmp_path: Path) -> None:
    document = {"contents": "t", "score": 1.5, "vector": [0.5] * 8}
    table = pa.Table.from_pylist([{"ctxs": [document, None]}, {"ctxs": None}])
    result = read(write(tmp_path, "t", parquet(table)))
    assert result.rows == [{"documents": [{"text": "t", "score": 1.5}, None]}, {"documents": None}]


def test_broken_text_in_arrow_files(tmp_path: Path) -> None:
    offsets = pa.array([0, 2, 6, 7], pa.int32()).buffers()[1]
    broken = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"okcaf\xe9!"))
    answers = pa.ListArray.from_arrays([0, 1, 2, 3], broken)
    table = pa.table({"id": ["a", "b", "c"], "prediction": broken, "answers": answers})
    for data in (parquet(table), ipc(pa.ipc.new_file, table), ipc(pa.ipc.new_stream, table)):
        path = write(tmp_path, "t", data)
        with pytest.raises(DataError, match=r"row 1: field 'answers' .* is not UTF-8"):
            read(path)
        assert read(path, on_error="skip").column("id") == ["a", "c"]
        result = read(path, encoding_errors="replace")
        assert result.column("prediction") == ["ok", "caf\ufffd", "!"]
        assert result.counts.replaced_encodings == 1


def test_a_bomb_is_read_in_blocks(tmp_path: Path) -> None:
    row = jsonl([{"id": 1, "prediction": "x", "pad": "0" * 100_000}])
    path = write(tmp_path, "bomb", gzip.compress(row * 500))
    assert path.stat().st_size < len(row) * 500 / 500
    assert read(path).counts.rows_read == 500


@pytest.mark.slow
def test_a_column_over_2_gib(tmp_path: Path) -> None:
    text = "w" * (1 << 20)
    writer = None
    for k in range(9):
        original = pa.array([text] * 256).dictionary_encode().cast(pa.string())
        table = pa.table({"id": [str(k * 256 + i) for i in range(256)], "original": original})
        writer = writer or pq.ParquetWriter(tmp_path / "big.parquet", table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    from odqa_fast.io import ReadOptions, open_dump

    n_rows = 0
    for batch in open_dump(tmp_path / "big.parquet", ReadOptions(frozenset({"id", "documents"}))):
        assert batch.nbytes < 64 << 20
        n_rows += batch.num_rows
    assert n_rows == 2304

"""Covers: what a dump may have wrong. Each fault ends the command with one line that says where.

Compared against: the exit codes of the README; places counted by hand.
Run: pytest tests/safety/test_bad_input.py
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from as_bytes import arrow, parquet
from program import Done, odqa_fast, refused, rows_of, summary_of

GOOD = b'{"id":"1","prediction":"x","answers":["x"]}\n'
HEADER = b"id,prediction,answers\n"
MANY = b"".join(b'{"id":"%d","prediction":"x","answers":["x"]}\n' % i for i in range(2000))


TABLE = pa.table({"id": ["a", "b"], "prediction": ["x", "y"], "answers": [["x"], ["y"]]})
NESTED = pa.table({"id": ["a", "b"], "prediction": [["x"], ["y"]], "answers": [["x"], ["y"]]})
LATIN = pa.table(
    {
        "prediction": pa.array([b"ok", b"caf\xe9"]).view(pa.string()),
        "answers": [["x"], ["y"]],
    }
)


def second(line: str) -> bytes:
    return GOOD + line.encode() + b"\n" + GOOD


#: What is in the file, and what the one line must say.
BAD: dict[str, tuple[bytes, list[str]]] = {
    "not JSON": (second("{not json}"), ["line 2", "not JSON", "--on-error skip"]),
    "cut off in a line": (GOOD + GOOD[:-9], ["line 2", "the file ends inside this record"]),
    "a text for a row": (second('"only a string"'), ["line 2", "object", "text"]),
    "a list for a row": (second("[1,2]"), ["line 2", "object", "a list"]),
    "a number for a row": (second("17"), ["line 2", "object", "a number"]),
    "two objects on a line": (second(GOOD.decode().strip() * 2), ["line 2", "not JSON"]),
    "a gold that is a dict": (
        second('{"id":"2","prediction":"x","answers":{"texts":["x"]}}'),
        ["line 2", "'answers'", "an object", "list of texts"],
    ),
    "a gold with a dict inside": (
        second('{"id":"2","prediction":"x","answers":["x",{"a":1}]}'),
        ["line 2", "'answers'", "[1]", "an object"],
    ),
    "a gold with a list inside": (
        second('{"id":"2","prediction":"x","answers":[["x"]]}'),
        ["line 2", "'answers'", "[0]", "a list"],
    ),
    "a list of predictions": (
        second('{"id":"2","prediction":["nested"],"answers":["x"]}'),
        ["line 2", "'prediction'", "text", "a list"],
    ),
    "a dict for a prediction": (
        second('{"id":"2","prediction":{},"answers":["x"]}'),
        ["line 2", "'prediction'", "an object"],
    ),
    "a list for an id": (
        second('{"id":[2],"prediction":"x","answers":["x"]}'),
        ["line 2", "'id'", "a list"],
    ),
    "a lone surrogate": (
        second('{"id":"2","prediction":"\\ud83d","answers":["x"]}'),
        ["line 2", "'prediction'", "U+D83D"],
    ),
    "a lone surrogate in a gold": (
        second('{"id":"2","prediction":"x","answers":["x","a\\udc00"]}'),
        ["line 2", "'answers'", "[1]", "U+DC00"],
    ),
    "surrogates the wrong way round": (
        second('{"id":"2","prediction":"\\ude00\\ud83d","answers":["x"]}'),
        ["line 2", "'prediction'", "U+DE00"],
    ),
    "Latin-1": (
        GOOD + '{"id":"2","prediction":"café","answers":["x"]}\n'.encode("latin-1"),
        ["line 2", "'prediction'", "not UTF-8", "0xe9"],
    ),
    "Latin-1 in a field that nobody needs": (
        GOOD + '{"note":"é","id":"2","prediction":"x","answers":["x"]}\n'.encode("latin-1"),
        ["line 2", "'note'", "not UTF-8"],
    ),
    "a key twice": (
        second('{"id":"2","prediction":"x","answers":["x"],"prediction":"y"}'),
        ["line 2", "'prediction'", "twice"],
    ),
    "nested without end": (
        second('{"id":"2","prediction":"x","answers":' + "[" * 100_000 + "}"),
        ["line 2", "nested too deeply"],
    ),
    "UTF-16 with a mark": (GOOD.decode().encode("utf-16"), ["UTF-16", "iconv"]),
    "UTF-16 without": (GOOD.decode().encode("utf-16-le"), ["UTF-16", "iconv"]),
    "UTF-16, big end first": (GOOD.decode().encode("utf-16-be"), ["UTF-16", "iconv"]),
    "UTF-32": (GOOD.decode().encode("utf-32"), ["UTF-32"]),
    "CSV in UTF-16": ((HEADER + b"1,x,x\n").decode().encode("utf-16"), ["UTF-16"]),
    "gzip cut off": (gzip.compress(MANY)[:-20], ["runcated"]),
    "gzip cut off in its second member": (
        gzip.compress(MANY) + gzip.compress(MANY)[:-20],
        ["runcated"],
    ),
    "gzip with a wrong byte": (
        gzip.compress(MANY)[:60] + b"\xff\xff\xff" + gzip.compress(MANY)[63:],
        ["cannot be read"],
    ),
    "zstd cut off": (bytes(pa.compress(MANY, "zstd", asbytes=True))[:-9], ["runcated"]),
    "a zip archive": (b"PK\x03\x04rest", ["zip archive", "Unzip"]),
    "tar": (b"a.jsonl".ljust(257, b"\0") + b"ustar", ["tar archive", "Unpack"]),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ["line 1", "not UTF-8", "Parquet"]),
    "objects with commas between": (GOOD.replace(b"\n", b",\n") * 2, ["line 1", "not JSON"]),
    "lines that end with CR": (GOOD.replace(b"\n", b"\r") * 2, ["line 1", "not JSON"]),
    "CSV that ends its lines with CR": (
        (HEADER + b"1,x,x\n").replace(b"\n", b"\r"),
        ["line 1", "not CSV", "CR"],
    ),
    "xz": (b"\xfd7zXZ\0rest", ["xz", "Decompress"]),
    "Parquet cut off": (parquet(TABLE)[:-10], ["broken Parquet file"]),
    "Parquet in name only": (b"PAR1 and then nothing of it", ["broken Parquet file"]),
    "Arrow cut off": (arrow(TABLE)[:-10], ["broken Arrow file"]),
    "Parquet with lists for texts": (parquet(NESTED), ["row 0", "'prediction'", "a list"]),
    "Parquet with Latin-1": (parquet(LATIN), ["row 1", "'prediction'", "not UTF-8"]),
    "a row of CSV too short": (HEADER + b"1,x,x\n2,x\n", ["line 3", "2 cells", "3"]),
    "a row of CSV too long": (HEADER + b"1,x,x,x\n", ["line 2", "4 cells", "3"]),
    "a CSV quote without end": (HEADER + b'1,x,x\n2,"x,x\n3,x,x\n', ["line 3", "not CSV"]),
    "CSV with a dict for a gold": (
        HEADER + b'1,x,"{""a"": 1}"\n',
        ["line 2", "'answers'", "an object"],
    ),
    "CSV with half a list": (HEADER + b'1,x,"[""a"""\n', ["line 2", "'answers'", "JSON"]),
    "CSV in Latin-1": (HEADER + b"1,caf\xe9,x\n", ["line 2", "not UTF-8"]),
    "an array without end": (b"[\n" + GOOD.strip() + b",\n", ["line 2", "ends inside the array"]),
    "more after an array": (b"[" + GOOD.strip() + b"\n]\nand more", ["line 3", "follows"]),
    "an array of texts": (b'[\n"a",\n"b"\n]', ["line 2", "object"]),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, list[str]]]:
    """How the program ended on each, and what then lay in the folder; some at once, to be quick."""

    def run(data: bytes, folder: Path) -> tuple[Done, list[str]]:
        dump = folder / "dump.jsonl"
        dump.write_bytes(data)
        done = odqa_fast("score", dump, "--out", folder / "runs" / "a")
        return done, os.listdir(folder)

    folders = [tmp_path_factory.mktemp("bad") for _ in BAD]
    with ThreadPoolExecutor() as pool:
        results = pool.map(run, (data for data, _ in BAD.values()), folders)
        return dict(zip(BAD, results, strict=True))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_dump_is_refused_with_its_place(
    name: str, ended: dict[str, tuple[Done, list[str]]]
) -> None:
    done, left = ended[name]
    refused(done, 3, "dump.jsonl", *BAD[name][1])
    assert left == ["dump.jsonl"]


def test_a_bad_dump_on_stdin(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(second("{not json}"))
    refused(odqa_fast("score", "-", stdin=dump), 3, "standard input, line 2", "not JSON")


def test_a_bad_file_among_good_ones(tmp_path: Path) -> None:
    for name, data in (("a", MANY), ("b", second("{not json}")), ("c", MANY)):
        (tmp_path / name).write_bytes(data)
    refused(odqa_fast("score", tmp_path), 3, f"{tmp_path}/b, line 2:")


def test_a_line_over_the_limit(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(GOOD + b'{"id":"2","prediction":"%s"}\n' % (b"x" * 5000) + GOOD)
    done = odqa_fast("score", dump, "--max-line-bytes", "1000")
    refused(done, 3, "line 2", "5026 bytes", "max_line_bytes = 1000")
    skipped = odqa_fast("score", dump, "--max-line-bytes", "1000", "--on-error", "skip")
    assert summary_of(skipped)["counts"]["rejected"] == 1


SKIPPED: dict[str, tuple[bytes, list[int | None]]] = {
    "JSON lines": (
        GOOD + b'{not json}\n"only a string"\n[1,2]\n\n{"answers":{}}\n' + GOOD,
        [2, 3, 4, 6],
    ),
    "CSV": (HEADER + b'1,x,x\n2,x\n"3\n3",x,"[""x""]"\n4,caf\xe9,x\n5,x,"[1"\n', [3, 6, 7]),
    "array": (b'[\n{"prediction":"x","answers":["x"]},\n17,\n{"prediction":[]}\n]', [3, 4]),
}


@pytest.mark.parametrize("name", SKIPPED)
def test_what_is_skipped_is_kept_with_its_place(name: str, tmp_path: Path) -> None:
    data, lines = SKIPPED[name]
    dump, out = tmp_path / "dump", tmp_path / "run"
    dump.write_bytes(data)
    done = odqa_fast("score", dump, "--on-error", "skip", "--out", out)
    counts = summary_of(done)["counts"]
    assert counts["rejected"] == len(lines)
    assert counts["rows_read"] == counts["rows"] + len(lines)
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    assert [row["line"] for row in rejected] == lines
    assert all(row["file"] == str(dump) and row["reason"] and row["text"] for row in rejected)
    assert len(rows_of(out)) == counts["rows"]
    assert f"note: {len(lines)} rows were rejected and are left out.\n" in done.stderr


@pytest.mark.parametrize("name", ["Latin-1", "CSV in Latin-1", "Parquet with Latin-1"])
def test_encoding_errors_replace(name: str, tmp_path: Path) -> None:
    dump, out = tmp_path / "dump", tmp_path / "run"
    dump.write_bytes(BAD[name][0])
    done = odqa_fast(
        "score", dump, "--encoding-errors", "replace", "--keep", "prediction", "--out", out
    )
    assert summary_of(done)["counts"]["replaced_encodings"] == 1
    assert "replaced by U+FFFD" in done.stderr
    assert rows_of(out)[-1]["prediction"] == "caf\ufffd"


FINE: dict[str, bytes] = {
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "CRLF": GOOD.replace(b"\n", b"\r\n") * 2 + b"\r\n",
    "no newline at the end": GOOD * 2 + GOOD.strip(),
    "blank lines": b"\n\n" + GOOD + b"  \n\t\n" + GOOD,
    "blanks around": b"  " + GOOD.strip() + b" \t\r\n",
    "CSV with CRLF and a mark": b"\xef\xbb\xbf" + (HEADER + b"1,x,x\n").replace(b"\n", b"\r\n"),
    "TSV": (HEADER + b"1,x,x\n").replace(b",", b"\t"),
    "a pair of surrogates": b'{"prediction":"\\ud83d\\ude00","answers":["\xf0\x9f\x98\x80"]}\n',
    "a null character": b'{"prediction":"a\\u0000b","answers":["a\\u0000b"]}\n',
    "a key twice that nobody needs": b'{"a":1,"prediction":"x","a":2,"answers":["x"]}\n',
    "numbers and truth": (
        b'{"prediction":1969,"answers":[1969]}\n{"prediction":true,"answers":"True"}'
    ),
    "a number too large for anything": b'{"id":1e999,"prediction":%s,"answers":[%s]}\n'
    % ((b"9" * 5000,) * 2),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_no_fault(name: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    dump.write_bytes(FINE[name])
    summary = summary_of(odqa_fast("score", dump, "--metrics", "em"))
    assert summary["metrics"]["em"]["mean"] == 1.0
    assert summary["counts"]["rejected"] == 0


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def unreadable(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path.write_bytes(GOOD)
    path.chmod(0)


PLACES: dict[str, tuple[Any, str, list[str]]] = {
    "nothing": (lambda path: None, "d", ["no such file or folder"]),
    "no match": (lambda path: None, "d*", ["matches no file"]),
    "a folder without files": (lambda path: path.mkdir(), "d", ["holds no file", "glob"]),
    "a socket": (socket_at, "d", ["cannot be opened"]),
    "a link to nothing": (lambda path: path.symlink_to("gone"), "d", ["no such file"]),
    "a link to itself": (lambda path: path.symlink_to("d"), "d", ["cannot be opened"]),
    "a file as a folder": (lambda path: path.write_bytes(GOOD), "d/e", ["Not a directory"]),
    "without permission": (unreadable, "d", ["may not be read", "permissions"]),
    "a file that fails when it is read": (
        lambda path: path.symlink_to("/proc/self/mem"),
        "d",
        ["cannot be read", "Input/output error"],
    ),
    "a system that nobody knows": (lambda path: None, "gopher://x/y", ["cannot be opened"]),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_place_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    make, asked, said = PLACES[name]
    folder = tmp_path / "in"
    folder.mkdir()
    make(folder / "d")
    asked = asked if "://" in asked else str(folder / asked)
    done = odqa_fast("score", asked, "--out", tmp_path / "runs" / "a")
    refused(done, 3, asked, *said)
    assert os.listdir(tmp_path) == ["in"]


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(HEADER + b"2,x,x\n")
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    assert summary_of(odqa_fast("score", tmp_path))["counts"]["rows"] == 2


def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\x1b[31m.jsonl"
    Path(os.fsdecode(name)).write_bytes(GOOD)
    out = tmp_path / "run"
    done = odqa_fast("score", os.fsdecode(name), "--out", out)
    assert summary_of(done)["inputs"][0]["path"].endswith("\ufffd\x1b[31m.jsonl")
    Path(os.fsdecode(name)).write_bytes(b"{")
    refused(odqa_fast("score", os.fsdecode(name)), 3, "\\x1b[31m.jsonl", "line 1")
    skipped = odqa_fast("score", os.fsdecode(name), "--on-error", "skip", "--out", out)
    assert "Traceback" not in skipped.stderr


def test_stdin_that_is_closed_or_asked_for_twice(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -P -m odqa_fast score - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    refused(done, 3, "standard input", "closed")
    refused(odqa_fast("score", "-", "--answers", "-"), 2, "'-'", "once")

"""Covers: what --out may be named, stand on and replace, in every command that has it.

Compared against: the bytes that were there before, exit codes of the README.
Run: pytest tests/cli/test_out.py
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from island import rows
from program import odqa_fast, refused, summary_of, write_jsonl

from odqa_fast import answer_file, compress_file, score_file
from odqa_fast.errors import OdqaError, OutputError
from odqa_fast.levels.job import levels_file
from odqa_fast.noise.job import noise_file

BM25 = ("--compressor", "bm25", "--level", "0.5")
JUDGE = ("--provider", "http:http://127.0.0.1:1/v1#m")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Rows in a file whose name says nothing, for any command may be tempted to write to it."""
    return write_jsonl(tmp_path / "dump", rows(5))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder that a run may replace, with rows to be read."""
    folder = tmp_path / "run"
    folder.mkdir()
    columns = {"id": ["1"], "question": ["Who?"], "answers": [["Ada"]], "prediction": ["Ada"]}
    pq.write_table(pa.table({**columns, "documents": [["Ada did it."]]}), folder / "scores.parquet")
    return folder


def kept(place: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [("noise",), ("compress", *BM25), ("answer", "--model", "none")],
    ids=lambda command: command[0],
)
def test_an_input_is_not_replaced_by_a_file(
    dump: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "shards").mkdir()
    shard = tmp_path / "shards" / "b"
    shutil.copy(dump, shard)
    (tmp_path / "link").symlink_to(dump)
    before = kept(tmp_path)
    for paths, out in (
        ([dump], dump),
        ([tmp_path / "link"], dump),
        ([dump], tmp_path / "link"),
        ([tmp_path / "shards" / ".." / "dump"], dump),
        ([dump, tmp_path / "shards"], shard),
        ([tmp_path / "shards" / "*"], shard),
        ([dump.as_uri()], dump),
    ):
        done = odqa_fast(*command, *paths, "--out", out)
        refused(done, 2, f"{out}: writing would replace the input", "Name another --out")
    refused(odqa_fast(*command, "-", "--out", dump, stdin=dump), 2, "the input 'standard input'")
    assert kept(tmp_path) == before


@pytest.mark.parametrize(
    "command", [("score",), ("levels",), ("judge", *JUDGE)], ids=lambda command: command[0]
)
def test_an_input_is_not_replaced_by_a_folder(
    run: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    scores = run / "scores.parquet"
    before = kept(run)
    more = ("--cache", tmp_path / "cache") if command[0] == "judge" else ()
    for paths in (run, scores):
        done = odqa_fast(*command, paths, *more, "--out", run)
        refused(done, 2, f"{run}: writing would replace the input '{scores}'")
    assert kept(run) == before


def test_nor_is_an_input_beside_the_dump(dump: Path, run: Path, tmp_path: Path) -> None:
    scores, before = run / "scores.parquet", kept(run)
    for command in (
        ("score", dump, "--answers", scores),
        ("score", dump, "--qrels", scores),
        ("levels", dump, "--manifest", scores),
        ("levels", dump, "--reader", f"given:{scores}"),
        ("judge", *JUDGE, "--cache", tmp_path / "cache", "--pairwise", dump, scores),
    ):
        refused(odqa_fast(*command, "--out", run), 2, "would replace the input", str(scores))
    assert kept(run) == before
    pool = tmp_path / "pool"
    pool.write_text("Glass is made from sand.\n")
    refused(odqa_fast("noise", dump, "--pool", pool, "--out", pool), 2, "the input", str(pool))
    assert pool.read_text() == "Glass is made from sand.\n"
    # The manifest is written as well.
    manifest = write_jsonl(tmp_path / "noisy.manifest.jsonl", rows(5))
    done = odqa_fast("noise", manifest, "--out", tmp_path / "noisy.jsonl")
    refused(done, 2, "would replace the input", str(manifest))
    assert not (tmp_path / "noisy.jsonl").exists()


def test_in_python_as_well(dump: Path, run: Path) -> None:
    before = kept(dump.parent)
    for write in (
        lambda: noise_file(dump, dump, kind="sentences", count=1),
        lambda: compress_file(dump, "none", dump),
        lambda: answer_file(str(dump), "none", str(dump)),
        lambda: score_file([dump, run], out=run),
        lambda: levels_file(run, levels="0.5", out=run),
    ):
        with pytest.raises(OdqaError, match="would replace the input"):
            write()
    assert kept(dump.parent) == before


@pytest.mark.parametrize("command", [("noise",), ("compress", *BM25)], ids=["noise", "compress"])
def test_a_link_is_written_through(dump: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target.parquet", tmp_path / "link.parquet"
    link.symlink_to(Path("far") / "target.parquet")
    for _ in ("to nothing yet", "to a file"):
        summary_of(odqa_fast(*command, dump, "--out", link))
        assert link.is_symlink()
        assert pq.read_table(target).num_rows == 5
        target.write_text("older")
    summary_of(odqa_fast(*command, dump, "--out", link))
    assert pq.read_table(link).num_rows == 5
    assert os.listdir(tmp_path / "far") == ["target.parquet"]


def test_a_pipe_stays_a_pipe(dump: Path, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for command in (("noise",), ("compress", *BM25)):
        for out in (pipe, link):
            refused(odqa_fast(*command, dump, "--out", out), 5, str(out), "no regular file")
    refused(odqa_fast("answer", dump, "--model", "none", "--out", pipe), 5, "no regular file")
    refused(odqa_fast("score", dump, "--out", pipe), 5, str(pipe))
    with pytest.raises(OutputError, match="no regular file"):
        noise_file(dump, pipe, kind="sentences", count=1)
    # So is the manifest's place looked at before the work.
    os.mkfifo(tmp_path / "noisy.manifest.jsonl")
    refused(odqa_fast("noise", dump, "--out", tmp_path / "noisy.jsonl"), 5, "no regular file")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("command", "name", "says"),
    [
        (("compress", *BM25), "s.jsonl", "means JSON lines, but what is written is Parquet"),
        (("compress", *BM25), "s.json", "means JSON, "),
        (("compress", *BM25), "s.parquet.gz", "means compressed data"),
        (("answer", "--model", "none"), "s.csv", "means CSV, but what is written is Parquet"),
        (("noise",), "n.csv", "means CSV, but what is written is JSON lines or Parquet"),
        (("noise",), "n.jsonl.gz", "means compressed data"),
        (("noise",), "n.arrow", "End it in .jsonl or .parquet"),
    ],
)
def test_a_name_that_means_another_format(
    dump: Path, tmp_path: Path, command: tuple[str, ...], name: str, says: str
) -> None:
    refused(odqa_fast(*command, dump, "--out", tmp_path / name), 2, name, says)
    assert os.listdir(tmp_path) == ["dump"]


@pytest.mark.parametrize("name", ["s", "s.v2", "S.PARQUET", "s.pq"])
def test_names_that_may_be_parquet(dump: Path, tmp_path: Path, name: str) -> None:
    for command in (("compress", *BM25), ("noise",)):
        out = tmp_path / command[0] / name
        summary_of(odqa_fast(*command, dump, "--out", out))
        is_parquet = out.read_bytes().startswith(b"PAR1")
        assert is_parquet == (command[0] == "compress" or name in ("S.PARQUET", "s.pq"))


@pytest.mark.parametrize(
    "command",
    [
        *(("noise",), ("compress", *BM25), ("answer", "--model", "none")),
        *(("score",), ("levels",), ("judge", *JUDGE)),
    ],
    ids=lambda command: command[0],
)
def test_standard_output_is_no_out(dump: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    more = ("--cache", tmp_path / "cache") if command[0] == "judge" else ()
    refused(odqa_fast(*command, dump, *more, "--out", "-"), 2, "'-'", "--out")
    assert not Path("-").exists()


@pytest.mark.parametrize("command", ["score", "noise", "levels", "judge", "compress", "answer"])
def test_an_unknown_format_is_refused_before_the_work(
    dump: Path, tmp_path: Path, command: str
) -> None:
    own: dict[str, tuple[object, ...]] = {
        "judge": (*JUDGE, "--cache", tmp_path / "cache"),
        "compress": BM25,
        "answer": ("--model", "none"),
    }
    more = own.get(command, ())
    done = odqa_fast(command, dump, "--format", "xml", *more, "--out", tmp_path / "out")
    refused(done, 2, "no format 'xml'", "csv, json, table")
    assert os.listdir(tmp_path) == ["dump"]

"""Covers: full disks, closed pipes, Ctrl-C, and files made to eat memory.

Compared against: the exit codes of the README, and what a folder held before.
Run: pytest tests/safety/test_bad_luck.py
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import Play, chat_server
from program import COMMAND, measured, odqa_fast, refused, rows_of, summary_of, write_jsonl

ROW = b'{"id":"%d","prediction":"lake victoria basin","answers":["Lake Victoria"]}\n'


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"".join(ROW % i for i in range(60_000)))
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(dump: Path, small_disk: Path) -> None:
    done = odqa_fast("score", dump, "--out", small_disk / "runs" / "a")
    refused(done, 5, f"{small_disk}/runs/a", "No space left", "Free some space")
    assert os.listdir(small_disk) == []


def test_a_full_disk_leaves_the_older_run(dump: Path, small_disk: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_bytes(ROW % 1)
    summary_of(odqa_fast("score", few, "--out", small_disk / "a"))
    done = odqa_fast("score", dump, "--out", small_disk / "a")
    refused(done, 5, "No space left")
    assert os.listdir(small_disk) == ["a"]
    assert [row["id"] for row in rows_of(small_disk / "a")] == ["1"]


def test_a_disk_full_of_rejected_rows(small_disk: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(ROW % 1 + b"{no json, but long enough to fill a disk}\n" * 5000)
    done = odqa_fast("score", bad, "--on-error", "skip", "--out", small_disk / "a")
    refused(done, 5, "No space left")
    assert os.listdir(small_disk) == []


@pytest.mark.parametrize("command", ["answer", "compress"])
def test_a_disk_full_of_replies(command: str, small_disk: Path, tmp_path: Path) -> None:
    rows = ({"id": str(at), "question": f"{at}?", "documents": ["A."]} for at in range(100))
    dump = write_jsonl(tmp_path / "dump.jsonl", rows)
    out = small_disk / "out.parquet"
    with chat_server(Play("word " * 200)) as server:
        run = (command, dump, "--model", server.engine(), "--out", out)
        refused(odqa_fast(*run), 5, "disk is full", "Free some space", "--resume")
        assert not out.exists()
        subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
        counts = summary_of(odqa_fast(*run, "--resume"))["counts"]
        assert counts["rows"] == counts["asked"] == 100
        assert counts["kept_from_before"] > 0
        assert len(server.bodies) <= 100 + 8
    assert os.listdir(small_disk) == ["out.parquet"]


def test_files_may_not_grow(dump: Path, tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [*COMMAND, "score", str(dump), "--out", str(tmp_path / "a")]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", preexec_fn=limit, check=False
    )
    refused(done, 5, "File too large")
    assert os.listdir(tmp_path) == ["dump.jsonl"]


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("file", "is a file"),
        ("file/deeper/still", "file: is a file"),
        ("full", "'mine.txt', which is no part of a run"),
        ("x" * 300, "name too long"),
    ],
)
def test_a_place_that_cannot_be_written(dump: Path, tmp_path: Path, out: str, said: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    refused(odqa_fast("score", dump, "--out", tmp_path / out), 5, said)
    assert sorted(os.listdir(tmp_path)) == ["dump.jsonl", "file", "full"]
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


def test_a_folder_without_permission(dump: Path) -> None:
    if os.geteuid() == 0:
        place = Path("/proc/odqa-fast-run")
        if not Path("/proc/self").exists():
            pytest.skip("root may write everywhere")
    else:
        place = dump.parent / "closed" / "run"
        place.parent.mkdir(mode=0o500)
    refused(odqa_fast("score", dump, "--out", place), 5, str(place), "could not be written")


def test_a_link_to_a_folder_stays_a_link(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "runs" / "a")
    for _ in range(2):
        summary_of(odqa_fast("score", dump, "--out", link))
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["dump.jsonl", "link", "runs"]
    assert os.listdir(tmp_path / "runs") == ["a"]
    assert len(rows_of(link)) == 60_000


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


PROGRAM = f"{sys.executable} -P -m odqa_fast"


def test_D059_a_closed_pipe(dump: Path) -> None:
    done = shell(f"{PROGRAM} score {dump} --format json | head -n 1")
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 141)
    nobody = shell(f"{PROGRAM} score {dump} | true")
    assert "Traceback" not in nobody.stderr
    assert nobody.returncode in (0, 141)


def test_D060_results_on_stdout_and_all_else_on_stderr(dump: Path, tmp_path: Path) -> None:
    done = shell(f"TERM=xterm-256color FORCE_COLOR=1 {PROGRAM} score {dump} --format json")
    assert summary_of(done)["counts"]["rows"] == 60_000
    assert done.stderr == ""
    dump.write_bytes(ROW % 1 * 2)
    done = shell(f"{PROGRAM} score {dump} --format json")
    assert summary_of(done)["counts"]["duplicate_ids"] == 1
    note = "1 rows repeat an id of an earlier row (the first: '1')."
    assert done.stderr == f"odqa-fast: note: {note}\n"


def test_stdout_that_takes_nothing(dump: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    refused(shell(f"{PROGRAM} score {dump} > /dev/full"), 5, "standard output", "No space left")
    refused(shell(f"{PROGRAM} score {dump} >&-"), 5, "standard output", "closed")


def test_a_version_that_nobody_takes(tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    for arguments in (["--version"], ["metrics"]):
        with (tmp_path / "stdout").open("w") as out:
            done = subprocess.run(
                [*COMMAND, *arguments],
                stdout=out,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                preexec_fn=limit,
                check=False,
            )
        assert done.returncode == 5
        assert done.stderr.startswith("odqa-fast: standard output: could not be written: ")
        assert done.stderr.count("\n") == 1
    refused(shell(f"{PROGRAM} --version >&-"), 5, "standard output", "closed")


def test_stderr_that_takes_nothing(tmp_path: Path) -> None:
    for where in ("2>&-", "2>/dev/full"):
        done = shell(f"{PROGRAM} score {tmp_path}/none {where}")
        assert (done.returncode, done.stdout, done.stderr) == (3, "", ""), where


def test_a_locale_without_the_characters(dump: Path, tmp_path: Path) -> None:
    named = dump.rename(tmp_path / "dùmp.jsonl")
    done = odqa_fast("score", named, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert summary_of(done)["inputs"][0]["path"] == str(named)


@pytest.mark.parametrize("moment", [0.0, 0.3])
def test_ctrl_c(dump: Path, tmp_path: Path, moment: float) -> None:
    old = tmp_path / "run"
    summary_of(odqa_fast("score", dump, "--out", old))
    # As long as this goes on the run cannot end by itself.
    endless = subprocess.Popen(
        ["sh", "-c", f"while cat {dump}; do :; done"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    running = subprocess.Popen(
        [*COMMAND, "score", "-", "--out", str(old)],
        stdin=endless.stdout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert endless.stdout is not None
    endless.stdout.close()
    with endless, running:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".run.partial-*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(moment)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=30)
        endless.kill()
    done = subprocess.CompletedProcess(running.args, running.returncode, stdout, stderr)
    refused(done, 130, "interrupted")
    assert sorted(os.listdir(tmp_path)) == ["dump.jsonl", "run"]
    assert len(rows_of(old)) == 60_000


def test_a_line_of_300_megabytes(tmp_path: Path) -> None:
    text = b"lorem ipsum " * 25_000_000
    dump = tmp_path / "dump.jsonl"
    with dump.open("wb") as out:
        row = b'{"id":"%s","prediction":"x","answers":["x"],"summary":"s","documents":["%s"]}\n'
        for name, document in ((b"a", b"short"), (b"b", text), (b"c", b"short")):
            out.write(row % (name, document))
    done, peak = measured("score", dump, "--metrics", "em,cr,par", folder=tmp_path)
    summary = summary_of(done)
    assert summary["counts"]["rows"] == 3
    assert summary["metrics"]["em"]["mean"] == 1.0
    assert summary["metrics"]["cr"]["mean"] == pytest.approx((1 / 5 + 1 / len(text) + 1 / 5) / 3)
    # The line, pyarrow's two copies of the document, and the program itself.
    assert peak < 1100


def bomb(path: Path, row: bytes, n: int) -> None:
    with gzip.open(path, "wb", compresslevel=9) as out:
        for _ in range(n):
            out.write(row)


def test_a_bomb_of_rows(tmp_path: Path) -> None:
    dump = tmp_path / "bomb.jsonl.gz"
    row = b'{"prediction":"x","answers":["x"],"pad":"' + b"0" * 1_000_000 + b'"}\n'
    bomb(dump, row, 300)
    assert len(row) * 300 / dump.stat().st_size > 1000 * 0.95
    done, peak = measured("score", dump, "--metrics", "em", folder=tmp_path)
    assert summary_of(done)["counts"]["rows"] == 300
    assert peak < 300


STARTS = {"json": b'{"prediction":"', "array": b'[{"prediction":"', "csv": b"prediction,answers\n"}


@pytest.mark.parametrize("fmt", STARTS)
def test_a_bomb_of_one_line(tmp_path: Path, fmt: str) -> None:
    dump = tmp_path / "bomb.gz"
    with gzip.open(dump, "wb", compresslevel=9) as out:
        out.write(STARTS[fmt])
        for _ in range(300):
            out.write(b"0" * 1_000_000)
    done, peak = measured("score", dump, "--max-line-bytes", 20 << 20, folder=tmp_path)
    refused(done, 3, f"max_line_bytes = {20 << 20}")
    assert peak < 300


def test_D054_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    peaks = []
    for n in (10_000, 40_000):
        dump = tmp_path / f"{n}.jsonl"
        row = {
            "prediction": "x",
            "answers": ["x"],
            "original": "lorem ipsum " * 400,
            "compressed": "lorem",
        }
        tail = json.dumps(row)[1:] + "\n"
        with dump.open("w") as out:
            for i in range(n):
                out.write(f'{{"id":"{i}",{tail}')
        done, peak = measured("score", dump, "--metrics", "em,f1,cr", folder=tmp_path)
        metrics = summary_of(done)["metrics"]
        assert metrics["em"] | {"signature": ""} == {
            "mean": 1.0,
            "n_scored": n,
            "n_null": 0,
            "signature": "",
        }
        assert metrics["cr"]["mean"] == pytest.approx(5 / 4800, abs=1e-12)
        peaks.append(peak)
        dump.unlink()
    assert peaks[1] < 1.1 * peaks[0] + 30
    assert peaks[1] < 500

"""Runs the program as a user would: its own process, its exit code, both its streams."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def odqa_fast(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "odqa_fast", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=cwd, check=False)


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path

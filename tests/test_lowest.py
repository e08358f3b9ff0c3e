"""Covers: that tests/lowest.txt has the lowest versions that pyproject.toml allows.

Run: pytest tests/test_lowest.py
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def test_the_lowest_versions_are_those_allowed() -> None:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    allowed = dict[str, str]()
    # Of `gpu` nothing can be installed beside `cpu`.
    extras = [v for k, v in project["optional-dependencies"].items() if k != "gpu"]
    for requirement in sum(extras, project["dependencies"]):
        name, version = requirement.split(">=")
        allowed[name] = version
    lines = (HERE / "lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned.keys() == allowed.keys()
    for name, version in pinned.items():
        # 1.26 allows 1.26.0; of some packages the first of a series was withdrawn.
        assert re.fullmatch(rf"{re.escape(allowed[name])}(\.\d+)*", version), name

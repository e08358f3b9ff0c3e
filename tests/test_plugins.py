"""Covers: `plugins`: the scan of a folder and of entry points, what is broken, doubled or unknown.
Compared against: a package and a distribution made here, whose names and values are known.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path

import pytest

from odqa_fast import OdqaError, OdqaWarning
from odqa_fast.plugins import Plugins, unknown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of ours, and a distribution that adds to it."""
    name = f"kinds_{tmp_path.name.replace('-', '_')}"
    package = tmp_path / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_shared.py").write_text("raise AssertionError('no plug-in')\n")
    (package / "one.py").write_text("VALUE = 1\n")
    (package / "three.toml").write_text("value = 3\n")
    (tmp_path / f"{name}_added.py").write_text("VALUE = 2\n")
    adds(tmp_path, f"two = {name}_added")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return package


def adds(place: Path, *lines: str) -> None:
    info = place / "added-1.5.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("\n".join(["[test.kinds]", *lines, ""]))


def plugins(folder: Path, files: str = ".toml") -> Plugins:
    return Plugins("kind", folder.name, "test.kinds", files)


def values(module: object) -> list[tuple[str, int]]:
    return [] if isinstance(module, Path) else [(module.NAME, module.VALUE)]  # type: ignore[attr-defined]


def test_modules_files_and_entry_points_are_found_and_imported_when_asked_for(folder: Path) -> None:
    found = plugins(folder)
    assert found.names() == ["one", "three", "two"]
    assert f"{folder.name}.one" not in sys.modules
    assert found.load("one").VALUE == 1
    assert found.load("two").VALUE == 2
    assert found.load("three") == folder / "three.toml"
    assert plugins(folder, "").names() == ["one", "two"]


def test_an_unknown_name_gets_the_closest(folder: Path) -> None:
    with pytest.raises(OdqaError, match=r"no kind 'too'. Closest: two. Kinds: one, three, two\."):
        plugins(folder).load("too")
    assert unknown("kind", "x", ["y", "z"], "All.") == ("no kind 'x'.", "All.")


def test_a_broken_one_is_named_and_breaks_nothing_else(folder: Path) -> None:
    (folder / "one.py").write_text("NAME, VALUE = 'one', 1\n")
    (folder / "bad.py").write_text("import no_such_library_here\n")
    (folder / "odd.py").write_text("def broken(:\n")
    adds(folder.parent)
    importlib.invalidate_caches()
    sys.path.append("")  # another search path: entry points are looked for again
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert plugins(folder).collect(values) == {"one": 1}
            assert plugins(folder).collect(values) == {"one": 1}
    finally:
        sys.path.pop()
    notes = [str(each.message) for each in said if each.category is OdqaWarning]
    assert len(notes) == 2, "once each"
    assert notes[0].startswith(
        f"the kind plug-in 'bad' (module {folder.name}.bad) is left out: ModuleNotFoundError: "
    )
    assert "'odd'" in notes[1]
    assert "SyntaxError" in notes[1]
    assert plugins(folder).load("one").VALUE == 1
    with pytest.raises(OdqaError, match=r"bad: the kind 'bad' is broken: ModuleNotFoundError"):
        plugins(folder).load("bad")


def test_two_of_one_name_are_both_named(folder: Path) -> None:
    (folder / "two.py").write_text("VALUE = 22\n")
    importlib.invalidate_caches()
    both = rf"two kinds have the name 'two': module {folder.name}.two, and entry point .* added 1.5"
    with pytest.raises(OdqaError, match=both):
        plugins(folder).names()


def test_two_that_hold_one_name_are_both_named(folder: Path) -> None:
    for name in ("one", "other"):
        (folder / f"{name}.py").write_text("NAME, VALUE = 'same', 1\n")
    adds(folder.parent)
    importlib.invalidate_caches()
    sys.path.append("")
    try:
        with pytest.raises(OdqaError, match=r"the name 'same': module .*one, and module .*other"):
            plugins(folder).collect(values)
    finally:
        sys.path.pop()

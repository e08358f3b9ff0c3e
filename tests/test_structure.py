"""Covers: the limits of the source: no circles, few parameters, short functions.

Compared against: the syntax tree of every module; an installed package is looked at where it lies.
Run: pytest tests/test_structure.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import odqa_fast

ROOT = Path(odqa_fast.__path__[0])
LONGEST, MOST_PARAMETERS = 80, 8
Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.Module, known: dict[str, ast.Module]) -> Iterator[str]:
    """What a module imports, for types and inside functions as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def functions() -> Iterator[tuple[str, Function]]:
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{name}.{node.name}", node


def test_no_imports_go_in_circles() -> None:
    known = modules()
    # The package itself and the program's entry name what is below them.
    inner = {name: set(imported(tree, known)) - {name} for name, tree in known.items()}
    try:
        TopologicalSorter(inner).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_functions_take_few_parameters() -> None:
    def count(node: Function) -> int:
        named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return sum(each.arg not in ("self", "cls") for each in named)

    many = {
        name: count(node)
        for name, node in functions()
        # Signatures in compat are those of the calls that they stand for.
        if ".compat." not in name and count(node) > MOST_PARAMETERS
    }
    assert many == {}


def test_functions_are_short() -> None:
    def lines(node: Function) -> int:
        return (node.end_lineno or 0) - node.lineno + 1

    long = {name: lines(node) for name, node in functions() if lines(node) > LONGEST}
    assert long == {}

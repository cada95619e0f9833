"""What a machine can measure of the code's order: long functions and files, names given twice, circles of imports.

``python -m tests.tidy`` prints all of it in the form of ``tests/tidy_exceptions.txt``, which lists what is still so.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SHIPPED: Final = ("rules", "machines", "diagrams", "runtime")
EXCEPTIONS: Final = ROOT / "tests" / "tidy_exceptions.txt"
FUNCTION_LINES_MAX: Final = 50
FILE_LINES_MAX: Final = 450


def trees() -> dict[str, ast.Module]:
    """Return every shipped module by its path from the root."""
    paths = sorted(path for folder in SHIPPED for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def long_functions(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the functions that do not fit on a screen, with the classes and functions that they stand in."""

    def within(node: ast.AST, names: tuple[str, ...]) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            inner = (*names, child.name) if named else names  # type: ignore[attr-defined]
            if named and not isinstance(child, ast.ClassDef) and lines(child) > FUNCTION_LINES_MAX:
                yield ".".join(inner)
            yield from within(child, inner)

    for path, module in modules.items():
        yield from (f"function {path}:{name}" for name in within(module, ()))


def lines(node: ast.AST) -> int:
    """Return how many lines a function has, its head included and its decorators not."""
    return int(node.end_lineno - node.lineno + 1)  # type: ignore[attr-defined]


def long_files(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files that are longer than a file is to be."""
    for path in paths:
        if len((ROOT / path).read_text(encoding="utf-8").splitlines()) > FILE_LINES_MAX:
            yield f"file {path}"


def names_given_twice(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the names of classes that stand for two things in the core and the runtime."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, module in modules.items():
        if path.startswith(("machines/", "runtime/")):
            for node in ast.walk(module):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(path)
    yield from (f"class {name}: {' '.join(paths)}" for name, paths in found.items() if len(paths) > 1)


def circles(modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the circles of modules, and of folders, that import each other at the top, for types or in earnest."""
    names = {path.removesuffix("/__init__.py").removesuffix(".py").replace("/", "."): path for path in modules}
    files: dict[str, set[str]] = {
        name: {one for one in imported(modules[path]) if one in names} - {name} for name, path in names.items()
    }
    folders: dict[str, set[str]] = defaultdict(set)
    for name, others in files.items():
        folder = Path(names[name]).parent.as_posix()
        folders[folder] |= {Path(names[other]).parent.as_posix() for other in others} - {folder}
    yield from (f"circle of modules: {' '.join(circle)}" for circle in knots(files))
    yield from (f"circle of folders: {' '.join(circle)}" for circle in knots(folders))


def imported(module: ast.Module) -> Iterator[str]:
    """Yield what a module imports when it is imported, or would for its types: modules, and names in them."""
    bodies = [module.body, *(node.body for node in module.body if isinstance(node, ast.If | ast.Try))]
    for node in (node for body in bodies for node in body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def knots(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the sets of nodes, of more than one, each of which leads to each other."""
    beyond = {node: _beyond(node, arrows) for node in arrows}
    found = {
        tuple(sorted(other for other in beyond[node] if node in beyond.get(other, ())))
        for node in arrows
        if node in beyond[node]
    }
    return [list(knot) for knot in sorted(found)]


def _beyond(start: str, arrows: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    left = [start]
    while left:
        for other in arrows.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def untidy() -> list[str]:
    """Return all that is so, a line each, sorted."""
    modules = trees()
    return sorted([*long_functions(modules), *long_files(modules), *names_given_twice(modules), *circles(modules)])


def excepted() -> list[str]:
    """Return what is listed as still so."""
    return [line for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]


if __name__ == "__main__":
    print("# What is still untidy. The list may only shrink; `python -m tests.tidy` prints what is so today.")
    print("\n".join(untidy()))

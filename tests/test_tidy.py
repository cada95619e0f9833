"""House rules that a machine can see: arrows between folders go one way, nothing is left open, files stay short."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tidy import excepted, knots, long_functions, untidy

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("rules", "machines", "diagrams", "runtime", "specs", "benchmarks", "tests")
CODE = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
SHIPPED = [path for path in CODE if path.relative_to(ROOT).parts[0] in ("rules", "machines", "diagrams", "runtime")]
LINES_MAX = 650

# Each folder may import itself, the folders named here, and these outside packages.
MAY_IMPORT: dict[str, set[str]] = {
    "rules": set(),
    "machines": {"yaml", "transitions", "msgspec", "jsonschema_rs"},
    "diagrams": {"machines", "graphviz", "pygraphviz"},
    "runtime": {
        "machines",
        "rules",
        "diagrams",
        "specs",
        "anyio",
        "cyclopts",
        "lsprotocol",
        "msgspec",
        "pygls",
        "rich",
        "sniffio",
        "uvloop",
        "trio",
    },
}
KNOWN = set(FOLDERS).union(*MAY_IMPORT.values())


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            yield node.module.split(".")[0]


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SHIPPED, ids=label)
def test_imports_point_one_way(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[0]

    assert set(imported(path)) & KNOWN - {folder} <= MAY_IMPORT[folder]


def test_no_shipped_module_does_input_or_output_outside_the_runtime() -> None:
    io = {"socket", "asyncio", "selectors", "anyio", "time", "threading"}
    # The pictures run Graphviz in a child process, with a lock and a time limit.
    allowed = {"diagrams/render.py": {"threading", "time"}}
    for path in SHIPPED:
        name = label(path)
        if not name.startswith("runtime/"):
            assert set(imported(path)) & io <= allowed.get(name, set()), name


def test_nothing_is_left_open() -> None:
    left_open = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|NotImplemented" + r"Error)\b")
    for path in CODE:
        assert not left_open.search(path.read_text(encoding="utf-8")), label(path)


@pytest.mark.parametrize("path", SHIPPED, ids=label)
def test_files_fit_in_the_head(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_MAX


@pytest.mark.parametrize("path", SHIPPED, ids=label)
def test_each_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_functions_and_files_are_short_names_are_given_once_and_no_imports_go_round_but_for_what_is_listed() -> None:
    now, listed = set(untidy()), excepted()

    assert sorted(now - set(listed)) == [], "mend it: the list does not grow"
    assert sorted(set(listed) - now) == [], "it is mended: strike it off the list"
    assert listed == sorted(set(listed))


def test_a_function_is_named_with_all_it_stands_in_and_has_at_most_fifty_lines() -> None:
    body = "\n".join("        pass" for _ in range(50))
    module = ast.parse(f"class A:\n    def short(self):\n{body[:-13]}\n    def long(self):\n{body}\n")

    assert list(long_functions({"a.py": module})) == ["function a.py:A.long"]


def test_a_circle_is_found_however_long_and_what_only_leads_to_it_is_not_in_it() -> None:
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"f"}, "f": {"d"}}

    assert knots(arrows) == [["b", "c"], ["d", "e", "f"]]
    assert knots({"a": {"b"}, "b": set()}) == []

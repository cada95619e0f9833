"""libyaml reads a spec where PyYAML has it: the tree is what PyYAML's own parser makes of it, place for place."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from machines.problems import Problems
from machines.yaml import nodes as yaml_nodes
from machines.yaml.nodes import Node, parse_yaml

SPECS = sorted((Path(__file__).parents[2] / "specs").rglob("*.yaml"))

# What the two might read in different ways, put into texts at random.
PIECES = (
    *"{}[],:#'\"|>&*!%@`-?\t \n\\~\r\0\x07\x85\u2028\ufeff\u00e9\U0001f600",
    *("\r\n", "- ", ": ", "'''", "---", "...", "|\n", "|-\n", ">+2\n", '"\\x41"', "? ", "{a: }", "{: b}", "[,]"),
    *("<<: ", "*a", "&a", "\n\n", "  ", "key: ", "!t ", "f(a, b", "|#", ">-#", "{?a}", "{a: , b}"),
)

pytestmark = pytest.mark.skipif(
    not hasattr(yaml, "CSafeLoader"), reason="this PyYAML was built without libyaml: there is one parser only"
)


def read_by(parser: object, text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Node | None, list[str]]:
    with monkeypatch.context() as patched:
        patched.setattr(yaml_nodes, "_FAST", parser)
        problems = Problems()
        tree = parse_yaml(text, "a.yaml", problems)
    return tree, [str(problem) for problem in problems]


def edited(random: Random, text: str, pieces: tuple[str, ...] = PIECES) -> Iterator[str]:
    """Pieces of the text with a few random edits."""
    for length in (40, 200, 1000, len(text)):
        start = random.randrange(max(1, len(text) - length + 1))
        letters = list(text[start : start + length])
        for _ in range(random.randint(0, 5)):
            at = random.randint(0, len(letters))
            if random.random() < 0.7:
                letters[at:at] = random.choice(pieces)
            else:
                del letters[at : at + random.randint(1, 4)]
        yield "".join(letters)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_shipped_spec_is_the_same_tree_by_both_parsers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text("utf-8")
    fast = read_by(yaml.CSafeLoader, text, monkeypatch)
    assert fast[0] is not None
    assert fast == read_by(None, text, monkeypatch)


@pytest.mark.parametrize("number", range(10))
def test_texts_with_random_edits_are_read_alike_by_both_parsers(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(number)
    for _ in range(10):
        for text in edited(random, random.choice(SPECS).read_text("utf-8")):
            assert read_by(yaml.CSafeLoader, text, monkeypatch) == read_by(None, text, monkeypatch), repr(text)


EXPRESSIONS = ("[x]", "'a, b'", "f(a, b)", " 'q", "it's", ": 'x: y'", "[a] + b", " # '", "(a")


@pytest.mark.parametrize("number", range(5))
def test_what_yaml_reads_without_a_fault_keeps_its_meaning(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(number)
    compared = rounds = 0
    while rounds < 60 or (compared <= 3 and rounds < 600):  # most specs have calls, or expressions, in braces
        rounds += 1
        for text in edited(random, random.choice(SPECS).read_text("utf-8"), (*PIECES, *EXPRESSIONS)):
            with monkeypatch.context() as patched:
                patched.setattr(yaml_nodes, "masked", lambda text: text)
                tree, problems = read_by(None, text, monkeypatch)
            # A key without a value, and an item with half a call, are what YAML makes of an expression with a comma.
            if not problems and not re.search(r"[{,][^:{}]*[,}]|\w\(", text):
                compared += 1
                assert read_by(None, text, monkeypatch) == (tree, problems), repr(text)
    assert compared > 3


def test_a_text_without_faults_is_read_by_the_quick_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "SafeLoader", None)
    assert parse_yaml("a: [b, {c: d}]", "a.yaml", Problems()) is not None

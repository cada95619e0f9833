"""``specs/README.md`` is true: each example reads and checks, or has the problems it says; every key and code is told.

A block of YAML is a whole spec, or, behind ``<!-- in: NAME -->``, a part of one: it is put into ``bases/NAME.yaml``
where that says ``<here>``. A line of a base that ends in ``# with: a b`` stays if the block has one of these words, one
that ends in ``# without: a`` if it has none. ``<!-- problems: A103 -->`` gives the codes of all problems of a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from machines import problems
from machines.checks import check
from machines.model import Wire
from machines.parser.branches import BRANCH_KEYS, STAYING
from machines.parser.loader import load_text, rules_modules
from machines.parser.reader import TOP_KEYS
from machines.parser.states import ALWAYS_KEYS, STATE_KEYS
from machines.problems import SpecError
from runtime.manual import pages
from tests.machines.test_language_keys import REASONS
from tests.specs.reference.editor import marked
from tests.support.quiz import UNREAD
from tests.support.session_harness import Network

SPECS = Path(__file__).resolve().parents[3] / "specs"
README = (SPECS / "README.md").read_text()
PAGES = {path.name: path.read_text() for path in sorted(SPECS.glob("*.md"))}
WHOLE = "\n".join(PAGES.values())
BASES = Path(__file__).parent / "bases"


@dataclass(frozen=True, slots=True)
class Block:
    """An example: on which page and in which line it begins, what it is part of, and which problems it has."""

    page: str
    line: int
    text: str
    base: str | None
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page} line {self.line}: {self.text.splitlines()[0]}"

    def tells(self, code: str) -> bool:
        """Whether a problem is one of the block: what a part of a spec binds, the rest of it may read."""
        return self.base is None or code not in UNREAD or code in self.problems

    def spec(self) -> str:
        """Return the whole spec that the block is, or is part of."""
        if self.base is None:
            return self.text
        if self.base == "messages":
            return messages_in_use(self.text)
        words = set(re.findall(r"\w+", self.text))
        inner = re.findall(r"^  (\w+):", self.text, re.MULTILINE)
        filled = {
            "<call>": self.text.partition(":\n")[0],
            "<names>": ", ".join(inner),
            "<fields>": ", ".join(["all", *(f"$h{index} {name}" for index, name in enumerate(inner))]),
        }
        lines: list[str] = []
        for line in (BASES / f"{self.base}.yaml").read_text().splitlines():
            line, _, condition = line.partition("  # ")
            when, _, named = condition.partition(": ")
            if when == "with" and words.isdisjoint(named.split()):
                continue
            if when == "without" and not words.isdisjoint(named.split()):
                continue
            if line.strip() == "<here>":
                indent = line[: line.index("<")]
                lines.extend(indent + inner if inner else "" for inner in self.text.splitlines())
                continue
            for field, value in filled.items():
                line = line.replace(field, value)
            lines.append(line.rstrip())
        return "\n".join(lines) + "\n"


def messages_in_use(text: str) -> str:
    """Return a spec with the messages in ``text``: one side asks for each and sends it, the other hears it."""
    states: dict[str, list[str]] = {"client": ["    main:"], "server": ["    main(client):"]}
    table = re.split(r"^(?:also|urgent):", text, flags=re.MULTILINE)[0]
    sender = ""
    for name, number in re.findall(r"^  (\w+):$|^    (\w+):", table, re.MULTILINE):
        sender = name or sender
        if number:
            other = "server" if sender == "client" else "client"
            at = len(states["client"])
            receive = f"receive: {{{number}: {{send: {number}, then: s{at + 1}}}}}"
            states[sender].append(f"      s{at}: {{ask: it, within: 5 s, {receive}}}")
            states[other].append(f"      s{at}: {{within: 5 s, receive: {{{number}: s{at + 1}}}}}")
    for listed in states.values():
        listed.append(f"      s{len(listed)}: {{return: null}}")
    roles = [line for role, listed in states.items() for line in (f"  {role}:", *listed)]
    return "\n".join(["protocol: base", "connects: {client: server}", text.rstrip(), "roles:", *roles]) + "\n"


def blocks() -> Iterator[Block]:
    """Yield the examples of all pages, those of the reference first."""
    pattern = re.compile(r"((?:^<!-- [^\n]* -->\n)*)^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    pages_in_order = sorted(PAGES.items(), key=lambda page: page[0] != "README.md")
    for page, text in pages_in_order:
        yield from (_block(page, text, found) for found in pattern.finditer(text))


def _block(page: str, text: str, found: re.Match[str]) -> Block:
    notes = dict(re.findall(r"<!-- (\w+): (.*?) -->", found[1]))
    assert set(notes) <= {"in", "problems"}, notes
    codes = tuple(notes["problems"].split()) if "problems" in notes else ()
    return Block(page, text.count("\n", 0, found.start(2)) + 1, found[2], notes.get("in"), codes)


BLOCKS = list(blocks())


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_example_is_right_or_has_the_problems_it_says(block: Block) -> None:
    text = block.spec()
    try:
        spec = load_text(text, "example.yaml", folder=SPECS)
        found = [problem for problem in check(spec, rules_modules(spec)) if block.tells(problem.code)]
    except SpecError as error:
        found = list(error.problems)

    assert [problem.code for problem in found] == list(block.problems), "\n".join(map(str, found)) + f"\n\n{text}"
    assert block.problems or not marked(text), "an editor would mark it"


def test_there_are_as_many_examples_as_fences() -> None:
    assert len(BLOCKS) == WHOLE.count("```yaml")
    assert {block.base for block in BLOCKS} - {None, "messages"} == {path.stem for path in BASES.glob("*.yaml")}


def test_the_first_example_runs() -> None:
    network = Network(load_text(BLOCKS[0].text), "host")

    def bid(question: str, arguments: dict[str, Any]) -> Any:
        return arguments["best"] + 5

    clients = [network.join("guest", bid, {"name": name}) for name in ("ann", "bob")]
    network.wait(20)

    assert network.server.ended is not None
    assert network.server.ended.value == 10
    assert [client.ended and client.ended.value for client in clients] == [10, 10]


# -- is everything told? ---------------------------------------------------------------------------------------------


def test_every_code_is_told_and_no_other() -> None:
    known = set(pages())
    table = README.partition("## Problems")[2].partition("## Safety")[0]

    assert "A4xx" in (problems.__doc__ or "")
    assert set(re.findall(r"\bA\d\d\d\b", table)) == {code for code in known if code < "A500"}
    assert set(re.findall(r"\bA\d\d\d\b", WHOLE)) == known


@pytest.mark.parametrize("key", dict.fromkeys((*TOP_KEYS, *STATE_KEYS, *ALWAYS_KEYS, *BRANCH_KEYS, *STAYING, *REASONS)))
def test_every_key_and_word_is_told(key: str) -> None:
    assert f"`{key}`" in WHOLE


def test_the_limits_of_the_wire_are_told_with_their_defaults() -> None:
    for field in fields(Wire):
        if isinstance(field.default, int):
            assert re.search(rf"^\| `{field.name}`: [^|]* \| {field.default} \|", README, re.MULTILINE), field.name


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        file, _, anchor = target.partition("#")
        assert not file or (SPECS / file).exists(), target
        if anchor:
            assert anchor in anchors((SPECS / (file or page)).read_text()), target

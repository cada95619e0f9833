"""``docs/seed-faults.md`` is true: the checker says what it shows of each document, and each mend leaves no problem.

``--rewrite`` writes into it the runs that the command shows now, to be read in the diff.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from machines.checks import check
from machines.parser.loader import load_text, rules_modules
from machines.verification.abstract.contracts import contracts_for
from machines.verification.verdict import Verdict
from machines.verification.verify import verify
from runtime.cli import main

ROOT = Path(__file__).resolve().parents[1]
LITERAL = sorted((ROOT / "tests" / "specs" / "literal").glob("*.yaml"))
PAGE = ROOT / "docs" / "seed-faults.md"
SECTIONS = re.split(r"(?m)^## (?=\d{3}: )", PAGE.read_text())[1:]
# What each document is known for, as part of what is said of it.
KNOWN = {
    "000": ["A301 nothing is called 'their_move' here"],
    "001": ['A334 INTERNAL_NAME and START can not be told apart: "a" is either'],
    "002": [
        "A326 the state 'asked' has no answer to 'timeout', 'invalid' or 'closed', called on the way main -> init",
        "A326 the state 'asked' has no answer to 'timeout', 'invalid' or 'closed', called on the way main -> inter",
    ],
    "003": ["A334 PROMPT_PLACE and PROMPT_BUILD can not be told apart", "A334 CHECK_BUILD and BUILD"],
    "004": ["A334 WIN and END can not be told apart: true is either"],
}


def said_of(text: str, name: str) -> list[str]:
    spec = load_text(text, f"tests/specs/literal/{name}.yaml")
    return [str(problem) for problem in check(spec, rules_modules(spec))]


def block(section: str, kind: str) -> str:
    found = re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", section)
    assert len(found) == 1, f"one block of {kind} in {section[:20]!r}"
    return str(found[0])


def mended(text: str, diff: str) -> str:
    """Return a text with the hunks of a diff, parted by @@, done one after the other."""
    for hunk in re.split(r"(?m)^@@\n", diff):
        lines = hunk.splitlines()
        old = "".join(f"{line[1:]}\n" for line in lines if line.startswith("-"))
        new = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        assert text.count(old) == 1, f"this stands once in the spec:\n{old}"
        text = text.replace(old, new)
    return text


def test_each_document_has_its_section() -> None:
    assert [section[:3] for section in SECTIONS] == [path.stem for path in LITERAL] == list(KNOWN)


@pytest.mark.parametrize("path", LITERAL, ids=lambda path: path.stem)
def test_the_known_fault_of_a_document_is_found(path: Path) -> None:
    said = said_of(path.read_text(), path.stem)

    for known in KNOWN[path.stem]:
        assert any(known in line for line in said), "\n".join(said)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section[:3])
def test_the_page_has_what_the_checker_says(section: str) -> None:
    name = section[:3]
    command, *lines = block(section, "text").splitlines()

    assert command == f"$ accord check tests/specs/literal/{name}.yaml"
    assert lines == said_of((ROOT / "tests" / "specs" / "literal" / f"{name}.yaml").read_text(), name)
    assert set(re.findall(r"\*\*(A\d{3})\*\*", section)) == {line.split()[1] for line in lines}


# What of each document is shown in play: the problem, and how sure the run to it is.
IN_PLAY = {
    "000": [("45:32: A302", "confirmed by a replay"), ("87:50: A301", "possible: a replay went another way")],
    "001": [("52:54: A334", "confirmed by a replay")],
    "002": [("56:7: A326", "confirmed by a replay")],
    "003": [("74:23: A334", "confirmed by a replay"), ("78:25: A334", "possible: a replay went another way")],
    "004": [("59:16: A334", "confirmed by a replay")],
}


def parts_of(lines: list[str]) -> list[list[str]]:
    """Return the lines of a check, problem by problem."""
    starts = [at for at, line in enumerate(lines) if line.startswith("tests/")]
    return [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


def now_shown(part: str, said: list[str]) -> str:
    """Return what a command says now of the problem that a part of its output tells."""
    first = part.splitlines()[0]
    (now,) = [one for one in said if one.splitlines()[0] == first] or [f"nothing is said any more of: {first}"]
    return now


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section[:3])
def test_the_page_shows_each_fault_as_the_command_does(
    section: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.chdir(ROOT)
    name = section[:3]
    shown = []
    for told in re.findall(r"(?ms)^```txt\n(.*?)^```$", section):
        command, *lines = told.splitlines()
        assert main(command.removeprefix("$ accord ").split()) == 2
        said = ["\n".join(part).rstrip() for part in parts_of(capsys.readouterr().out.splitlines())]
        for part in filter(None, re.split(r"(?m)^\.\.\.\n?", "\n".join(lines) + "\n")):
            now = now_shown(part, said)
            if pytestconfig.option.rewrite:
                PAGE.write_text(PAGE.read_text().replace(part.rstrip(), now))
            else:
                assert part.rstrip() == now, "if it is meant to be so: --rewrite -n 0, and read the diff"
            shown.append(now)

    assert len(shown) == len(IN_PLAY[name])
    for part, (problem, sure) in zip(shown, IN_PLAY[name], strict=True):
        assert part.startswith(f"tests/specs/literal/{name}.yaml:{problem} ")
        assert re.search(rf"(?m)^        .* clients; {sure}\)$", part)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section[:3])
def test_a_mend_leaves_no_problem(section: str) -> None:
    name = section[:3]
    text = mended((ROOT / "tests" / "specs" / "literal" / f"{name}.yaml").read_text(), block(section, "diff"))

    assert said_of(text, name) == []


def verdict_on(text: str) -> Verdict:
    spec = load_text(text)
    return verify(spec, contracts_for(spec, rules_modules(spec)), clients=(1, 2, 3))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section[:3])
def test_what_is_mended_is_proved_to_fit_together(section: str) -> None:
    text = (ROOT / "tests" / "specs" / "literal" / f"{section[:3]}.yaml").read_text()

    assert verdict_on(mended(text, block(section, "diff"))).state == "proved"


def test_without_dropping_who_is_late_a_late_placement_meets_the_next_wait() -> None:
    section = next(section for section in SECTIONS if section.startswith("003"))
    hunks = [hunk for hunk in block(section, "diff").split("@@\n") if "drop: player" not in hunk]
    text = mended((ROOT / "tests" / "specs" / "literal" / "003.yaml").read_text(), "@@\n".join(hunks))
    findings = verdict_on(text).findings

    assert said_of(text, "003") == []
    assert {finding.code for finding in findings} == {"A502"}
    assert any("PLACE is not expected in moved.asked" in finding.text for finding in findings)

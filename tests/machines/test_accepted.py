"""Problems that a spec has on purpose: read with their reasons, listed, and told when they are not there any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from machines.checks.checker import check, check_with_suppressions
from machines.parser.loader import load_text
from machines.parser.suppressions import ACCEPTABLE
from machines.problems import SpecError
from tests.support.quiz import QUIZ, changed

NO_LIMIT = ("        within: never\n", "")  # the client's wait
UNREAD = ("          NEWS: stay\n", "")


def accepting(text: str, *edits: tuple[str, str]) -> str:
    return changed(*edits) + f"accepted:\n{text}"


def told(text: str) -> list[str]:
    try:
        return [f"{problem.code} {problem.text}" for problem in check(load_text(text))]
    except SpecError as error:
        return [f"{problem.code} {problem.text}" for problem in error.problems]


def test_a_problem_that_is_accepted_is_listed_with_its_reason_and_none_any_more() -> None:
    problems, allowed = check_with_suppressions(load_text(accepting("  A325: the document knows no limit\n", NO_LIMIT)))

    assert problems == []
    assert [(one.problem.code, one.by.reason) for one in allowed] == [("A325", "the document knows no limit")]
    assert str(allowed[0]).endswith("waits without a time limit (because: the document knows no limit)")


@pytest.mark.parametrize("where", ["client", "client.main", "client.main.playing"])
def test_it_may_be_accepted_in_one_place(where: str) -> None:
    assert told(accepting(f"  A325: {{{where}: so it says}}\n", NO_LIMIT)) == []


@pytest.mark.parametrize("where", ["client.main.hello", "server", "NEWS", "reply"])
def test_elsewhere_it_is_still_one_and_what_was_accepted_in_vain_another(where: str) -> None:
    found = told(accepting(f"  A325: {{{where}: so it says}}\n", NO_LIMIT))

    assert sorted(text.split()[0] for text in found) == ["A325", "A350"]


def test_a_problem_of_a_message_belongs_to_the_message() -> None:
    assert told(accepting("  A331: {NEWS: nobody reads it}\n", UNREAD)) == []
    assert len(told(accepting("  A331: {OVER: nobody reads it}\n", UNREAD))) == 2


def test_what_is_accepted_and_not_there_is_a_problem() -> None:
    assert told(accepting("  A331: nobody reads it\n")) == ["A350 A331 is accepted, but is not there"]


def test_what_an_exploration_may_find_is_not_looked_for_here() -> None:
    assert told(accepting("  A504: nobody reads it\n")) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("  A302: it is bound somewhere\n", "'A302' is no problem that can be accepted"),
        ("  A999: who knows\n", "'A999' is no problem that can be accepted"),
        ("  A331:\n", "A331 is accepted without a reason"),
        ("  A331: ''\n", "A331 is accepted without a reason"),
        ("  A331: [so, it, says]\n", "A331 is accepted without a reason"),
        ("  A331: {}\n", "A331 is accepted nowhere"),
        ("  A331: {NEWSS: so it says}\n", "nothing is called 'NEWSS'"),
        ("  A325: {client.main.plying: so it says}\n", "nothing is called 'client.main.plying'"),
    ],
)
def test_what_can_not_be_accepted_is_told(text: str, says: str) -> None:
    assert told(accepting(text)) == [f"A139 {says}"]


def test_what_keeps_a_spec_from_running_can_not_be_accepted() -> None:
    assert not {"A301", "A302", "A322", "A324", "A328", "A338", "A340", "A401", "A506"} & set(ACCEPTABLE)
    assert not {code for code in ACCEPTABLE if code < "A300"}


def test_a_spec_that_extends_one_takes_over_what_it_accepts_and_may_mend_it(tmp_path: Path) -> None:
    (tmp_path / "quiz.yaml").write_text(accepting("  A325: the document knows no limit\n", NO_LIMIT))
    child = "extends: quiz\nprotocol: quicker\n"
    mend = "roles: {client: {main: {always: {within: 1 min}}}}\n"

    assert check_with_suppressions(load_text(child, folder=tmp_path))[0] == []
    assert len(check_with_suppressions(load_text(child, folder=tmp_path))[1]) == 1
    assert check_with_suppressions(load_text(child + mend, folder=tmp_path)) == ([], [])


def test_the_quiz_accepts_nothing() -> None:
    assert load_text(QUIZ).accepted == ()

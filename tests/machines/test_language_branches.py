"""The language, shown key by key: branches and what they do: if, limit, let, send, drop, do, then, return."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

MESSAGES = """
        messages:
          server: {GO: [go, $n int], STOP: stop}
          client: {A: a, B: b, N: [n, $n int], PAIR: [pair, $a int, $b int]}
"""


def client(main: str, **settings: str) -> Run:
    """Start a client whose ``main`` has these states; peer 0 is its server, which says GO(n) and STOP."""
    head = MESSAGES + "        roles:\n          client:\n            main:\n"
    named = "".join(f"          {name}: {value}\n" for name, value in settings.items())
    return start((f"        settings:\n{named}" if named else "") + head.lstrip("\n") + main.strip("\n"), "client")


# -- if, limit -------------------------------------------------------------------------------------------------------


@shows("branch.if")
def test_the_first_branch_whose_condition_holds_is_taken() -> None:
    run = client(
        """
              listening:
                within: never
                receive:
                  GO:
                    - {if: n > 10, send: A, then: listening}
                    - {if: n > 5, send: B, then: listening}
                invalid: {return: reason}
        """
    )

    run.say(0, ["go", 11], ["go", 6])
    assert run.heard(0) == ["a", "b"]
    run.say(0, ["go", 5])  # no branch may be taken

    assert returned(run) == "illegal"


@shows("branch.limit")
def test_a_branch_over_its_limit_is_not_taken() -> None:
    run = client(
        """
              listening:
                within: never
                receive:
                  GO:
                    - {limit: 2, send: A, then: stay}
                    - {if: n > 0, send: B, then: stay}
                  STOP: listening
                invalid: {return: reason}
        """
    )

    run.say(0, ["go", 1], ["go", 1], ["go", 1])
    assert run.heard(0) == ["a", "a", "b"]
    run.say(0, "stop", ["go", 1])  # the state is entered afresh: its count begins again
    assert run.heard(0) == ["a"]
    run.say(0, ["go", 1], ["go", 0])  # over the limit, and the other branch refuses

    assert returned(run) == "limit"


@shows("branch.limit")
def test_a_rate_is_a_limit_in_any_stretch_of_its_time() -> None:
    run = client(
        """
              listening:
                within: never
                receive:
                  GO: {limit: 2 per 10 s, send: A, then: listening}
                invalid: {return: reason}
        """
    )

    run.say(0, ["go", 1], ["go", 1])
    run.wait(10)
    run.say(0, ["go", 1], ["go", 1], ["go", 1])

    assert run.heard(0) == ["a"] * 4
    assert returned(run) == "limit"


@shows("branch.limit")
def test_branches_that_name_the_same_setting_share_its_count() -> None:
    run = client(
        """
              listening:
                within: never
                receive:
                  GO: {limit: most, send: A, then: stay}
                  STOP: {limit: most, send: B, then: stay}
                invalid: {return: reason}
        """,
        most="2",
    )

    run.say(0, ["go", 1], "stop", "stop")

    assert returned(run) == "limit"


# -- let -------------------------------------------------------------------------------------------------------------


@shows("branch.let", "state.let")
def test_the_right_sides_of_let_see_the_old_values() -> None:
    run = client(
        """
              start: {let: {a: 1, b: 2}, then: listening}
              listening: {within: never, receive: {GO: {let: {a: b, b: a}, return: [a, b]}}, closed: {return: null}}
        """
    )

    run.say(0, ["go", 0])

    assert returned(run) == (2, 1)


@shows("state.let", "state.return")
def test_a_value_may_be_a_list_or_a_mapping_of_values() -> None:
    run = client(
        """
              only:
                let:
                  pair: [1, 1 + 1]
                  record: {low: 1, words: ["'a'", null]}
                return:
                  sum: pair[0] + pair[1]
                  words: record.words
        """
    )

    assert returned(run) == {"sum": 3, "words": ("a", None)}


# -- then, return ----------------------------------------------------------------------------------------------------


@shows("branch.then", "then.STATE", "then.stay", "then.[branches]")
def test_then_leads_to_a_state_or_keeps_it_or_decides_again() -> None:
    # a STATE, stay, or a list of branches
    run = client(
        """
              start: {let: {count: 0}, then: listening}
              listening:
                within: never
                send: A
                receive:
                  GO:
                    let: {count: count + n}
                    then:
                      - if: count >= 10
                        send: B
                        return: count
                      - if: n == 0
                        then: listening
                      - stay
                closed: {return: null}
        """
    )

    assert run.heard(0) == ["a"]
    run.say(0, ["go", 4])  # stay: the state's own steps are not done again
    assert run.heard(0) == []
    run.say(0, ["go", 0])  # its own name: entered afresh
    assert run.heard(0) == ["a"]
    run.say(0, ["go", 6])

    assert run.heard(0) == ["b"]
    assert returned(run) == 10


@shows("then.{branch}")
def test_then_may_be_one_more_branch() -> None:
    run = client(
        """
              listening:
                within: never
                receive:
                  GO: {send: A, then: {let: {n: n + 1}, send: N, return: n}}
                closed: {return: null}
        """
    )

    run.say(0, ["go", 1])

    assert run.heard(0) == ["a", ["n", 2]]
    assert returned(run) == 2


@shows("state.[branches]")
def test_a_state_that_is_a_list_is_a_plain_choice() -> None:
    # state: [branches]
    states = """
              start: {{let: {{n: {n}}}, then: choose}}
              choose:
                - if: n > 1
                  send: A
                  return: "'many'"
                - {{if: n == 1, return: "'one'"}}
                - return: "'none'"
        """

    assert [returned(client(states.format(n=n))) for n in (2, 1, 0)] == ["many", "one", "none"]


RETURNS = [
    ("n + 1", 8),
    ("null", None),
    ("{x: n, y: {z: 1}}", {"x": 7, "y": {"z": 1}}),
    ("[n, 1]", (7, 1)),
    ("\"'a text'\"", "a text"),
]


@shows("branch.return", "state.return")
@pytest.mark.parametrize(("written", "value"), RETURNS, ids=[written for written, _ in RETURNS])
def test_return_ends_a_machine_with_an_expression_or_a_mapping_or_list_of_them(written: str, value: Any) -> None:
    by_branch = client(
        f"""
              listening: {{within: never, receive: {{GO: {{return: {written}}}}}, closed: {{return: null}}}}
        """
    )
    by_branch.say(0, ["go", 7])

    assert returned(by_branch) == value
    assert (
        returned(client(f"              a: {{let: {{n: 7}}, then: b}}\n              b: {{return: {written}}}"))
        == value
    )

"""The language, shown key by key: the clocks of a wait: within, after, every, and what stay and again do to them."""

from __future__ import annotations

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

CLIENT = """
        messages:
          server: {GO: [go, $n int], STOP: stop}
          client: {A: a, SAID: [said, $t number]}
        roles:
          client:
            main:
"""


def client(states: str) -> Run:
    """Start a client whose ``main`` has these states; peer 0 is its server, which says GO(n) and STOP."""
    settings = "        settings: {brief: 2 s}\n" if "brief" in states else ""
    return start(settings + CLIENT.lstrip("\n") + states.strip("\n") + "\n", "client")


@shows("state.within", "state.timeout")
def test_a_wait_ends_when_its_time_is_up_and_not_before() -> None:
    run = client("              begin: {within: brief, receive: {GO: begin}, timeout: {return: reason}}")

    run.wait(1.9)
    run.say(0, ["go", 1])  # entered afresh
    run.wait(1.9)
    assert run.ended is None
    run.wait(0.1)

    assert returned(run) == "late"
    assert run.now == pytest.approx(3.8 + 0.1)


@shows("state.within", "built-in.elapsed")
def test_a_time_bank_is_a_limit_by_expression_and_what_has_elapsed() -> None:
    run = client(
        """
              begin: {let: {bank: 10.0}, then: move}
              move:
                within: bank
                receive: {GO: {let: {bank: bank - elapsed}, send: SAID(elapsed), then: move}}
                timeout: {return: bank}
        """
    )

    run.wait(4)
    run.say(0, ["go", 1])
    run.wait(3)
    run.say(0, ["go", 1])
    assert run.heard(0) == [["said", 4], ["said", 3]]
    run.wait(3)

    assert returned(run) == 3


@shows("state.within")
def test_never_is_a_limit_too() -> None:
    run = client("              begin: {within: never, receive: {GO: {return: n}}, closed: {return: null}}")

    run.wait(1e9)

    assert run.ended is None
    assert run.session.deadline is None


# -- after, every, stay, again ---------------------------------------------------------------------------------------


@shows("state.after")
def test_after_a_while_a_wait_may_do_something_and_go_on() -> None:
    run = client(
        """
              begin:
                within: 10 s
                after:
                  4 s: {send: A, then: stay}
                  brief: {send: SAID(elapsed), then: stay}
                receive: {GO: {return: n}}
                timeout: {return: elapsed}
        """
    )

    run.wait(2)
    assert run.heard(0) == [["said", 2]]
    run.wait(7.9)
    assert run.heard(0) == ["a"]
    run.wait(0.1)

    assert returned(run) == 10


@shows("state.every")
def test_every_so_often_a_wait_may_do_something() -> None:
    run = client(
        """
              begin:
                within: 10 s
                every: {3 s: {send: SAID(elapsed), then: stay}}
                receive: {GO: {return: n}}
                timeout: {return: null}
        """
    )

    run.wait(10)

    assert run.heard(0) == [["said", 3], ["said", 6], ["said", 9]]


CLOCKS = [("stay", 10.0, 1), ("again", 14.0, 1), ("begin", 14.0, 2)]


@shows("then.stay", "then.again", "then.STATE")
@pytest.mark.parametrize(("then", "end", "entries"), CLOCKS, ids=[row[0] for row in CLOCKS])
def test_stay_keeps_the_clocks_and_again_restarts_them_and_only_entering_does_the_steps(
    then: str, end: float, entries: int
) -> None:
    # stay, again, a STATE
    run = client(
        f"""
              begin:
                send: A
                within: 10 s
                after: {{8 s: {{send: SAID(8), then: stay}}}}
                receive: {{GO: {then}}}
                timeout: {{return: null}}
        """
    )
    run.wait(4)
    run.say(0, ["go", 1])

    run.wait(9.9)

    assert (run.ended is not None) == (end < 13.9)
    run.wait(0.1)
    assert returned(run) is None
    assert run.heard(0).count("a") == entries


def test_a_moment_that_does_not_say_what_is_next_lets_the_wait_go_on() -> None:
    server = start(
        """
        messages:
          client: {MOVE: [move, $x int]}
          server: {TICK: [tick, $n number], HURRY: hurry}
        roles:
          server:
            main(client):
              asked:
                within: 5 s
                every: {2 s: {send: TICK(elapsed)}}
                after: {3 s: {send: HURRY}}
                receive: {MOVE: {return: x}}
                timeout: {return: 0}
                closed: {return: 1}
                invalid: {return: 2}
        """
    )

    for _ in range(5):
        server.wait(1)

    assert server.heard(0) == [["tick", 2], "hurry", ["tick", 4]]

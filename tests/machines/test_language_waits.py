"""The language, shown key by key: what a state waits for, its clocks, and what goes wrong meanwhile."""

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


GROUP = """
        messages:
          client: {HELLO: $name string, MOVE: [move, $x int], QUIT: [quit]}
          server: {NOTE: [note, $text any]}
        roles:
          server:
            main:
              door: {accept: hello(peer), as: players, seats: 2, within: never, then: begin}
STATES
            hello(peer):
              a: {await: peer, within: 1 s, receive: {HELLO: {return: {name: name}}}}
"""


def group(states: str) -> Run:
    """Start a server with the players ann (0) and bob (1) seated, then in the state ``begin``."""
    server = start(GROUP.replace("STATES\n", states.strip("\n") + "\n"))
    for name in ("ann", "bob"):
        server.say(server.join(), name)
    return server


# -- await, receive --------------------------------------------------------------------------------------------------


@shows("state.await", "state.receive")
def test_a_state_that_awaits_a_peer_is_strict_with_it_and_leaves_the_others_waiting() -> None:
    server = group(
        """
              begin:
                await: players[1]
                within: never
                receive: {MOVE: {let: {first: x}, then: other}}
                fault: {return: reason}
              other:
                await: players[0]
                within: never
                receive:
                  MOVE:
                    return: [first, x]
                fault: {return: reason}
        """
    )

    server.say(0, ["move", 1])  # kept: nobody awaits ann yet
    server.say(1, ["move", 2])

    assert returned(server) == (2, 1)


@shows("state.await")
def test_a_state_may_await_several_and_the_one_who_spoke_is_peer() -> None:
    server = group(
        """
              begin:
                await: players
                within: never
                receive: {MOVE: {send: NOTE(x), return: peer.name}}
                fault: {return: reason}
        """
    )

    server.say(1, ["move", 5])

    assert returned(server) == "bob"
    assert (server.heard(0), server.heard(1)) == ([], [["note", 5]])


@shows("state.await")
def test_whom_a_state_awaits_is_looked_at_again_when_it_stays() -> None:
    server = group(
        """
              begin:
                let: {left: players}
                then: collect
              collect:
                await: left
                within: never
                receive:
                  MOVE:
                    let: {left: "[players[1]]"}
                    then: stay
                fault: {return: [reason, peer.name]}
        """
    )

    server.say(0, ["move", 1], ["quit"])  # the second is nobody's to hear any more
    assert server.ended is None
    server.say(1, ["quit"])

    assert returned(server) == ("unexpected", "bob")


@shows("state.closed")
def test_a_group_tells_each_loss_once_and_then_that_nobody_is_left() -> None:
    server = group(
        """
              begin: {let: {told: []}, then: listen}
              listen:
                await: players
                within: 10 s
                receive: {MOVE: listen}
                invalid: stay
                closed:
                  - if: peer == null
                    let: {told: "told + [null]"}
                    then: stay
                  - let: {told: "told + [peer.name]"}
                    then: stay
                timeout: {return: told}
        """
    )

    server.lose(1)
    server.say(0, ["move", 1])  # entered afresh: that bob is lost has been told
    server.lose(0)
    server.wait(10)

    assert returned(server) == ("bob", "ann", None)


@shows("state.closed")
def test_an_empty_group_answers_closed_at_once_and_with_no_peer() -> None:
    server = group(
        """
              begin: {let: {players: []}, then: listen}
              listen: {await: players, within: never, receive: {MOVE: {return: x}}, fault: {return: [reason, peer]}}
        """
    )

    assert returned(server) == ("closed", None)


@shows("state.closed")
def test_a_lost_peer_answers_closed_after_all_it_had_sent() -> None:
    run = client(
        """
              begin: {within: never, receive: {GO: begin}, closed: {return: reason}}
        """
    )
    run.write(0, b'["go", 1]\n["go", 2]\n')

    run.lose(0)

    assert run.taken[-2:] == ["GO", "GO"]
    assert returned(run) == "closed"


# -- invalid and its reasons -----------------------------------------------------------------------------------------

REASONS = [
    (b"}{\n", "malformed"),
    (b'{"a": 1, "a": 2}\n', "malformed"),
    (b'["go", "far"]\n', "unknown"),
    (b'"stop"\n', "unexpected"),
    (b'["go", 13]\n', "illegal"),
    (b'["go", 1]\n["go", 1]\n', "limit"),
]


@shows("state.invalid", *(f"reason.{reason}" for _, reason in REASONS))
@pytest.mark.parametrize(("data", "reason"), REASONS, ids=[repr(row[0]) for row in REASONS])
def test_invalid_says_what_was_wrong(data: bytes, reason: str) -> None:
    # malformed, unknown, unexpected, illegal, limit
    run = client(
        """
              begin:
                within: never
                receive: {GO: {if: n < 10, limit: 1, then: stay}}
                invalid: {return: reason}
        """
    )

    run.write(0, data)

    assert returned(run) == reason


FAULTS = [("timeout", "late"), ("invalid", "malformed"), ("closed", "closed")]


@shows("state.fault", "reason.late", "reason.closed")
@pytest.mark.parametrize(("event", "reason"), FAULTS)
def test_fault_stands_for_timeout_invalid_and_closed(event: str, reason: str) -> None:
    # late, malformed, closed
    run = client("              begin: {within: 3 s, receive: {GO: begin}, fault: {return: [reason, peer == server]}}")

    match event:
        case "timeout":
            run.wait(3)
        case "invalid":
            run.write(0, b"}\n")
        case _:
            run.lose(0)

    assert returned(run) == (reason, True)


@shows("state.fault")
def test_an_event_that_is_written_is_no_fault() -> None:
    run = client("              begin: {within: 3 s, receive: {GO: begin}, fault: {return: 1}, timeout: {return: 2}}")

    run.wait(3)

    assert returned(run) == 2


@shows("state.failed", "reason.failed")
def test_failed_answers_for_a_state_whose_own_work_can_not_be_done() -> None:
    run = client(
        """
              begin:
                within: 3 s
                receive:
                  GO:
                    send: [A, SAID(n)]
                    let: {item: "[1, 2, 3][n]"}
                    return: item
                failed: {return: reason}
        """
    )

    run.say(0, ["go", 7])

    assert returned(run) == "failed"
    assert run.heard(0) == []  # what the branch would have sent is not sent

"""The language, shown key by key: what a state waits for, its clocks, and what goes wrong meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import Run
from tests.machines.tiny import returned, shows, start

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


# -- within, timeout -------------------------------------------------------------------------------------------------


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


# -- early -----------------------------------------------------------------------------------------------------------


def unasked(wire: str = "", role: str = "", machine: str = "", state: str = "") -> Run:
    """Ask ann for a move while bob, whose turn is next, sends his; say how that goes, and then let ann move."""
    server = start(
        f"""
        wire: {{framing: lines{wire and f", early: {wire}"}}}
        messages:
          client: {{HELLO: $name string, MOVE: [move, $x int]}}
        roles:
          server:
            {role and f"early: {role}"}
            main:
              {machine and f"early: {machine}"}
              door: {{accept: hello(peer), as: players, seats: 2, within: never, then: ann}}
              ann:
                {state and f"early: {state}"}
                await: players[0]
                within: never
                receive: {{MOVE: bob}}
                fault: {{return: reason}}
              bob:
                await: players[1]
                within: 1 s
                receive: {{MOVE: {{return: x}}}}
                fault: {{return: reason}}
            hello(peer):
              a: {{await: peer, within: never, receive: {{HELLO: {{return: {{name: name}}}}}}}}
        """
    )
    for name in ("ann", "bob"):
        server.say(server.join(), name)
    server.say(1, ["move", 2])
    server.say(0, ["move", 1])
    server.wait(1)
    return server


EARLY: list[tuple[dict[str, str], Any]] = [
    ({}, 2),
    ({"wire": "keep"}, 2),
    ({"wire": "fault"}, "early"),
    ({"wire": "ignore"}, "late"),
    ({"wire": "fault", "role": "keep"}, 2),
    ({"role": "keep", "machine": "fault"}, "early"),
    ({"machine": "fault", "state": "ignore"}, "late"),
]


@shows("wire.early", "role.early", "machine.early", "state.early", "reason.early")
@pytest.mark.parametrize(("levels", "outcome"), EARLY, ids=[str(row[0]) for row in EARLY])
def test_early_says_what_an_unasked_message_is_and_the_innermost_word_counts(
    levels: dict[str, str], outcome: Any
) -> None:
    # early: keep, fault or ignore, for wire, role, machine and state
    assert returned(unasked(**levels)) == outcome


@shows("wire.early")
def test_early_on_the_wire_is_about_accepted_peers_only() -> None:
    # early: fault
    run = start(
        """
        wire: {framing: lines, early: fault}
        messages:
          server: {GO: [go, $n int]}
          client: {A: a, B: b}
        roles:
          client:
            main:
              thinking:
                ask: think
                within: never
                receive: {A: {send: A, then: listening}, B: {send: B, then: listening}}
              listening: {within: never, receive: {GO: {return: n}}, fault: {return: reason}}
        """,
        "client",
    )

    run.say(0, ["go", 7])  # it connected to this server, so what comes too soon is kept
    run.answer(("A", {}))

    assert returned(run) == 7


@shows("state.connected")
def test_a_state_may_answer_a_connection_that_nobody_accepts() -> None:
    server = group(
        """
              begin:
                await: players
                within: 5 s
                receive: {MOVE: {return: x}}
                connected: {send: NOTE(null), drop: peer}
                fault: {return: null}
        """
    )

    late = server.join()

    assert server.heard(late) == [["note", None]]
    assert late in server.dropped
    assert server.ended is None

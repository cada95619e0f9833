"""The language, shown key by key: messages that nobody asked for, and connections that nobody accepts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

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

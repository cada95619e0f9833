"""The language, shown key by key: ``always``, what stands behind every state of a machine and of those it calls."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

SPEC = """
        messages:
          client: {HELLO: $name string, MOVE: [move, $x int], PING: ping, RESIGN: resign}
          server: {ASK: [ask, $x int], PONG: pong, TICK: [tick, $s number], FULL: full}
        roles:
          server:
            main:
              door: {accept: hello(peer), as: players, seats: 2, within: never, then: begin}
STATES
            hello(peer):
              a: {await: peer, within: never, receive: {HELLO: {return: {name: name}}}}
MACHINES
"""

GAME = """
              begin: {run: game(players), as: won, return: won}
"""
TURN = """
            turn(player):
              asked: {send: ASK(0), await: player, receive: {MOVE: {return: x}}}
"""


def served(machines: str, states: str = GAME) -> Run:
    """Start a server with ann (0) and bob (1) seated that runs ``game(players)``; that may run ``turn(player)``."""
    turn = TURN.strip("\n") + "\n" if "turn(" in machines else ""
    text = SPEC.replace("STATES\n", states.strip("\n") + "\n").replace("MACHINES\n", machines.strip("\n") + "\n" + turn)
    server = start(text)
    for name in ("ann", "bob"):
        server.say(server.join(), name)
    return server


@shows("machine.always", "always.receive")
def test_always_hears_a_message_in_every_state_and_in_every_call_below() -> None:
    server = served(
        """
            game(players):
              always:
                within: 9 s
                receive:
                  PING: {send: PONG, then: stay}
                  RESIGN: {return: peer.name}
                fault: {return: reason}
              first: {run: "turn(players[0])", then: second}
              second: {await: "players[1]", receive: {MOVE: {return: x}}}
        """
    )
    server.say(0, "ping")
    server.say(0, ["move", 1])
    server.say(1, "ping")

    server.say(1, "resign")

    assert server.heard(0) == [["ask", 0], "pong"]
    assert server.heard(1) == ["pong"]
    assert returned(server) == "bob"


@shows("always.receive")
def test_stay_does_not_disturb_the_state_below_nor_its_clock() -> None:
    server = served(
        """
            game(players):
              always:
                within: never
                receive: {PING: {send: PONG, then: stay}}
                invalid: {return: 0}
                closed: {return: 0}
              first: {run: "turn(players[0])", within: 5 s, timeout: {return: reason}, return: null}
        """
    )
    server.wait(3)

    server.say(0, "ping")

    assert server.heard(0) == [["ask", 0], "pong"]
    server.wait(2)
    assert returned(server) == "late"


@shows("always.await")
def test_an_always_may_hear_peers_that_nobody_awaits() -> None:
    server = served(
        """
            game(players):
              always:
                await: players
                within: 9 s
                receive: {RESIGN: {return: peer.name}}
                fault: {return: reason}
              first: {await: "players[0]", receive: {MOVE: {return: x}}}
        """
    )

    server.say(1, "resign")

    assert returned(server) == "bob"


@shows("always.await")
def test_what_such_an_always_does_not_list_waits_for_whoever_awaits_the_peer() -> None:
    server = served(
        """
            game(players):
              always:
                await: players
                within: 9 s
                receive: {RESIGN: {return: peer.name}}
                fault: {return: reason}
              first: {await: "players[0]", receive: {MOVE: second}}
              second: {await: "players[1]", receive: {MOVE: {return: x}}}
        """
    )

    server.say(1, ["move", 2])
    server.say(0, ["move", 1])

    assert returned(server) == 2


@shows("always.within", "always.timeout")
def test_within_in_an_always_is_the_limit_of_each_wait_behind_it_that_has_none() -> None:
    server = served(
        """
            game(players):
              always: {within: 4 s, timeout: {return: [reason, peer.name]}, invalid: {return: 0}, closed: {return: 0}}
              first: {await: "players[0]", within: 9 s, receive: {MOVE: second}}
              second: {run: "turn(players[1])", return: null}
        """
    )
    server.wait(8)
    server.say(0, ["move", 1])

    server.wait(3.9)
    assert server.ended is None
    server.wait(0.1)

    assert returned(server) == ("late", "bob")


EVENTS = [
    ("invalid: {return: reason}, timeout: {return: 0}, closed: {return: 0}", "malformed"),
    ("closed: {return: reason}, invalid: {return: 0}, timeout: {return: 0}", "closed"),
    ("fault: {return: reason}", "malformed"),
    ("fault: {return: reason}", "closed"),
]


@shows("always.invalid", "always.closed", "always.fault")
@pytest.mark.parametrize(("answers", "reason"), EVENTS, ids=["invalid", "closed", "fault: invalid", "fault: closed"])
def test_always_answers_what_goes_wrong_below_it(answers: str, reason: str) -> None:
    # invalid, closed, fault
    server = served(
        f"""
            game(players):
              always: {{within: 9 s, {answers}}}
              first: {{run: "turn(players[0])", return: null}}
        """
    )

    if reason == "closed":
        server.lose(0)
    else:
        server.write(0, b"}\n")

    assert returned(server) == reason


@shows("always.failed")
def test_always_answers_a_machine_below_it_that_failed() -> None:
    server = served(
        """
            game(players):
              always: {within: 9 s, fault: {return: 0}, failed: {return: reason}}
              first: {run: "sum(players[0])", return: null}
            sum(player):
              asked: {await: player, receive: {MOVE: {return: "[1, 2][x]"}}}
        """
    )

    server.say(0, ["move", 2])

    assert returned(server) == "failed"
    assert any("there is no element 2" in note for note in server.notes)


@shows("always.connected")
def test_always_answers_a_connection_that_comes_too_late() -> None:
    server = served(
        """
            game(players):
              always:
                within: 9 s
                connected: {send: FULL, drop: peer}
                fault: {return: reason}
              first: {run: "turn(players[0])", as: x, return: x}
        """
    )

    late = server.join()
    server.say(0, ["move", 1])

    assert server.heard(late) == ["full"]
    assert late in server.dropped
    assert returned(server) == 1


@shows("always.after", "always.every")
def test_the_clocks_of_an_always_run_from_the_machine_s_call_to_its_return() -> None:
    server = served(
        """
            game(players):
              always:
                within: never
                after: {5 s: {send: {players: FULL}, then: stay}}
                every: {2 s: {send: {players: PONG}, then: stay}}
                fault: {return: reason}
              first: {await: "players[0]", receive: {MOVE: second}}
              second: {await: "players[1]", receive: {MOVE: {return: x}}}
        """
    )
    server.wait(3)
    server.say(0, ["move", 1])
    server.wait(3.5)

    assert server.heard(0) == ["pong", "pong", "full", "pong"]


# -- who is asked ----------------------------------------------------------------------------------------------------

LAYERS: list[tuple[str, list[Any], Any]] = [
    # what the innermost layer that lists MOVE says of it
    ("state", [["move", 1]], ("state", 1)),
    ("state", [["move", 9]], "illegal"),  # its guard refuses; nobody further out is asked for the message
    ("always", [["move", 9]], ("always", 9)),
]


@shows("always.receive", "always.invalid")
@pytest.mark.parametrize(("where", "said", "outcome"), LAYERS)
def test_the_innermost_layer_that_lists_a_message_answers_it_alone(where: str, said: list[Any], outcome: Any) -> None:
    # receive, invalid
    listed = """receive: {MOVE: {if: x < 5, return: "['state', x]"}}"""
    server = served(
        f"""
            game(players):
              always:
                within: never
                receive: {{MOVE: {{return: "['always', x]"}}}}
                fault: {{return: reason}}
              first: {{await: "players[0]", {listed if where == "state" else "receive: {RESIGN: {return: null}}"}}}
        """
    )

    server.say(0, *said)

    assert returned(server) == outcome


@shows("always.invalid")
def test_a_fault_that_the_branches_of_one_layer_refuse_goes_on_to_the_next() -> None:
    server = served(
        """
            game(players):
              always: {within: never, timeout: {return: 0}, closed: {return: 0}, invalid: {return: "'always'"}}
              first:
                await: players[0]
                receive: {MOVE: {return: x}}
                invalid: {if: "reason == 'malformed'", return: "'state'"}
        """
    )

    server.say(0, "ping")  # unexpected

    assert returned(server) == "always"


@shows("always.timeout", "state.run")
def test_the_state_that_calls_stands_between_its_callee_and_its_own_always() -> None:
    server = served(
        """
            game(players):
              always: {within: 3 s, timeout: {return: "'always'"}, invalid: {return: 0}, closed: {return: 0}}
              first: {run: "turn(players[0])", timeout: {return: "'state'"}, return: null}
        """
    )

    server.wait(3)

    assert returned(server) == "state"


@shows("machine.always")
def test_leaving_through_an_always_keeps_what_was_bound_before_and_abandons_what_runs() -> None:
    server = served(
        """
            game(players):
              always: {within: 3 s, fault: over}
              begin: {let: {sum: 0}, then: turns}
              turns: {each: player in players, run: turn(player), as: {sum: sum + result}, then: over}
              over: {return: sum}
        """
    )

    server.say(0, ["move", 5])
    server.lose(1)

    assert returned(server) == 5


@shows("always.fault")
def test_behind_everything_stands_the_answer_that_the_session_fails() -> None:
    client = start(
        """
        messages:
          server: {ASK: ask}
        roles:
          client: {main: {first: {within: 3 s, receive: {ASK: {return: null}}}}}
        """,
        "client",
    )

    client.wait(3)

    assert client.ended is not None
    assert client.ended.failed is not None
    assert "no answer to timeout" in client.ended.failed, "no fault, no always"

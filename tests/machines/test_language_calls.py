"""The language, shown key by key: machines that call machines, once, for each item in turn, or side by side."""

from __future__ import annotations

from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start, tiny

SPEC = """
        messages:
          client: {HELLO: $name string, MOVE: [move, $x int]}
          server: {ASK: [ask, $n int]}
        roles:
          server:
            main:
              door: {accept: hello(peer), as: players, seats: SEATS, within: never, then: begin}
STATES
            hello(peer):
              a: {await: peer, within: never, receive: {HELLO: {return: {name: name}}}}
"""
TURN = """
            turn(player, n):
              asked: {send: ASK(n), await: player, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: -1}}
"""


def spec(states: str, seats: int = 3) -> str:
    turn = TURN.strip("\n") + "\n" if "turn(" in states else ""
    return SPEC.replace("SEATS", str(seats)).replace("STATES\n", states.strip("\n") + "\n") + turn


def served(states: str, seats: int = 3) -> Run:
    """Start a server with so many players seated; ``turn(player, n)`` asks one with n and returns its move, or -1."""
    server = start(spec(states, seats))
    for name in ("ann", "bob", "cid", "dee")[:seats]:
        server.say(server.join(), name)
    return server


# -- run, as ---------------------------------------------------------------------------------------------------------


@shows("state.run", "state.as", "as.NAME")
def test_run_calls_a_machine_and_as_names_what_it_returns() -> None:
    # as: NAME
    server = served(
        """
              begin: {run: "turn(players[0], 7)", as: x, then: end}
              end: {return: x}
        """
    )
    assert server.heard(0) == [["ask", 7]]

    server.say(0, ["move", 3])

    assert returned(server) == 3


@shows("state.as", "as.{name: value}")
def test_as_may_bind_expressions_over_the_result() -> None:
    # as: {name: value}
    server = served(
        """
              begin: {let: {sum: 10}, then: ask}
              ask:
                run: turn(players[0], 0)
                as: {sum: sum + result, twice: result * 2}
                return: [sum, twice]
        """
    )

    server.say(0, ["move", 3])

    assert returned(server) == (13, 6)


@shows("state.within", "state.timeout")
def test_within_on_a_call_is_the_limit_of_the_whole_call() -> None:
    server = served(
        """
              begin: {run: "three(players[0])", within: 8 s, timeout: {return: reason}, then: end}
              end: {return: null}
            three(player):
              one: {run: "turn(player, 1)", then: two}
              two: {run: "turn(player, 2)", then: one}
        """
    )
    server.wait(4)
    server.say(0, ["move", 1])
    server.wait(3.9)
    assert server.ended is None

    server.wait(0.1)

    assert returned(server) == "late"


@shows("names.frame")
def test_a_machine_sees_its_own_names_only() -> None:
    # each frame has its own names: x here is not x there
    server = served(
        """
              begin: {let: {x: 1}, then: ask}
              ask:
                run: turn(players[0], x)
                as: y
                return: [x, y]
        """
    )

    server.say(0, ["move", 5])

    assert returned(server) == (1, 5)


# -- each, if, until -------------------------------------------------------------------------------------------------


@shows("state.each", "state.run", "state.as")
def test_each_runs_a_machine_for_one_item_after_another_and_folds_what_they_return() -> None:
    server = served(
        """
              begin: {let: {sum: 0}, then: turns}
              turns:
                each: player in players
                run: turn(player, sum)
                as: {sum: sum + result}
                then: end
              end: {return: sum}
        """
    )

    for player, x in enumerate((5, 6, 7)):
        server.say(player, ["move", x])

    assert [server.heard(player) for player in range(3)] == [[["ask", 0]], [["ask", 5]], [["ask", 11]]]
    assert returned(server) == 18


@shows("state.each", "state.send", "state.let")
def test_each_may_send_or_bind_without_a_call() -> None:
    server = served(
        """
              begin: {let: {n: 0}, then: tell}
              tell:
                each: k in 1..3
                let: {n: n + k}
                send:
                  players[0]: ASK(n)
                return: n
        """
    )

    assert server.heard(0) == [["ask", 1], ["ask", 3], ["ask", 6]]
    assert returned(server) == 6


@shows("state.if")
def test_an_item_is_skipped_if_its_condition_fails_when_its_turn_comes() -> None:
    server = served(
        """
              begin: {let: {out: []}, then: turns}
              turns:
                each: player in players
                if: not (player in out)
                run: turn(player, 0)
                as: {out: "out + [players[1]]"}        # whoever moved first puts bob out
                return: len(out)
        """
    )

    server.say(0, ["move", 1])
    assert server.heard(1) == []
    server.say(2, ["move", 1])

    assert returned(server) == 2


@shows("state.until")
def test_until_is_asked_after_each_item_and_ends_the_loop() -> None:
    server = served(
        """
              begin: {let: {best: 0}, then: turns}
              turns:
                each: player in players
                run: turn(player, best)
                as: best
                until: best == 10
                return: best
        """
    )

    server.say(0, ["move", 9])
    server.say(1, ["move", 10])

    assert server.heard(2) == []
    assert returned(server) == 10


@shows("state.within", "state.each")
def test_a_limit_beside_each_is_for_every_item_in_turn() -> None:
    server = served(
        """
              begin: {let: {sum: 0}, then: turns}
              turns:
                each: player in players
                run: turn(player, 0)
                within: 4 s
                as: {sum: sum + result}
                timeout: {return: "[sum, player.name]"}
                return: sum
        """
    )
    for player in (0, 1):
        server.wait(3.9)
        server.say(player, ["move", 1])

    server.wait(4)

    assert returned(server) == (2, "cid")


# -- roles that have no peer of their own ----------------------------------------------------------------------------


@shows("roles")
def test_main_is_entered_first_and_a_machine_starts_in_its_first_state() -> None:
    text = """
        messages: {}
        roles:
          client:
            other:
              only: {return: "'other'"}
            main:
              first: {run: other, as: got, then: last}
              last: {return: got}
        """

    assert returned(Run(tiny(text), "client")) == "other"

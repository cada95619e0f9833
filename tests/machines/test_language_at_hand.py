"""Who is at hand where a wait or a send names nobody: the item of a loop, else the first parameter of the machine."""

from __future__ import annotations

from tests.machines.test_language_peers import join
from tests.support.session_harness import Run
from tests.support.tiny import returned, start

SPEC = """
        messages:
          client: {HELLO: [hello, $name string 0..60], MOVE: [move, $x int]}
          server: {TURN: [turn], NEWS: [news, $line string 0..60]}
        roles:
          server:
            main:
              door: {accept: hello(peer), as: players, seats: 2, within: never, then: begin}
              begin: {let: {total: 0}, then: turns}
              turns: {each: player in players, fold: total, run: turn(player), then: end}
              end: {each: player in players, send: NEWS(player.name), return: total}
            hello(peer):
              named: {within: 3 s, receive: {HELLO: {return: {name: name}}}}
            turn(player, total):
              told: {send: TURN, then: asked}
              asked: {within: 5 s, receive: {MOVE: {return: total + x}}, fault: {return: total}}
"""


def seated() -> tuple[Run, int, int]:
    server = start(SPEC)
    ann, bob = join(server, "ann", "bob")
    return server, ann, bob


def test_a_wait_and_a_send_without_a_name_are_for_the_first_parameter_of_their_machine() -> None:
    server, ann, bob = seated()

    assert (server.heard(ann), server.heard(bob)) == ([["turn"]], [])
    server.say(bob, ["move", 5])  # nobody awaits bob yet: it is kept
    server.say(ann, ["move", 3])

    assert server.heard(bob) == [["turn"], ["news", "bob"]]
    assert returned(server) == 8


def test_a_send_in_a_loop_is_for_the_item() -> None:
    server, ann, bob = seated()

    server.wait(5)
    server.wait(5)

    assert (server.heard(ann)[-1], server.heard(bob)[-1]) == (["news", "ann"], ["news", "bob"])


def test_a_wait_without_a_name_hears_the_loss_of_its_first_parameter_and_of_nobody_else() -> None:
    server, ann, bob = seated()

    server.lose(bob)
    server.say(ann, ["move", 3])

    assert returned(server) == 3


def test_a_role_with_one_peer_speaks_with_that_one_whatever_its_machine_is_given() -> None:
    client = start(
        """
        messages:
          client: {MOVE: [move, $x int]}
          server: {TURN: [turn], NEWS: [news, $line string]}
        roles:
          client:
            main: {begin: {run: turn(4), as: x, return: x}}
            turn(x): {told: {send: MOVE(x), then: asked}, asked: {within: 5 s, receive: {TURN: {return: x}}}}
        """,
        "client",
    )

    client.say(0, ["turn"])

    assert client.heard(0) == [["move", 4]]
    assert returned(client) == 4

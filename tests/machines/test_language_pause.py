"""``pause``: a state that hears nobody for a while."""

from __future__ import annotations

import pytest

from machines.problems import SpecError
from tests.machines.test_language_peers import join, served
from tests.support.tiny import returned, shows

DOOR = "              door: {accept: hello(peer), as: players, seats: 2, within: never, then: rested}\n"
REST = "              rested: {send: {players: NEWS('rest')}, pause: 3 s, then: end}\n"
END = """\
              end:
                send: {players: NEWS('go')}
                await: players
                within: 9 s
                receive: {SAY: {return: line}}
                fault: {return: reason}
"""


@shows("state.pause")
def test_a_pause_hears_nobody_and_goes_on_when_its_time_is_over() -> None:
    server = served(DOOR + REST + END)
    ann, bob = join(server, "ann", "bob")

    server.say(bob, ["say", "early"])
    server.wait(2.9)
    assert server.heard(ann) == [["news", "rest"]]
    server.wait(0.2)  # the pause is 3 s

    assert server.heard(ann) == [["news", "go"]]
    assert returned(server) == "early"  # it had waited in the inbox


def test_who_is_lost_in_a_pause_does_not_end_it() -> None:
    server = served(DOOR + REST + END)
    ann, bob = join(server, "ann", "bob")

    server.lose(bob)
    server.wait(2.9)
    assert server.heard(ann) == [["news", "rest"]]
    server.wait(0.2)

    assert server.heard(ann) == [["news", "go"]]
    assert returned(server) == "closed"


def test_a_pause_may_end_the_machine() -> None:
    server = served(DOOR + REST.replace("then: end", "return: len(players)"))
    join(server, "ann", "bob")

    server.wait(3)

    assert returned(server) == 2


WRONG = [
    ("pause: 3 s, receive: {SAY: end}, then: end", "'pause' and 'receive' exclude one another"),
    ("pause: 3 s, within: 5 s, then: end", "'pause' and 'within' exclude one another"),
    ("pause: 3 sec, then: end", "did you mean '3 s'"),
    ("pause: 3 s", "A123 this pause leads nowhere"),
]


@pytest.mark.parametrize(("keys", "says"), WRONG)
def test_a_mistake_in_a_pause_is_told(keys: str, says: str) -> None:
    with pytest.raises((SpecError, AssertionError), match=says):
        served(DOOR + REST.replace("pause: 3 s, then: end", keys) + END)

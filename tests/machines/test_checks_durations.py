"""A player's own limit beside that of who waits for its answer (A346)."""

from __future__ import annotations

import pytest

from machines.checks import check
from machines.parser.loader import load
from tests.support.quiz import spec_of

THINKING = """\
protocol: thinking
connects: {client: server}
settings: {reply: 10 s, think: 12 s}
messages:
  client: {MOVE: {move: $x int}}
  server: {ASK: ask, OVER: over}
roles:
  server:
    main(client):
      asked: {send: ASK, within: WAITS, receive: {MOVE: MOVED}, fault: {drop: client, return: null}}
      late: LATE
  client:
    main:
      always: {within: 1 min, closed: {return: null}}
      ready: {receive: {ASK: deciding, OVER: {return: null}}}
      deciding: {ask: move, THINKS receive: {MOVE: {send: MOVE, then: ready}}, timeout: {return: null}}
"""


def told(waits: str, thinks: str, late: str = "{return: null}") -> list[str]:
    moved = "{return: x}" if late == "{return: null}" else "late"
    text = THINKING.replace("WAITS", waits).replace("THINKS", thinks).replace("LATE", late).replace("MOVED", moved)
    return [problem.text for problem in check(spec_of(text)) if problem.code == "A346"]


@pytest.mark.parametrize("thinks", ["12 s", "think"])
@pytest.mark.parametrize("waits", ["10 s", "reply"])
def test_a_player_that_may_take_longer_than_the_other_side_waits(waits: str, thinks: str) -> None:
    (text,) = told(waits, f"within: {thinks},")

    assert text.startswith("client.main.deciding gives its player 12 s, and server.main.asked waits 10 s for MOVE: ")


@pytest.mark.parametrize(
    ("waits", "thinks"),
    [
        ("reply", "within: 8 s,"),
        ("reply", "within: reply,"),  # one clock on both sides
        ("never", "within: 12 s,"),
        ("reply", ""),  # it is left to the other side, as by 'never'
        ("reply", "within: never,"),
    ],
)
def test_what_is_in_time_or_left_to_the_other_side(waits: str, thinks: str) -> None:
    assert told(waits, thinks) == []


def test_one_state_that_waits_long_enough_suffices() -> None:
    late = "{within: 1 min, receive: {MOVE: {return: x}}, fault: {drop: client, return: null}}"

    assert told("reply", "within: 12 s,", late) == []


def test_tsuro_whose_players_think_longer_than_its_server_waits() -> None:
    assert [problem.code for problem in check(load("tsuro", {"think": "12 s"}))] == ["A346", "A346"]
    assert check(load("tsuro", {"think": "9 s"})) == []

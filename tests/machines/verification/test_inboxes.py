"""What waits in an inbox and is not read in order: urgent messages, what is left of who left, a loss told once."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import SPECS, verdict_of

URGENT = """
protocol: urgent
wire: {framing: json}
connects: {client: server}
messages:
  client: {MOVE: move, BYE: bye}
  server: {NEWS: news, STOP: stop}
urgent: [STOP]
roles:
  server:
    main(client):
      always: {within: 1 min, fault: {return: null}}
      telling: {send: [NEWS, STOP], then: asked}
      asked: {receive: {MOVE: asked, BYE: {return: null}}}
  client:
    main:
      always: {within: never, receive: {STOP: {send: BYE, then: leaving}}, closed: {return: null}}
      thinking: {ask: move, within: 9 s, receive: {MOVE: {send: MOVE, then: told}}, timeout: told}
      told: {receive: {NEWS: stopped}}
      stopped: {within: never}
      leaving: {receive: {NEWS: leaving}}
"""

LEAVES = """
protocol: leaves
wire: {framing: json}
connects: {client: server}
messages:
  client: {JOIN: join, HURRY: hurry, DONE: done}
  server: {LEFT: left, START: start}
roles:
  server:
    main:
      always: {fault: {return: null}}
      room:
        accept: enters(peer)
        as: players
        seats: 3
        within: never
        closed: {send: {players: LEFT}}
        then: play
      play: {send: {players: START}, then: ending}
      ending:
        await: players
        within: 1 min
        receive: {HURRY: stay, DONE: {drop: peer, then: stay}}
        closed: [{if: peer == null, return: null}, {then: stay}]
    enters(peer):
      named: {await: peer, within: 1 min, receive: {JOIN: {return: {}}}}
  client:
    main:
      always: {within: never, closed: {return: null}}
      joining: {send: [JOIN, HURRY], then: waiting}
      waiting: {receive: {START: {send: DONE, then: left}, LEFT: waiting}}
      left: {within: never}
"""

DROPPED = """
protocol: dropped
wire: {framing: json}
connects: {client: server}
messages:
  client: {JOIN: join, QUIT: quit}
  server: {LEFT: left, OVER: over}
roles:
  server:
    main:
      room: {accept: enters(peer), as: players, seats: 2, within: never, then: talk}
      talk:
        await: players
        within: 1 min
        receive: {QUIT: {drop: peer, then: stay}}
        closed: [{if: peer == null, return: null}, {send: {players: LEFT}, then: last}]
        fault: {return: null}
      last: {await: players, within: 1 min, receive: {QUIT: {drop: peer, then: stay}}, fault: {return: null}}
    enters(peer):
      named: {await: peer, within: 1 min, receive: {JOIN: {return: {}}}}
  client:
    main:
      always: {within: never, closed: {return: null}}
      joining: {send: JOIN, then: deciding}
      deciding: {ask: quit, within: 1 min, receive: {LEFT: alone, QUIT: {send: QUIT, then: over}}, timeout: over}
      alone: {send: QUIT, then: over}
      over: {receive: {LEFT: over}}
"""


def _told(text: str, clients: tuple[int, ...] = (1, 2)) -> tuple[str, set[str]]:
    verdict = verdict_of(text, clients)
    return verdict.state, {finding.text for finding in verdict.findings}


def test_an_urgent_message_overtakes_what_is_kept() -> None:
    assert _told(URGENT)[0] == PROVED
    state, told = _told(URGENT.replace("leaving: {receive: {NEWS: leaving}}", "leaving: {within: never}"))
    assert state == REFUTED
    assert "client: NEWS is not expected in main.leaving" in told


def test_without_the_word_it_waits_in_line() -> None:
    text = URGENT.replace("urgent: [STOP]\n", "").replace(
        "leaving: {receive: {NEWS: leaving}}", "leaving: {within: never}"
    )

    assert _told(text) == (PROVED, set())


def test_who_left_its_seat_frees_it_whatever_it_had_sent() -> None:
    assert _told(LEAVES, (1, 2, 3))[0] == PROVED
    state, told = _told(
        LEAVES.replace(", LEFT: waiting}", "}").replace("left: {within: never}", "left: {receive: {LEFT: left}}")
    )
    assert state == REFUTED
    assert "client: LEFT is not expected in main.waiting" in told


def test_who_drops_a_peer_that_it_awaits_hears_so_once() -> None:
    verdict = verdict_of(DROPPED, (1, 2))

    assert not any("main.alone" in finding.text for finding in verdict.findings), verdict.findings


@pytest.mark.parametrize(("limit", "known"), [("within: 12 s", True), ("within: 1 h", False)])
def test_beats_are_counted_up_to_a_limit_and_else_soon_too_many(limit: str, known: bool) -> None:
    text = (SPECS / "little" / "beating.yaml").read_text(encoding="utf-8")
    assert "within: 12 s" in text

    verdict = verdict_of(text.replace("within: 12 s", limit), (1,), queue=4)

    assert (verdict.state == PROVED) is known
    assert known or verdict.beyond == ("more than 4 messages wait for shop (with 1)",)
    assert sum(verdict.states) < 1_000

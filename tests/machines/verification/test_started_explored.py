"""Machines that nobody waits for are explored beside what goes on: what they are lent, and who hears of their end."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

LOBBY = """
protocol: lobby
wire: {framing: lines}
connects: {guest: lobby}
messages:
  guest: {NAME: name, MOVE: move}
  lobby: {TURN: turn, OVER: over}
roles:
  lobby:
    main:
      begin: {let: {pair: []}, then: open}
      open:
        accept: sit(peer)
        as: guests
        within: 1 h
        seated:
          - {if: len(pair) == 0, let: {pair: '[peer]'}}
          - {start: 'table(pair + [peer])', let: {pair: []}}
        closed: {let: {pair: pair except peer}}
        ended: stay
        timeout: {return: null}
    sit(peer):
      named: {await: peer, within: 5 s, receive: {NAME: {return: {}}}}
    table(pair):
      turns: {each: guest in pair, run: turn(guest), then: over}
      over: {send: {pair: OVER}, drop: pair, return: null}
    turn(guest):
      asked: {send: TURN, await: guest, within: 5 s, receive: {MOVE: {return: null}}, fault: {return: null}}
  guest:
    main:
      always: {within: 2 h, closed: {return: null}}
      arrive: {send: NAME, then: playing}
      playing: {receive: {TURN: {send: MOVE, then: playing}, OVER: {return: null}}}
"""


def test_a_lobby_with_tables_beside_it_is_proved() -> None:
    verdict = verdict_of(LOBBY, (1, 2, 3))

    assert verdict.state == PROVED, verdict.lines()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (", OVER: {return: null}", "", "guest: OVER is not expected in main.playing"),
        ("MOVE: {return: null}", "NAME: {return: null}", "lobby: MOVE is not expected in turn.asked"),
    ],
)
def test_a_fault_of_a_started_machine_is_found(old: str, new: str, says: str) -> None:
    assert old in LOBBY

    verdict = verdict_of(LOBBY.replace(old, new), (1, 2))

    assert verdict.state == REFUTED
    assert any(says in finding.text for finding in verdict.findings), verdict.lines()


CLOCKS = """
protocol: clocks
wire: {framing: lines}
connects: {caller: desk}
messages:
  caller: {ASK: ask}
  desk: {DONE: done}
roles:
  desk:
    main(caller):
      ready:
        within: never
        receive: {ASK: {start: later(), then: stay}}
        ended: {send: DONE, then: stay}
        closed: {return: null}
    later(): {rest: {within: 1 min, timeout: {return: null}}}
  caller:
    main:
      always: {within: 5 min, receive: {DONE: stay}, closed: {return: null}}
      asking: {ask: more, within: 1 h, receive: {ASK: {send: ASK, then: waiting}}}
      waiting: {within: 5 s, timeout: asking}
"""


def test_who_starts_more_and_more_is_undetermined_unless_it_counts() -> None:
    counted = CLOCKS.replace("{start: later(), then: stay}", "[{if: running < 2, start: later(), then: stay}, stay]")

    verdict, bounded = verdict_of(CLOCKS, (1,), queue=8), verdict_of(counted, (1,), queue=8)

    assert any("machines that desk started run at once" in text for text in verdict.beyond), verdict.lines()
    assert not any("run at once" in text for text in bounded.beyond)
    assert bounded.findings == ()

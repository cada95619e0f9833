"""What a peer sends that nobody awaits: an ``always`` that lists it answers it at once, taken or not."""

from __future__ import annotations

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

HEARD = """
protocol: heard
wire: {framing: json}
connects: {player: server}
messages:
  player: {JOIN: [join], SAY: [say, $text string], GO: [go]}
  server: {YOURS: [yours], SPEAK: [speak], ODD: [odd], DONE: [done]}
roles:
  server:
    main:
      always:
        await: players
        within: 1 min
        receive:
          SAY: {if: len(text) > 5, then: stay}
        invalid: warned
        fault: over
      door: {accept: enter(peer), as: players, seats: 2, within: never, then: turn}
      turn:
        send: {"players[0]": YOURS, "players[1]": SPEAK}
        await: players[0]
        within: 1 min
        receive: {GO: over}
      warned: {send: {players: ODD}, then: over}
      over: {send: {players: DONE}, return: null}
    enter(peer):
      named: {await: peer, within: 1 min, receive: {JOIN: {return: {}}}}
  player:
    main:
      always: {within: never, closed: {return: null}}
      joining: {send: JOIN, then: waiting}
      waiting:
        receive:
          YOURS: {send: GO, then: going}
          SPEAK: {send: SAY('no'), then: going}
      going: {receive: {DONE: {return: null}}}
"""


def test_what_no_branch_takes_is_invalid_at_once() -> None:
    verdict = verdict_of(HEARD, (1, 2))

    assert verdict.state == REFUTED
    assert {finding.text for finding in verdict.findings if finding.code == "A501"} == {
        "player: ODD is not expected in main.going"
    }


def test_a_warning_that_all_expect_is_right() -> None:
    text = HEARD.replace("going: {receive: {", "going: {receive: {ODD: going, ")
    verdict = verdict_of(text, (1, 2))

    assert verdict.state == PROVED
    assert not [note for note in verdict.notes if "never takes this branch of invalid" in note]


WOKEN = """
protocol: woken
wire: {framing: json}
connects: {player: server}
messages:
  player: {JOIN: [join], GO: [go]}
  server: {DONE: [done]}
roles:
  server:
    main:
      door: {accept: enter(peer), as: players, seats: 1, within: never, then: last}
      last:
        await: players[0]
        within: 1 min
        receive: {GO: {drop: peer, then: stay}}
        invalid: {return: null}
        timeout: {return: null}
        when: {"gone(players[0])": {return: null}}
    enter(peer):
      named: {await: peer, within: 1 min, receive: {JOIN: {return: {}}}}
  player:
    main:
      joining: {send: [JOIN, GO], then: waiting}
      waiting: {within: never, receive: {DONE: {return: null}}, closed: {return: null}}
"""


def test_who_is_dropped_wakes_a_condition_before_the_loss_is_told() -> None:
    verdict = verdict_of(WOKEN, (1,))

    assert not [finding for finding in verdict.findings if "closed" in finding.text]

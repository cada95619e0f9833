"""Machines side by side that send to or drop peers of others are not said to be explored."""

from __future__ import annotations

import pytest

from machines.loader import load
from machines.verification.verdict import PROVED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

EXAM = """
protocol: exam
wire: {framing: lines}
connects: {pupil: school}
messages:
  pupil: {HERE: here, ANSWER: answer}
  school: {ASK: ask, CALM: calm, OVER: over}
roles:
  school:
    main:
      door: {accept: enter(peer), as: pupils, seats: 2, within: 1 min, timeout: {return: null}, then: asking}
      asking:
        let: {all_here: pupils}
        each: pupil in pupils
        parallel: 2
        run: asked(pupil, all_here)
        then: over
      over: {send: {pupils: OVER}, return: null}
    enter(peer):
      named: {await: peer, within: 5 s, receive: {HERE: {return: {}}}}
    asked(pupil, others):
      begin: {run: "deeper(pupil, others)", then: {return: null}}
    deeper(one, rest):
      asked: {send: {one: ASK}, await: one, within: 5 s, receive: {ANSWER: done}, fault: gone}
      done: {send: {one: CALM}, return: null}
      gone: {drop: one, return: null}
  pupil:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HERE, then: waiting}
      waiting: {receive: {ASK: {send: ANSWER, then: waiting}, CALM: waiting, OVER: {return: null}}}
"""


def test_who_speaks_to_its_own_peer_only_is_explored() -> None:
    assert verdict_of(EXAM, (1, 2)).state == PROVED


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("{one: CALM}", "{rest: CALM}", "school: deeper, which runs side by side, sends to peers of others in line 25"),
        ("drop: one", "drop: 'rest[0]'", "school: deeper, which runs side by side, drops peers of others in line 26"),
    ],
)
def test_who_speaks_to_peers_of_others_is_not(right: str, wrong: str, told: str) -> None:
    assert EXAM.count(right) == 1
    verdict = verdict_of(EXAM.replace(right, wrong), (1, 2))

    assert verdict.state == UNDETERMINED
    assert told in verdict.beyond


@pytest.mark.parametrize("name", ["trains", "santorini-official", "santorini-rulecheck"])
def test_shipped_specs_speak_to_their_own_only(name: str) -> None:
    assert not [text for text in verdict_of(load(name), (1,)).beyond if "side by side" in text]

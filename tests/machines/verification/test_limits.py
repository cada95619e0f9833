"""A limit that a role uses up by itself is no fault of a player: the two roles do not fit."""

from __future__ import annotations

import pytest

from machines.parser.loader import load_text
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verdict import PROVED, REFUTED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

KNOCKS = """
protocol: knocks
connects: {guest: porter}
messages:
  guest: {KNOCK: knock, LEAVE: leave}
  porter: {WHO: who}
settings: {patience: 2}
roles:
  porter:
    main(guest):
      at_door:
        within: 1 min
        receive:
          KNOCK: {limit: patience, send: WHO, then: stay}
          LEAVE: {return: null}
        invalid: {drop: guest, return: null}
        fault: {return: null}
  guest:
    main:
      always: {within: 1 min, closed: {return: null}}
      first: {send: KNOCK, receive: {WHO: second}}
      second: {send: KNOCK, receive: {WHO: third}}
      third: {send: KNOCK, receive: {WHO: over}}
      over: {send: LEAVE, return: null}
"""
THIRD = "third: {send: KNOCK, receive: {WHO: over}}"
ASKED = """third: {ask: more, ANSWERS, receive: {KNOCK: {send: KNOCK, then: told}}}
      told: {receive: {WHO: over}}"""


def test_who_sends_more_by_its_role_than_the_other_side_takes_is_told_of() -> None:
    verdict = verdict_of(KNOCKS, (1, 2))

    assert verdict.state == REFUTED
    (finding,) = verdict.findings
    assert (finding.code, finding.text) == (
        "A501",
        "porter: KNOCK comes once more than its limit in main.at_door allows",
    )
    assert "as many as" in finding.hint
    assert [step.does for step in finding.trace][-1] == "reads KNOCK of guest, once too often"
    spec = load_text(KNOCKS)
    (real,) = confirmed(verdict, spec, {}, lambda *_: None).findings
    assert real.confirmed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("patience: 2", "patience: 3"),
        ("limit: patience, send: WHO, then: stay", "limit: patience, send: WHO, then: at_door"),  # counts anew
    ],
)
def test_who_keeps_within_the_limit_is_not(old: str, new: str) -> None:
    assert old in KNOCKS
    assert verdict_of(KNOCKS.replace(old, new), (1, 2)).state == PROVED


def test_a_branch_behind_the_limit_takes_what_it_does_not() -> None:
    branches = "KNOCK:\n            - {limit: patience, send: WHO, then: stay}\n            - {send: WHO, then: stay}"
    assert (
        verdict_of(KNOCKS.replace("KNOCK: {limit: patience, send: WHO, then: stay}", branches), (1, 2)).state == PROVED
    )


@pytest.mark.parametrize(
    ("answers", "state"),
    [("within: 10 s", REFUTED), ("within: never", PROVED)],
    ids=["a player that has to say it", "a player that may keep silent"],
)
def test_a_player_that_is_free_to_say_less_has_itself_to_blame(answers: str, state: str) -> None:
    assert THIRD in KNOCKS
    assert verdict_of(KNOCKS.replace(THIRD, ASKED.replace("ANSWERS", answers)), (1, 2)).state == state


RINGS = """
protocol: rings
connects: {guest: porter}
messages:
  guest: {HI: hi, OH: oh}
  porter: {RING: ring}
settings: {rings: 2}
roles:
  porter:
    main(guest):
      waiting:
        within: 5 s
        receive:
          HI: {limit: rings, then: stay}
          OH: {return: null}
        timeout:
          - {limit: rings, send: RING, then: again}
          - {drop: guest, return: null}
        fault: {return: null}
  guest:
    main:
      always: {within: 1 min, closed: {return: null}}
      idle: {ask: hi, within: never, receive: {HI: {send: HI, then: idle}, OH: {send: OH, return: null}, RING: idle}}
"""


def test_a_clock_rings_as_often_as_its_limit_lets_it() -> None:
    found = verdict_of(RINGS, (1,), queue=3)

    assert (found.state, found.findings) == (PROVED, ())  # no more than two rings wait for a guest that reads nothing
    assert verdict_of(RINGS.replace("rings: 2", "rings: 4"), (1,), queue=3).beyond != ()


def test_what_shares_a_limit_with_a_clock_is_counted_with_it() -> None:
    alone = RINGS.replace("timeout:\n          - {limit: rings", "timeout:\n          - {limit: 2")
    numbers = [sum(verdict_of(text, (1,), queue=3).states) for text in (RINGS, alone)]

    assert numbers[0] != numbers[1]


@pytest.mark.parametrize("limit", ["13", "5 per 1 s"])
def test_whether_a_limit_that_is_not_counted_is_used_up_is_not_known(limit: str) -> None:
    verdict = verdict_of(KNOCKS.replace("patience: 2", f"patience: {limit}"), (1, 2))

    assert verdict.state == UNDETERMINED
    (text,) = verdict.beyond
    assert "is not counted: KNOCK" in text

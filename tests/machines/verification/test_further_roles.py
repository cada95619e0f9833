"""Roles that connect besides the first one: of each there are one and two."""

from __future__ import annotations

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

GALLERY = """
protocol: gallery
wire: {framing: lines}
connects: {painter: hall, critic: hall}
messages:
  painter: {HANG: hang}
  critic: {ENTER: enter}
  hall: {WELCOME: welcome, FULL: full, HUNG: hung}
roles:
  hall:
    main:
      live: {critics: 0}
      door: {accept: enter(peer), as: all, within: 1 h, timeout: {return: null}}
    enter(peer):
      named:
        await: peer
        within: 1 min
        receive:
          HANG: {send: HUNG, return: {}}
          ENTER:
            - {if: critics == 0, let: {critics: critics + 1}, send: WELCOME, return: {}}
            - {send: FULL, return: {}}
  painter:
    main:
      always: {within: never, closed: {return: null}}
      begin: {send: HANG, then: ready}
      ready: {receive: {HUNG: hung}}
      hung: {within: never}
  critic:
    main:
      always: {within: never, closed: {return: null}}
      begin: {send: ENTER, then: ready}
      ready: {receive: {WELCOME: inside}}
      inside: {within: never}
"""


def test_a_second_client_of_a_further_role_is_looked_at() -> None:
    verdict = verdict_of(GALLERY, (1, 2))

    assert verdict.state == REFUTED
    assert [finding.text for finding in verdict.findings] == ["critic: FULL is not expected in main.ready"]
    assert {step.who for step in verdict.findings[0].trace} == {"hall", "critic 1", "critic 2"}


def test_it_is_proved_with_two_of_them_where_all_fits() -> None:
    verdict = verdict_of(GALLERY.replace("{WELCOME: inside}", "{WELCOME: inside, FULL: inside}"), (1, 2))

    assert verdict.state == PROVED
    assert not [note for note in verdict.notes if "never takes" in note]
    assert len(verdict.states) == 2
    assert "numbers of clients: 1 (and 2 with at most 2 of painter) of critic" in verdict.rests_on

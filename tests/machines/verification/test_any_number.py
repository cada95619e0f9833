"""A session for each connection and nothing shared: what is proved of one client is proved of any number."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, UNDETERMINED
from tests.machines.verification.bench import changed, searched, verdict_of

OWN = "any number of clients: each connection has a session of its own, and no two clients share anything"
# Each client has a session of its own at the desk, but all of them ring one bell.
BELL = """
protocol: bell
connects: {guest: [desk, bell]}
messages:
  guest: {KNOCK: knock, RING: ring}
  desk: {COME: come}
  bell: {DING: ding}
roles:
  desk:
    main(guest): {begin: {within: 5 s, receive: {KNOCK: {send: COME, return: null}}, fault: {return: null}}}
  bell:
    main:
      door: {accept: enter(peer), as: all, within: 1 h, timeout: {return: null}}
    enter(peer):
      begin: {await: peer, within: 5 s, receive: {RING: {send: DING, return: {}}}}
  guest:
    main:
      always: {within: 1 min, fault: {return: null}}
      begin: {send: {desk: KNOCK}, then: come}
      come: {await: desk, receive: {COME: {send: {bell: RING}, then: ring}}}
      ring: {await: bell, receive: {DING: {return: null}}}
"""


@pytest.mark.parametrize("name", ["ping-pong", "relay", "sliding-window", "smtp"])
def test_each_client_by_itself_stands_for_all(name: str) -> None:
    verdict = verdict_of(name if name == "smtp" else changed(name))

    assert verdict.state == PROVED
    assert verdict.summary()[0].startswith("proved for any number of clients and at most")
    assert OWN in verdict.rests_on
    assert not [line for line in verdict.rests_on if line.startswith("numbers of clients")]


@pytest.mark.parametrize("name", ["rock-paper-scissors", "keys", "sticks"])
def test_who_shares_a_session_was_tried_in_numbers(name: str) -> None:
    verdict = verdict_of(changed(name))

    assert verdict.state == PROVED
    assert verdict.summary()[0].startswith("proved with 1, 2 and 3 clients")
    assert OWN not in verdict.rests_on


def test_one_role_that_is_shared_is_enough() -> None:
    assert not verdict_of(BELL, (1, 2)).any_number


def test_what_is_not_proved_is_told_of_the_numbers_that_were_tried() -> None:
    verdict = searched(changed("ping-pong"), most=3)

    assert verdict.state == UNDETERMINED
    assert verdict.summary()[0].startswith("undetermined with 1, 2 and 3 clients")

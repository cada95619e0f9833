"""What comes behind a sign-up that takes more clients than were tried is not known: it is never called proved."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, REFUTED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

CHOIR = """
protocol: choir
connects: {singer: stage}
messages:
  singer: {HERE: here, SUNG: sung}
  stage: {SING: sing, BOO: boo, DONE: done}
roles:
  stage:
    main:
      gathering: {accept: sign_up(peer), as: singers, seats: SEATS, within: 1 min, timeout: {return: null}, then: solos}
      solos: {each: singer in singers, run: solo(singer), then: applause}
      applause: {send: {singers: LAST}, return: null}
    sign_up(peer):
      named: {await: peer, within: 5 s, receive: {HERE: {return: {}}}}
    solo(singer):
      asked: {send: SING, await: singer, within: 5 s, receive: {SUNG: {return: null}}, fault: {return: null}}
  singer:
    main:
      always: {within: 10 min}
      begin: {send: HERE, then: waiting}
      waiting: {receive: {SING: {send: SUNG, then: heard}}}
      heard: {receive: {DONE: {return: null}}}
"""


def choir(seats: str, last: str = "[BOO, DONE]") -> str:
    return CHOIR.replace("SEATS", seats).replace("LAST", last)


@pytest.mark.parametrize(("seats", "clients", "advice"), [
    ("4", 3, "try --clients 4"),
    ("3..9", 2, "try --clients 3"),
    ("9", 3, "it takes more than can be tried"),
])  # fmt: skip
def test_a_fault_behind_a_sign_up_that_is_never_full_is_not_called_proved(
    seats: str, clients: int, advice: str
) -> None:
    verdict = verdict_of(choir(seats), range(1, clients + 1))

    assert verdict.state == UNDETERMINED
    told = f"no run gets past main.gathering of stage with at most {clients} clients: {advice}"
    assert verdict.beyond == (told,)


def test_with_enough_clients_the_fault_is_found() -> None:
    assert verdict_of(choir("4"), (1, 2, 3, 4)).state == REFUTED
    assert verdict_of(choir("4", "DONE"), (1, 2, 3, 4)).state == PROVED


def test_a_shipped_game_for_three_is_not_proved_with_two() -> None:
    assert any("main.start_up" in text for text in verdict_of("tsuro", (1, 2)).beyond)


def test_a_second_sign_up_that_leads_on_to_the_same_is_enough() -> None:
    second = """then: solos}
      smaller: {accept: sign_up(peer), as: singers, seats: 2..5, within: 1 min, timeout: {return: null}, then: solos}
"""
    text = choir("5", "DONE").replace("timeout: {return: null}, then: solos}\n", f"timeout: smaller, {second}", 1)

    assert verdict_of(text, (1, 2, 3)).state == PROVED

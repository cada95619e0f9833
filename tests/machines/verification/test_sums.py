"""A sum of what peers send is not taken to fit a field of fewer numbers."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

TILL = """
protocol: till
connects: {payer: till}
messages:
  payer: {HERE: here, PAY: {pay: $coins int 0..9}}
  till: {ASK: ask, SUM: {sum: $bank RANGE}}
roles:
  till:
    main:
      door: {accept: enter(peer), as: payers, seats: 2, within: 1 min, timeout: {return: null}, then: begin}
      begin: {let: {bank: 0}, then: paid}
      paid: {each: one in payers, fold: bank, run: turn(one), then: told}
      told: {send: {payers: SUM(bank)}, return: bank}
    enter(peer): {named: {within: 5 s, receive: {HERE: {return: {}}}}}
    turn(one, so_far):
      asked: {send: ASK, within: 1 min, receive: {PAY: BRANCH}, fault: {return: so_far}}
  payer:
    main:
      always: {within: 10 min, closed: {return: null}}
      begin: {send: HERE, then: waiting}
      waiting: {receive: {ASK: paying, SUM: {return: bank}}}
      paying: {ask: pay, within: 50 s, receive: {SUM: {return: bank}}, say: {PAY: waiting}, timeout: {return: null}}
"""
ADDED = "{return: so_far + coins}"


@pytest.mark.parametrize(
    ("kept_to", "branch", "state"),
    [
        ("int 0..15", ADDED, UNDETERMINED),
        ("int", ADDED, PROVED),
        ("int 0..15", "{if: so_far + coins <= 15, return: so_far + coins}", PROVED),
        ("int 0..15", "{return: min([so_far + coins, 15])}", PROVED),
        ("int 0..15", "{return: coins}", PROVED),
    ],
)
def test_a_sum_that_nothing_bounds_may_be_more_than_a_field_takes(kept_to: str, branch: str, state: str) -> None:
    verdict = verdict_of(TILL.replace("RANGE", kept_to).replace("BRANCH", branch), (1, 2))

    assert verdict.state == state, verdict
    bounds = [text for text in verdict.beyond if "no run gets past" not in text]
    assert bounds == (
        ["till: whether bank, a sum of what peers send, fits bank of SUM"] if state == UNDETERMINED else []
    )

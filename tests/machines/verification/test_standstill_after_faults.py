"""A standstill is one too if something went wrong before it, unless a limit ends it."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

SILENT = """
protocol: silent
connects: {client: server}
messages:
  client: {BID: $price int}
  server: {TAKEN: taken}
roles:
  server:
    main(client):
      open:
        within: never
        receive:
          BID: {if: price > 0, send: TAKEN, return: price}
        invalid: stay
        closed: {return: null}
  client:
    main:
      choosing: {ask: bid, within: never, receive: {BID: {send: BID, then: waiting}}}
      waiting: {within: never, receive: {TAKEN: {return: null}}, closed: {return: null}}
"""


def test_who_is_not_told_of_an_illegal_move_waits_for_ever() -> None:
    verdict = verdict_of(SILENT, (1, 2))

    assert verdict.state == REFUTED
    (finding,) = verdict.findings
    assert (finding.code, finding.text) == (
        "A500",
        "nothing can happen any more: client in main.waiting, server in main.open",
    )
    assert finding.trace[-1].does == "reads BID of client, which is not legal"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("open:\n        within: never", "open:\n        within: 1 min\n        timeout: {return: null}"),
        ("waiting: {within: never", "waiting: {within: 1 min, timeout: {return: null}"),
        ("waiting: {within: never", "waiting: {within: 1 min"),  # the client fails then: that ends it as well
        ("invalid: stay", "invalid: {send: TAKEN, return: null}"),
    ],
)
def test_a_limit_on_either_side_or_an_answer_ends_it(old: str, new: str) -> None:
    assert old in SILENT
    assert verdict_of(SILENT.replace(old, new), (1, 2)).state == PROVED

"""A client with several connections: one connects to two others, and one of these to the other."""

from __future__ import annotations

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

FERRY = """
protocol: ferry
wire: {framing: lines}
connects: {guest: [harbour, porter], porter: harbour}
messages:
  guest: {BOARD: board, PAID: paid}
  porter: {LOAD: load, READY: ready}
  harbour: {PRICE: price, BERTH: berth}
roles:
  harbour:
    main:
      live: {rider: null, carrier: null}
      door: {accept: enter(peer), as: both, seats: 2, within: 1 min, timeout: {return: null}, then: sorted}
      sorted:
        - {if: rider == null or carrier == null, return: null}
        - leaving
      leaving: {send: {carrier: BERTH, rider: PRICE}, await: rider, within: 1 min,
                receive: {PAID: {return: null}}, fault: {return: null}}
    enter(peer):
      named:
        await: peer
        within: 1 min
        receive:
          BOARD: {let: {rider: peer}, return: {}}
          LOAD: {let: {carrier: peer}, return: {}}
  porter:
    main(guest):
      always: {within: 1 min, fault: {return: null}}
      begin: {send: {harbour: LOAD}, then: waiting}
      waiting: {await: harbour, receive: {BERTH: {send: {guest: READY}, return: null}}}
  guest:
    main:
      always: {within: 1 min, fault: {return: null}}
      begin: {send: {harbour: BOARD}, then: priced}
      priced: {await: harbour, receive: {PRICE: carried}}
      carried: {await: porter, receive: {READY: {send: {harbour: PAID}, return: null}}}
"""


def test_every_connection_of_a_client_is_admitted() -> None:
    verdict = verdict_of(FERRY, (1,))

    assert verdict.state == PROVED
    assert not [note for note in verdict.notes if "never takes" in note]  # both were there, and it went on to its end


def test_what_needs_both_connections_is_found() -> None:
    verdict = verdict_of(FERRY.replace("rider: PRICE}, await", "rider: [BERTH, PRICE]}, await"), (1,))

    assert verdict.state == REFUTED
    assert "guest: BERTH is not expected in main.priced" in [finding.text for finding in verdict.findings]
    connects = [step for step in verdict.findings[0].trace if step.kind == "connects" and step.who == "harbour"]
    assert [step.peer for step in connects] == ["porter of guest", "guest"]

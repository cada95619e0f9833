"""Lists that grow, loops over lists that are not known and values that are nested make no search run on."""

from __future__ import annotations

import pytest

from machines.verification.abstract.domain import ELEMENTS_MAX, Fields, PeerRef, Unknown, bounded, widened
from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

STATES_MAX = 3_000  # of all that is tried here

# Who bids is asked side by side; what they offer makes a list, and a loop over it puts together what it can not know.
BIDS = """
protocol: bids
wire: {framing: lines}
connects: {bidder: host}
messages:
  bidder: {HERE: here, BID: {bid: $amount int}}
  host: {ASK: ask, SOLD: sold, GONE: gone}
roles:
  host:
    main:
      door: {accept: enter(peer), as: bidders, seats: 2..3, within: 30 s, timeout: {return: null}, then: begin}
      begin: {let: {best: [], offers: []}, then: asking}
      asking:
        each: bidder in bidders
        parallel: 6
        run: sealed(bidder)
        as: {offers: "offers + [result]"}
        then: between
      between:
        each: offer in offers
        if: offer != null
        let: {best: "[best, offer.amount]"}
        then: sold
      sold: {send: {bidders: LAST}, return: best}
    enter(peer):
      named: {await: peer, within: 5 s, receive: {HERE: {return: {}}}}
    sealed(bidder):
      asked:
        send: ASK
        await: bidder
        within: 20 s
        receive: {BID: {return: {amount: amount}}}
        fault: {drop: bidder, return: null}
  bidder:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HERE, then: listening}
      listening: {receive: {ASK: bidding, SOLD: {return: null}}}
      bidding: {ask: bid, within: 15 s, receive: {BID: {send: BID, then: listening}, GONE: {return: null}}}
"""
# A list is put into itself, again and again, and compared with another.
NESTED = """
protocol: nested
connects: {client: server}
messages:
  client: {GO: go}
  server: {SAME: same, OTHER: other}
roles:
  server:
    main(client):
      begin: {let: {one: START, two: "[1, 3]", n: 0}, then: deeper}
      deeper:
        - {if: n < 5000, let: {one: GROWN, two: "[two, two]", n: n + 1}, then: deeper}
        - ready
      ready:
        within: 10 s
        receive:
          GO:
            - {if: one == two, send: SAME, return: null}
            - {send: OTHER, return: null}
        fault: {return: null}
  client:
    main:
      always: {within: 10 s, fault: {return: null}}
      begin: {send: GO, then: told}
      told: {receive: {SAME: {return: null}, OTHER: {return: null}}}
"""
# Each turn is written down, without end.
TURNS = """
protocol: turns
connects: {player: board}
messages:
  player: {HERE: here, MOVE: move, STOP: stop}
  board: {TURN: turn}
roles:
  board:
    main:
      door: {accept: enter(peer), as: players, seats: 2, within: 30 s, timeout: {return: null}, then: begin}
      begin: {let: {log: []}, then: rounds}
      rounds: {each: player in players, run: turn(player), as: {log: "log + [player]"}, then: more}
      more: {then: rounds}
    enter(peer):
      named: {await: peer, within: 5 s, receive: {HERE: {return: {}}}}
    turn(player):
      asked:
        send: TURN
        await: player
        within: 20 s
        receive: {MOVE: {return: player}}
        fault: {drop: player, return: player}
  player:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HERE, then: waiting}
      waiting: {receive: {TURN: {send: MOVE, then: waiting}}}
"""


@pytest.mark.parametrize(("last", "state"), [("SOLD", PROVED), ("GONE", REFUTED)])
def test_a_loop_over_a_list_that_is_not_known_is_gone_through_once(last: str, state: str) -> None:
    verdict = verdict_of(BIDS.replace("LAST", last), (1, 2, 3))

    assert verdict.state == state
    assert sum(verdict.states) < STATES_MAX


@pytest.mark.parametrize("grown", ["[one, one]", "[[one], two]", "{a: one, b: one}"])
@pytest.mark.parametrize("start", ["[1, 2]", "'text'"])
def test_what_is_nested_in_itself_is_soon_some_value(start: str, grown: str) -> None:
    text = NESTED.replace("START", f'"{start}"').replace("GROWN", f'"{grown}"' if grown[0] == "[" else grown)
    verdict = verdict_of(text, (1,))

    assert verdict.state == PROVED
    assert not [note for note in verdict.notes if "never takes" in note]  # it may be the same, and may be another
    assert sum(verdict.states) < STATES_MAX


def test_a_list_of_peers_that_grows_without_end_is_soon_some_list() -> None:
    text = TURNS.replace("more: {then: rounds}", "more: [{if: len(log) < 100, then: rounds}, {return: log}]")
    text = text.replace(", STOP: stop", "")

    assert sum(verdict_of(text, (1, 2)).states) < STATES_MAX


def test_a_value_keeps_its_peers_when_it_is_no_longer_tracked() -> None:
    ann, bob = PeerRef(0), PeerRef(1)
    large = Fields((("all", (1,) * ELEMENTS_MAX), ("who", (ann, bob))))

    found = bounded(large)

    assert type(found) is Unknown
    assert found.peers == (0, 1)
    assert bounded((ann, bob)) == widened((ann, bob)) == (ann, bob)
    assert type(widened((ann,) * 5)) is Unknown

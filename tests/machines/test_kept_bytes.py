"""What peers make a session keep is bounded: who made it grow is refused, and says so; whoever sends little is not."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from machines.effects import Drop, Effect, Violation
from machines.engine.keeping import EVENT_BYTES, SMALL_BYTES, size_of
from machines.engine.session import Program, Session
from machines.expressions import builtins
from machines.values import Peer, Record
from tests.support.session_harness import spec_of
from tests.support.tiny import shows

MOST = 1 << 16

STORE = f"""
protocol: store
wire: {{framing: lines, kept_bytes_max: {MOST}}}
connects: {{client: server}}
messages:
  client: {{PUT: {{put: $key string, value: $value any}}, CUT: {{cut: $key string}}, TWICE: twice, LOOK: look}}
  server: {{OK: {{ok: $count int}}, NO: {{no: $why string}}}}
roles:
  server:
    main:
      begin: {{let: {{store: {{}}, text: "'0123456789'"}}, then: serving}}
      serving:
        accept: admit(peer)
        as: clients
        await: clients
        within: never
        receive:
          PUT: {{let: {{store: "put(store, key, value)"}}, send: OK(len(store)), then: stay}}
          CUT: {{let: {{store: "store except [key]"}}, send: OK(len(store)), then: stay}}
          TWICE: {{let: {{text: "text + text"}}, send: OK(len(text)), then: stay}}
          LOOK: {{send: OK(len(store)), then: stay}}
        invalid:
          - {{if: reason == 'limit', send: NO(reason), then: stay}}
          - {{drop: peer, then: stay}}
    admit(peer):
      at_once: {{return: null}}
  client:
    main:
      always: {{within: 1 min, closed: {{return: null}}}}
      only:
        ask: what
        receive:
          PUT: {{send: PUT, then: answered}}
          CUT: {{send: CUT, then: answered}}
          TWICE: {{send: TWICE, then: answered}}
          LOOK: {{send: LOOK, then: answered}}
      answered: {{receive: {{OK: only, NO: only}}}}
"""


class Run:
    """A server and its clients."""

    def __init__(self, clients: int, most: int) -> None:
        spec = spec_of(STORE.replace(str(MOST), str(most)))
        self.session = Session(Program(spec, "server", {}))
        self.session.start(0.0)
        for _ in range(clients):
            self.session.connect(0.0)

    def receive(self, seat: int, value: Any) -> list[Effect]:
        return self.session.receive(seat, json.dumps(value).encode() + b"\n", 0.0)


def served(clients: int = 1, most: int = MOST) -> Run:
    return Run(clients, most)


def kept(run: Run) -> int:
    """Return what the text and the store of the server are, in bytes."""
    assert run.session.root is not None
    return size_of(iter(run.session.root.slots[1:]))[0]


def put(run: Run, seat: int, key: str, value: Any) -> bool:
    """Put a value; return whether that was taken."""
    answer = run.receive(seat, {"put": key, "value": value})
    return answered(answer)


def fill(run: Run, value: Any) -> int:
    """Put values until one is refused; return how many were taken."""
    return next(count for count in range(10_000) if not put(run, 0, f"key{count}", value))


def answered(effects: list[Any]) -> bool:
    assert not any(isinstance(effect, Drop) for effect in effects), effects
    refused = [effect for effect in effects if isinstance(effect, Violation)]
    for violation in refused:
        assert violation.kind == "limit"
        assert violation.why.endswith("bytes (kept_bytes_max)")
    return not refused


@shows("wire.kept_bytes_max")
@pytest.mark.parametrize(
    "value",
    ["x" * 4000, "\N{GREEK SMALL LETTER ALPHA}" * 4000, [1] * 2000, [[]] * 1500, {f"k{n}": 1 for n in range(500)}],
    ids=["text", "wide text", "numbers", "lists", "mapping"],
)
def test_a_peer_that_makes_the_session_grow_is_refused_by_name_of_the_limit(value: Any) -> None:
    run = served()

    taken = [put(run, 0, f"key{number}", value) for number in range(200)]

    assert taken[0]
    assert not taken[-1]
    assert kept(run) < 2.5 * MOST


def test_small_growth_ends_at_twice_the_limit_at_the_latest() -> None:
    run = served()

    taken = [put(run, 0, f"key{number}", "x" * 900) for number in range(400)]

    assert not taken[-1]
    assert kept(run) < 2.2 * MOST


def test_growth_by_work_alone_is_seen_too() -> None:
    run = served()

    taken = [answered(run.receive(0, "twice")) for _ in range(30)]

    assert not taken[-1]
    assert kept(run) < 4 * MOST


def test_who_sends_little_is_served_while_another_has_filled_the_session() -> None:
    run = served(clients=3)
    fill(run, "x" * 5000)

    assert not put(run, 0, "more", "x" * 5000)
    for number in range(20):
        assert put(run, 1, f"mine{number}", "x" * 20)
        assert answered(run.receive(2, "look"))
    assert put(run, 1, "large", "x" * 2 * SMALL_BYTES), "it has sent less than the average"


def test_there_is_room_again_for_whoever_makes_some() -> None:
    run = served()
    count = fill(run, "x" * 5000)

    for number in range(count - 1):
        assert answered(run.receive(0, {"cut": f"key{number}"}))
    again = [put(run, 0, f"new{number}", "x" * 5000) for number in range(6)]

    assert again[-1], "measured again, at the latest after a sixteenth of the limit"


def test_whoever_has_a_message_refused_for_it_still_has_the_names_as_they_were() -> None:
    run = served()
    fill(run, "x" * 5000)
    before = kept(run)

    put(run, 0, "key0", "y" * 5000)

    assert kept(run) == before


def test_what_the_measure_costs_is_bounded_however_many_little_values_are_kept() -> None:
    run = served(most=1 << 24)
    fill(run, [0] * 100_000)
    began = time.thread_time()
    sent = 0
    for number in range(2000):
        sent += put(run, 0, f"key{number}", "x" * (2 * SMALL_BYTES))

    assert not sent
    assert time.thread_time() - began < 4.0, "2 ms a message: each does not walk through half a million values"


def test_what_stands_in_several_places_counts_once_and_every_kind_of_value_counts() -> None:
    long = tuple(range(1000))

    once, _ = size_of(iter([long]))
    twice, _ = size_of(iter([(long, long, Record({"a": long}), Peer(1, Record({"b": long})))]))

    assert once > 1000 * 8
    assert once < twice < once + 1000
    assert size_of(iter(["a" * 100]))[0] > 100
    assert size_of(iter(["\N{SNOWMAN}" * 100]))[0] > 200
    assert EVENT_BYTES > 0


def test_a_store_that_grows_by_scalars_is_measured_without_being_walked_through() -> None:
    store: Any = Record({"a": 1})
    for count in range(3000):
        store = builtins.put(store, f"key{count % 2000}", (None, True, "text", count)[count % 4])
        if count == 1000:
            size_of(iter([store]))

    assert size_of(iter([store])) == (size_of(iter([Record(dict(store))]))[0], 1)


def test_peers_in_a_store_count_once_however_it_grew() -> None:
    peer = Peer(1, Record({"name": "x" * 1000}))
    store = builtins.put(builtins.put(builtins.put(Record(), "a", 1), "b", peer), "c", peer)

    assert size_of(iter([store])) == size_of(iter([Record(dict(store))]))

"""What a stranger may send, or write into a spec, costs bounded work."""

from __future__ import annotations

import time

import pytest

from machines.values import freeze
from tests.support.session_harness import Run

DOOR = """
protocol: door
title: whoever says anything is asked in
wire: {framing: lines}
connects: {client: server}
settings: {waiting: 5 s}
messages:
  client:
    HELLO: [hello, $who any]
  server:
    TICK: tick
roles:
  server:
    main:
      door: {accept: hello(peer), as: guests, seats: 2, within: waiting, timeout: {return: null}, then: on}
      on:
        await: guests
        within: waiting
        every:
          0.0001: {send: {guests: TICK}, then: stay}
        receive: {HELLO: stay}
        fault: {return: guests}
    hello(peer):
      named: {await: peer, within: waiting, receive: {HELLO: {return: who}}}
  client:
    main:
      hello: {send: HELLO(my), then: on}
      on: {within: never, receive: {TICK: stay}, closed: {return: null}}
"""


def test_a_value_that_stands_in_many_places_is_frozen_once() -> None:
    value: object = (1, 2)
    for _ in range(60):
        value = (value, value)

    assert freeze(value) is value


def test_a_sign_up_that_returns_no_mapping_costs_nobody_else_a_seat() -> None:
    server = Run(DOOR.replace("          0.0001:", "          10 s:"))
    bad, one, two = server.join(), server.join(), server.join()

    server.say(bad, ["hello", 3])
    server.say(one, ["hello", {"name": "ann"}])
    server.say(two, ["hello", {"name": "bob"}])

    assert bad in server.dropped
    assert server.ended is None
    assert "in on" in server.state()


def test_a_clock_that_rings_all_the_time_fails_the_machine() -> None:
    server = Run(DOOR)
    one, two = server.join(), server.join()
    server.say(one, ["hello", {"name": "ann"}])
    server.say(two, ["hello", {"name": "bob"}])

    assert server.ended is not None
    assert "0.001 s at the least" in str(server.ended.failed)


@pytest.mark.xdist_group("time")
@pytest.mark.parametrize("blank", [b"\n", b"\r\n"])
def test_blank_lines_are_skipped_in_one_step(blank: bytes) -> None:
    server = Run(DOOR)
    guest = server.join()

    began = time.thread_time()
    for _ in range(20):
        server.write(guest, blank * 65_536)
    spent = time.thread_time() - began

    assert spent < 2.0
    server.say(guest, ["hello", {"name": "ann"}])
    assert "it is seated" in server.notes

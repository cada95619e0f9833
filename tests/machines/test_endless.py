"""A machine that would never come to rest fails, whatever keeps it going: nothing a spec says hangs the server."""

from __future__ import annotations

import pytest

from tests.support.session_harness import Run

TALK = """
protocol: talk
title: one asks another
wire: {framing: lines}
connects: {client: server}
settings: {limit: 0 s, waiting: 5 s}
messages:
  client:
    HELLO: hello
    WORD: $word string
roles:
  server:
    main:
      door: {accept: hello(peer), as: guests, seats: 1, within: waiting, timeout: {return: null}, then: turns}
      turns: {each: guest in guests, run: turn(guest), as: said, then: turns}
    hello(peer):
      named: {await: peer, within: waiting, receive: {HELLO: {return: null}}}
    turn(guest):
      asked:
        await: guest
        within: WITHIN
        receive: {WORD: {return: word}}
        fault: {return: null}
  client:
    main:
      hello: {send: HELLO, then: on}
      on: {within: never, closed: {return: null}}
"""


def seated(text: str) -> tuple[Run, int]:
    server = Run(text)
    guest = server.join()
    server.say(guest, "hello")
    return server, guest


def test_a_wait_that_asks_the_gone_again_and_again_fails() -> None:
    server, guest = seated(TALK.replace("WITHIN", "waiting"))

    server.lose(guest)

    assert server.ended is not None
    assert "10000 steps" in str(server.ended.failed)


@pytest.mark.parametrize("limit", ["limit", "1 - 1"])
def test_a_limit_of_no_time_that_is_set_again_and_again_fails(limit: str) -> None:
    server, _ = seated(TALK.replace("WITHIN", limit))

    server.wait(0)

    assert server.ended is not None
    assert "10000 steps" in str(server.ended.failed)


def test_many_messages_of_one_write_are_no_such_thing() -> None:
    server, guest = seated(TALK.replace("WITHIN", "waiting"))

    server.write(guest, b'"word"\n' * 20_000)

    assert server.ended is None

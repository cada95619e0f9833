"""No message of our own is longer than what a peer of the same spec would take: it is not sent, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.messages.shapes import Mismatch
from machines.model import FrameBytes, FrameLine, Wire
from machines.problems import Place
from machines.wire.codec import Codec
from machines.wire.composite_framing import PartsFramer
from machines.wire.framing import FrameError, make_framer
from tests.support.session_harness import Run

HERE = Place("test.yaml", 1, 1)
PARTS = (FrameLine(("$", "size", ""), HERE), FrameBytes("size", HERE))
WIRES = {
    "json": Wire(framing="json", message_bytes_max=100),
    "lines": Wire(framing="lines", message_bytes_max=100),
    "lines, crlf": Wire(framing="lines", message_bytes_max=100, line_end="crlf"),
    "text": Wire(framing="text", message_bytes_max=100),
    "length": Wire(framing="length", message_bytes_max=100),
    "a frame": Wire(framing="text", message_bytes_max=100),
    "a line beside frames": Wire(framing="text", message_bytes_max=100),
}
FRAMED = ("a frame", "a line beside frames")


def taken(kind: str, framed: bytes) -> bool:
    """Say whether the reading side, with the same limit, takes a message."""
    wire = WIRES[kind]
    framer = PartsFramer(wire) if kind in FRAMED else make_framer(wire)
    framer.feed(framed)
    try:
        return (framer.next([PARTS]) if isinstance(framer, PartsFramer) else framer.next()) is not None
    except FrameError:
        return False


def written(pack: Callable[[Any], bytes], value: str) -> bytes | None:
    try:
        return pack(value)
    except Mismatch:
        return None


@pytest.mark.parametrize("kind", WIRES)
def test_what_iswritten_is_what_the_other_side_takes_and_nothing_longer(kind: str) -> None:
    codec = Codec(WIRES[kind], {"IT": PARTS} if kind in FRAMED else {})
    pack = codec.packs["IT"] if kind == "a frame" else codec.pack
    most = max(count for count in range(120) if written(pack, "x" * count) is not None)
    longest = written(pack, "x" * most)

    assert longest is not None
    assert taken(kind, longest)
    assert 80 < most <= 100
    with pytest.raises(Mismatch, match=r"a message of at most 100 bytes \(message_bytes_max\), got one of 1\d\d"):
        pack("x" * (most + 1))


GROWING = """protocol: growing
wire: {framing: lines, message_bytes_max: 100}
connects: {client: server}
messages:
  client: {HI: {hi: $name string}}
  server: {HELLO: {hello: $name string}}
roles:
  server:
    main:
      door: {accept: come(peer), as: guests, seats: 1, within: 1 min, timeout: {return: null}, then: named}
      named:
        await: guests
        within: 1 min
        receive: {HI: {send: HELLO(name + name), then: named}}
        fault: {return: null}
    come(peer):
      seated: {return: {}}
  client:
    main:
      come: {send: HI(my.name), then: heard}
      heard: {within: 1 min, receive: {HELLO: {return: name}}}
"""


def test_a_session_that_would_write_more_fails_in_one_sentence_and_sends_nothing() -> None:
    run = Run(GROWING, "server")
    peer = run.join()
    run.say(peer, {"hi": "x" * 20})
    assert run.heard(peer) == [{"hello": "x" * 40}]
    run.say(peer, {"hi": "x" * 60})

    assert run.heard(peer) == []
    assert run.ended is not None
    assert run.ended.failed is not None
    assert "expected a message of at most 100 bytes (message_bytes_max), got one of 132" in run.ended.failed

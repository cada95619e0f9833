"""What has come whole is cut at once, and just as it is cut when it comes in pieces: limits, faults and all."""

import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

from machines.effects import Pause, Resume
from machines.engine.mailbox import UNCUT_BYTES_MAX
from machines.model import CompositeFrame, Spec
from machines.parser.loader import load, shipped
from machines.wire.arrived_frames import opens_with_pattern
from machines.wire.codec import Codec, Malformed
from machines.wire.composite_framing import Cut, PartsFramer
from machines.wire.framing import FrameError
from tests.support.tiny import start

STREAMS = {
    "http": b"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: c\r\n\r\nPOST /n HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
    b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\n\r\n",
    "lsp": b'Content-Length: 2\r\n\r\n{}Content-Length: 9\r\nContent-Type: x\r\n\r\n{"id": 1}',
    "memcached": b"get a\r\nset k 0 0 3\r\na\nb\r\ncas k 0 0 1 7 noreply\r\nv\r\nincr k 1\r\ntouch k 0\r\n"
    b"flush_all\r\n",
    "mqtt": b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a\x30\x05\x00\x01abc\x32\x07\x00\x01a\x00\x01bc"
    b"\x82\x06\x00\x01\x00\x01a\x00\xc0\x00\xe0\x00",
    "redis": b"*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\nPING\r\n*0\r\n$1\r\nx\r\n",
    "smtp": b"EHLO a\r\nDATA\r\nSubject: a\r\n\r\n..b\r\n.\r\n.\r\nQUIT\r\n",
}
ALPHABET = [b"\r\n", b"\n", b"$", b"*", b"1", b"0", b"\xff", b"\0", b".", b" ", b":", b"\x81", b"a"]


def frames_of(spec: Spec) -> tuple[CompositeFrame, ...]:
    """Return the frames of a spec, once each; those that any bytes begin only if there are no others."""
    frames = tuple(dict.fromkeys(spec.frames.values()))
    return tuple(filter(opens_with_pattern, frames)) or frames[:1]


def test_every_shipped_spec_with_frames_has_a_stream_here() -> None:
    assert {name for name in shipped() if load(name).frames} == set(STREAMS)


def told(spec: Spec, frames: Sequence[CompositeFrame], stream: bytes, piece: int, lines: bool) -> list[Any]:
    """Return what is made of a stream in pieces of so many bytes, and how it ends."""
    framer, codec = PartsFramer(spec.wire), Codec(spec.wire, spec.frames)
    found: list[Any] = []
    try:
        for start in range(0, len(stream), piece):
            framer.feed(stream[start : start + piece])
            while (raw := framer.next(frames, lines=lines)) is not None:
                try:
                    found.append((codec.decode(raw), raw.frame if isinstance(raw, Cut) else None, len(raw)))
                except Malformed as error:
                    found.append((str(error), len(raw)))
    except FrameError as error:
        found.append(str(error))
    return found


def spoilt(stream: bytes, seed: int) -> bytes:
    """Return a stream with a few bytes left out, put in or changed."""
    chance = random.Random(seed)
    for _ in range(chance.choice((0, 1, 1, 2, 4))):
        at = chance.randrange(len(stream) + 1)
        stream = (
            stream[:at] + chance.choice(ALPHABET) * chance.choice((0, 1, 1, 3)) + stream[at + chance.randrange(3) :]
        )
    return stream


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_cut_at_once_as_it_is_cut_byte_by_byte(name: str) -> None:
    spec = load(name)
    frames = frames_of(spec)
    for seed in range(150):
        stream = spoilt(STREAMS[name] * 2, seed)
        chance = random.Random(seed)
        some = tuple(chance.sample(frames, chance.randrange(1, len(frames) + 1)))
        lines = chance.random() < 0.5

        whole = told(spec, some, stream, len(stream), lines)
        assert whole == told(spec, some, stream, 1, lines), (seed, stream)
        assert whole == told(spec, some, stream, chance.randrange(2, 40), lines), (seed, stream)


@pytest.mark.parametrize("name", STREAMS)
def test_what_has_come_whole_is_not_waited_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load(name)
    monkeypatch.setattr(PartsFramer, "_message", lambda *_: pytest.fail("the slow way"))
    stream = re.split(b"PUT|QUIT", STREAMS[name])[0]  # chunks are left to it, and what is not whole

    found = told(spec, frames_of(spec), stream, len(stream), True)

    assert sum(size for *_, size in found) > 0.6 * len(stream)
    assert any(frame is not None for _, frame, _ in found)


def test_a_frame_of_bytes_is_found_behind_empty_lines() -> None:
    mqtt = load("mqtt")
    frames = (mqtt.frames["PINGREQ"],)

    assert [value for value, *_ in told(mqtt, frames, b"a\n\r\n\n\xc0\x00", 9, True)] == ["a", []]


TABLE = """
wire: {framing: text}
messages: {client: {TICK: [], GO: go}}
frames: {TICK: [byte: 0xC0, byte: 0]}
roles:
  server:
    main:
      door: {accept: enter(peer), as: guests, seats: 2, within: 1 s, timeout: {return: null}, then: waiting}
      waiting: {await: guests[0], within: never, receive: {GO: hearing}, fault: {return: null}}
      hearing: {await: guests[1], within: never, receive: {TICK: stay, GO: {return: null}}, fault: {return: null}}
    enter(peer):
      asked: {within: 1 s, receive: {GO: {return: null}}, fault: {return: null, drop: peer}}
"""


def test_of_frames_that_nobody_hears_only_so_many_wait_as_may_be_cut_in_one_input() -> None:
    run = start(TABLE, "server")
    first, second = run.join(), run.join()
    run.write(first, b"go\n")
    run.write(second, b"go\n")
    ticks = b"\xc0\x00" * (UNCUT_BYTES_MAX // 4)

    run.write(second, ticks)
    assert not any(isinstance(effect, Pause) for effect in run.effects)
    run.write(second, ticks)
    assert [effect for effect in run.effects if isinstance(effect, Pause)] == [Pause(second)]
    run.write(first, b"go\n")

    assert run.taken == ["GO"] * 3 + ["TICK"] * (UNCUT_BYTES_MAX // 2)
    assert [effect for effect in run.effects if isinstance(effect, Resume)] == [Resume(second)]

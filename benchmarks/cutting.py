"""What cutting and decoding messages of a few bytes costs, and how many of them are in a MiB.

python -m benchmarks.cutting [--json]      (10 seconds)

The bytes come in pieces of a turn (4 KiB), as from a peer. CPU of this thread, the least of three times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from operator import methodcaller
from time import thread_time
from typing import Any

from machines.model import Wire
from machines.parser.loader import load
from machines.wire.arrived_frames import opens_with_pattern
from machines.wire.codec import Codec
from machines.wire.composite_framing import PartsFramer
from machines.wire.framing import Framer, make_framer
from runtime.network.transport import TURN_BYTES

BYTES = 1 << 18
VALUES = (b"1", b"[]", b'["a",12]', b'{"a":1}', b'["MOVE",{"a":[1,2]}]')
FRAMED = {
    "redis": (b"PING\r\n", b"*0\r\n", b"*1\r\n$4\r\nPING\r\n", b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"),
    "memcached": (b"version\r\n", b"get a\r\n", b"set k 0 0 1\r\nv\r\n"),
    "mqtt": (b"\xc0\x00", b"\x30\x05\x00\x01abc"),
    "lsp": (b"Content-Length: 2\r\n\r\n{}",),
    "http": (b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"),
}


def least(
    make: Callable[[], Framer], following: Callable[[Any], Any], decode: Callable[[Any], Any], one: bytes
) -> float:
    """Return the seconds of CPU for one of many such messages."""
    stream = one * (BYTES // len(one))
    times = []
    for _ in range(3):
        framer, count = make(), 0
        begin = thread_time()
        for start in range(0, len(stream), TURN_BYTES):
            framer.feed(stream[start : start + TURN_BYTES])
            while (raw := following(framer)) is not None:
                decode(raw)
                count += 1
        times.append((thread_time() - begin) / count)
        assert count >= BYTES // len(one) - 1
    return min(times)


def rows() -> Iterator[tuple[str, bytes, float]]:
    """Yield how messages are framed, one of them, and its seconds of CPU."""
    for framing in ("json", "lines", "text", "length"):
        wire = Wire(framing=framing)
        wrap, decode = make_framer(wire).wrap, Codec(wire).decode
        for value in VALUES:
            one = wrap(value)
            yield framing, one, least(partial(make_framer, wire), lambda framer: framer.next(), decode, one)
    for name, messages in FRAMED.items():
        spec = load(name)
        cut = methodcaller("next", tuple(filter(opens_with_pattern, dict.fromkeys(spec.frames.values()))))
        for one in messages:
            yield name, one, least(partial(PartsFramer, spec.wire), cut, Codec(spec.wire, spec.frames).decode, one)


def main() -> None:
    """Print a row for each."""
    found = list(rows())
    if "--json" in sys.argv:
        print(json.dumps([[framing, one.decode("latin-1"), seconds] for framing, one, seconds in found]))
        return
    print("| framing | message | in a MiB | us each | s a MiB |\n|---|---|---:|---:|---:|")
    for framing, one, seconds in found:
        many = (1 << 20) / len(one)
        print(f"| {framing} | `{one!r}` | {many:,.0f} | {1e6 * seconds:.2f} | {seconds * many:.2f} |")


if __name__ == "__main__":
    main()

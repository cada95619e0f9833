"""Whether a framing conforms: what comes out does not depend on how the bytes come in, and a fault stays a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Final

from machines.wire.framing import FrameError, Framer
from runtime.testing import expect

RANDOM_CUTS: Final = 50  # ways to cut the bytes, besides whole and byte by byte


def check_framing(
    make: Callable[[], Framer], payloads: Sequence[bytes], broken: Sequence[bytes] = (), *, seed: int = 0
) -> None:
    """Hold a framing to `machines.wire.framing.Framer`; ``make`` returns a new framer for one connection.

    ``payloads`` are whole messages that it carries, two at least. ``broken`` are bytes with which no further message
    can be found, each a connection of its own. ``seed`` says where the bytes are cut.

    Raises:
        NonconformanceError: it does not conform.
    """
    expect(len(payloads) > 1, "check_framing needs two payloads at least, to see where one ends")
    stream = b"".join(make().wrap(payload) for payload in payloads)
    for chunks in _ways(stream, Random(seed)):
        _check_payloads(make(), chunks, list(payloads))
    for payload in payloads:
        _check_single(make(), payload, payloads[0])
    for data in broken:
        texts = {_check_broken(make(), chunks) for chunks in _ways(data, Random(seed))}
        expect(len(texts) == 1, f"{data[:40]!r} is refused for other reasons when it is cut elsewhere: {sorted(texts)}")


def _ways(stream: bytes, random: Random) -> Iterator[list[bytes]]:
    """Yield the bytes whole, in single bytes, and cut at random."""
    yield [stream]
    yield [stream[at : at + 1] for at in range(len(stream))]
    for _ in range(RANDOM_CUTS):
        cuts = sorted({0, len(stream), *(random.randrange(len(stream) + 1) for _ in range(random.randrange(1, 6)))})
        yield [stream[begin:end] for begin, end in pairwise(cuts)]


def _check_payloads(framer: Framer, chunks: list[bytes], payloads: list[bytes]) -> None:
    how = f"{sum(map(len, chunks))} bytes in {len(chunks)} chunks"
    found: list[bytes] = []
    for chunk in chunks:
        framer.feed(chunk)
        while (frame := framer.next()) is not None:
            found.append(bytes(frame))
        expect(found == payloads[: len(found)], f"of {how} came {found[-1:]!r} as message {len(found) - 1}")
        expect(framer.next() is None, f"of {how} next() gave a message after it had given None")
    last = framer.finish()
    found += [] if last is None else [bytes(last)]
    expect(found == payloads, f"of {how} came {len(found)} messages, and not the {len(payloads)} that were written")
    expect(not framer.partial, f"of {how} all messages came, and partial says that one has begun")


def _check_single(framer: Framer, payload: bytes, other: bytes) -> None:
    """The short way for a chunk that is one message takes nothing in; blanks may stand around what it returns."""
    chunk = framer.wrap(payload)
    single = framer.try_single_message(chunk)
    expect(
        single is None or bytes(single).strip() == payload.strip(),
        f"try_single_message gave {single!r} for {payload!r}",
    )
    expect(framer.waiting == 0, "try_single_message took the bytes in")
    framer.feed(framer.wrap(other))
    frame = framer.next()
    expect(frame is not None and bytes(frame) == other, f"after try_single_message came {frame!r} and not {other!r}")


def _check_broken(framer: Framer, chunks: list[bytes]) -> str:
    """Return why the bytes are refused."""
    why: str | None = None
    for chunk in chunks:
        framer.feed(chunk)
        try:
            while framer.next() is not None:
                pass
        except FrameError as error:
            expect(why in (None, str(error)), f"a second fault was told of: {why}, then {error}")
            why = str(error)
            expect(framer.waiting == 0, "bytes are kept after a FrameError")
        else:
            expect(why is None, f"next() raised {why!r} once, and then no more")
    expect(why is not None, f"{b''.join(chunks)[:40]!r} raises no FrameError")
    assert why is not None, "it was expected"
    return why

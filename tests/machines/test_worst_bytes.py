"""Cutting and decoding is linear in the bytes, whatever they hold: the worst of them are searched for."""

import gc
from collections.abc import Iterator
from itertools import product
from time import thread_time

import pytest

from machines.model import FrameLine, FrameUntil, Wire
from machines.problems import Place
from machines.wire.codec import Malformed, parse_json
from machines.wire.composite_framing import PartsFramer
from machines.wire.depth import is_deeper
from machines.wire.framing import FrameError, make_framer

SIZE = 1 << 17
PER_MIB = 0.4  # seconds of CPU where all of a machine is taken, a quarter of it on a quiet one; once it was up to 4
TRIES = 8  # the best counts: who shares a core now and then has it whole
TURN = 4096
PLACE = Place("spec.yaml", 1, 1)

FRAGMENTS = [
    b"1E299", b"5e-324", b"2.2250738585072011e-308", b"0." + b"0" * 300 + b"17976931348623157", b"9" * 19, b"9" * 4000,
    b"[]", b"{}", b'""', b'"["', b'"\\\\"', b'"\\""', b'"\\u0061"', b'{"a":1,"a":2}', b'{"\\u0061":1}',
    b"[" * 60 + b"]" * 60, b"[" * 900 + b"]" * 900, b'{"a":' * 60 + b"1" + b"}" * 60,
    b'[{"a":' * 30 + b"1" + b"}]" * 30, b'["\\\\",' * 50 + b"1" + b"]" * 50,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _only_what_is_read_is_collected() -> Iterator[None]:
    """Keep what other tests of this process left behind out of the times: the collector walks over all that lives."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def filled(pieces: tuple[bytes, ...]) -> bytes:
    """Return a list of the fragments in turn, over and over."""
    round_ = b",".join(pieces)
    return b"[" + b",".join([round_] * (SIZE // (len(round_) + 1))) + b"]"


def seconds(raw: bytes, framing: str) -> float:
    """Return the CPU that a message of these bytes takes per MiB, as it comes from a peer; the best of TRIES times."""
    wire = Wire(framing=framing)  # type: ignore[arg-type]
    framed = make_framer(wire).wrap(raw)

    def once() -> float:
        framer = make_framer(wire)
        begin = thread_time()
        try:
            for start in range(0, len(framed), TURN):
                framer.feed(framed[start : start + TURN])
                while (payload := framer.next()) is not None:
                    parse_json(payload, wire)
        except (FrameError, Malformed):
            pass
        return (thread_time() - begin) * (1 << 20) / len(framed)

    took = once()
    for _ in range(TRIES - 1):
        if took < PER_MIB:
            break
        took = min(took, once())
    return took


@pytest.mark.parametrize("framing", ["json", "lines", "length"])
def test_no_bytes_take_long(framing: str) -> None:
    alone = sorted(((seconds(filled((one,)), framing), one) for one in FRAGMENTS), reverse=True)
    costly = [one for _, one in alone[:4]]
    pairs = [(seconds(filled(pair), framing), pair) for pair in product(costly, costly) if len(set(pair)) == 2]
    worst, what = max([*((took, (one,)) for took, one in alone), *pairs])
    assert worst < PER_MIB, [one[:40] for one in what]


@pytest.mark.parametrize("line", [b"\n", b".\n", b"..\r\n", b"\r\n", b"x\n", b"x" * (7 * SIZE) + b"\n"])
def test_lines_up_to_a_mark_take_no_time_however_long(line: bytes) -> None:
    framer = PartsFramer(Wire(framing="text"))
    frame = (FrameUntil("END", PLACE),)
    raw = line * max(1, SIZE // len(line)) + b"END\n"
    begin = thread_time()
    for start in range(0, len(raw), TURN):
        framer.feed(raw[start : start + TURN])
        cut = framer.next((frame,))
    assert (thread_time() - begin) * (1 << 20) / len(raw) < PER_MIB
    assert cut is not None


@pytest.mark.parametrize("line", [b"\n", b"\r\n"])
def test_empty_lines_between_frames_take_no_time(line: bytes) -> None:
    framer = PartsFramer(Wire(framing="text"))
    raw = line * (SIZE // len(line)) + b"GO\n"
    begin = thread_time()
    for start in range(0, len(raw), TURN):
        framer.feed(raw[start : start + TURN])
        cut = framer.next(((FrameLine(("DATA",), PLACE), FrameUntil(".", PLACE)),))
    assert (thread_time() - begin) * (1 << 20) / len(raw) < PER_MIB / 4
    assert cut == b"GO"
    assert not framer.partial


def test_a_mark_is_unstuffed_once_a_line_however_it_comes() -> None:
    for size in (1, 2, 3, 100):
        framer = PartsFramer(Wire(framing="text"))
        raw = b"DATA\r\n..a\r\n\r\nb..\n...\r\n.\r\nnext\n"
        found = []
        for start in range(0, len(raw), size):
            framer.feed(raw[start : start + size])
            while (payload := framer.next(((FrameLine(("DATA",), PLACE), FrameUntil(".", PLACE)),))) is not None:
                found.append(getattr(payload, "value", payload))
        assert found == [".a\n\nb..\n..", b"next"]


@pytest.mark.parametrize(
    ("raw", "depth"),
    [(b"1", 0), (b"[]", 1), (b'["[[["]', 1), (b'["\\"[[["]', 1), (b'["\\\\",[1]]', 2), (b'[[],{"a":[{}]},[]]', 4)],
)
def test_the_depth_counts_brackets_outside_texts(raw: bytes, depth: int) -> None:
    assert not is_deeper(raw, depth)
    assert depth == 0 or is_deeper(raw, depth - 1)
    for size in range(1, len(raw) + 1):
        framer = make_framer(Wire(framing="json", depth_max=max(1, depth)))
        for start in range(0, len(raw), size):
            framer.feed(raw[start : start + size])
            if framer.next() is not None:
                assert start + size >= len(raw)


@pytest.mark.parametrize("raw", [b'{"a":1,"a":"\\u003a"}', b'{"b":"\\n:","a":1,"a":":"}', b'{"\\u0061":1,"a":2}'])
def test_no_escape_hides_a_key_that_stands_twice(raw: bytes) -> None:
    with pytest.raises(Malformed, match="stands twice"):
        parse_json(raw, Wire())

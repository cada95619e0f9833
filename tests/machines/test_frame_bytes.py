"""Fields of bytes in frames: fixed bytes, numbers, bits, sizes; read as they are written, however the bytes arrive."""

from __future__ import annotations

from itertools import product
from time import thread_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.checks.checker import every_problem
from machines.effects import Send
from machines.frame_parts import Bit, FrameBits, FrameByte, FrameNumber, NumberKind, Rest
from machines.messages.scalars import INT_MAX, INT_MIN
from machines.messages.shapes import Mismatch
from machines.model import CompositeFrame, FrameBytes, FrameLine, FrameRepeat, FrameSize, FrameUntil, Wire
from machines.parser.byte_parts import number_kind
from machines.parser.loader import load_text
from machines.problems import Place, SpecError
from machines.verification.verdict import PROVED
from machines.wire.byte_parts import NOTHING, Opening, opening_of
from machines.wire.codec import Codec, Malformed
from machines.wire.composite_framing import Cut, PartsFramer
from machines.wire.frame_writing import packer
from machines.wire.framing import FrameError
from tests.machines.verification.bench import verdict_of
from tests.support.tiny import returned, start

HERE = Place("test.yaml", 1, 1)
WIRE = Wire(framing="text", charset="latin-1", message_bytes_max=4000, parts_max=100)
U8, U16, VARINT = NumberKind(1), NumberKind(2), NumberKind(0)
KINDS = [NumberKind(*row) for row in product((1, 2, 3, 4, 8), (False, True), (False, True))] + [VARINT]

# A packet as MQTT has them: bits that open it, a size, and in it texts and a list behind their lengths.
PACKET: CompositeFrame = (
    FrameBits((Bit(4, "", 3), Bit(1, "again"), Bit(2, "level"), Bit(1, "")), ("again", "level"), HERE),
    FrameSize(
        VARINT,
        (
            FrameBytes(U16, HERE),
            FrameBits((Bit(6, ""), Bit(1, "two"), Bit(1, "one")), (), HERE),
            FrameRepeat("one", (FrameBytes(U16, HERE),), HERE),
            FrameRepeat("two", (FrameNumber(NumberKind(2, True, True), "", HERE), FrameBytes(U8, HERE)), HERE),
            FrameBytes(Rest.REST, HERE),
        ),
        HERE,
    ),
)
# Names before what they count, and a list to the end of its size.
LIST: CompositeFrame = (
    FrameByte(0x82, HERE),
    FrameNumber(U16, "many", HERE),
    FrameNumber(NumberKind(4, False, True), "", HERE),
    FrameSize("many", (FrameRepeat(Rest.REST, (FrameBytes(VARINT, HERE), FrameNumber(U8, "", HERE)), HERE),), HERE),
    FrameLine(("", "n", ";"), HERE),
    FrameBytes("n", HERE),
)
PING: CompositeFrame = (FrameByte(0xC0, HERE), FrameByte(0, HERE))

raw_texts = st.binary(max_size=12).map(lambda raw: raw.decode("latin-1"))
packets = st.tuples(
    st.integers(0, 1),
    st.integers(0, 3),
    raw_texts,
    st.lists(raw_texts, max_size=1),
    st.lists(st.tuples(st.integers(-32768, 32767), raw_texts).map(list), max_size=1),
    raw_texts,
).map(list)
lists = st.tuples(
    st.integers(0, (1 << 32) - 1),
    st.lists(st.tuples(raw_texts, st.integers(0, 255)).map(list), max_size=9),
    raw_texts,
).map(list)


def cut(stream: bytes, frames: list[CompositeFrame], cuts: list[int], wire: Wire = WIRE) -> list[Any]:
    """Return the values of what comes out of a stream in these pieces."""
    framer, codec = PartsFramer(wire), Codec(wire, {"A": PING})
    found: list[Any] = []
    at = 0
    for end in [*sorted(cuts), len(stream)]:
        framer.feed(stream[at:end])
        at = max(at, end)
        while (raw := framer.next(frames, lines=False)) is not None:
            found.append(codec.decode(raw))
    assert framer.waiting == 0
    return found


@given(st.lists(packets, max_size=3), st.lists(lists, max_size=3), st.data())
def test_what_is_written_is_read_again_wherever_it_is_cut(
    some: list[Any], others: list[Any], data: st.DataObject
) -> None:
    stream = b"".join([*map(packer(PACKET, WIRE), some), *map(packer(LIST, WIRE), others), packer(PING, WIRE)([])])
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))

    assert cut(stream, [PING, LIST, PACKET], cuts) == [*some, *others, []]
    assert cut(stream, [PACKET, LIST, PING], list(range(len(stream)))) == [*some, *others, []]


@given(st.binary(max_size=60), st.data())
def test_any_bytes_are_cut_the_same_wherever_they_are_cut(raw: bytes, data: st.DataObject) -> None:
    stream = data.draw(st.sampled_from([b"", b"\x30", b"\x82\x00\x10", b"\xc0\x00\x36\x20"])) + raw
    ends: list[Any] = []
    for pieces in ([], sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))):
        framer, at, found = PartsFramer(WIRE), 0, []
        try:
            for end in [*pieces, len(stream)]:
                framer.feed(stream[at:end])
                at = max(at, end)
                while (message := framer.next([PACKET, LIST, PING], lines=False)) is not None:
                    assert isinstance(message, Cut)
                    found.append((message.value, message.why, len(message)) if not message.why else message.why)
            ends.append((found, framer.waiting))
        except FrameError as error:
            ends.append((found, str(error)))

    assert ends[0] == ends[1]


@pytest.mark.parametrize("kind", KINDS, ids=map(str, KINDS))
def test_a_number_is_written_in_its_bytes_and_one_without_room_is_not(kind: NumberKind) -> None:
    bits = 8 * kind.width if kind.width else 63
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.signed else (0, min((1 << bits) - 1, INT_MAX))
    frame: CompositeFrame = (FrameNumber(kind, "", HERE),)
    pack = packer(frame, WIRE)

    assert number_kind(str(kind)) == kind
    assert kind.bounds == (low, high)
    for number in sorted({low, low + 1, 0, 1, 127, 128, 255, 300, -1, high - 1, high}):
        if low <= number <= high:
            raw = pack(number)
            assert cut(raw, [frame], list(range(len(raw)))) == [number]
            assert len(raw) == kind.width or not kind.width
    for beyond in {low - 1, high + 1} - {INT_MIN - 1, INT_MAX + 1}:
        with pytest.raises(Mismatch, match=" f"):
            pack(beyond)


@pytest.mark.parametrize(
    ("number", "kind", "raw"),
    [
        (258, "u16", b"\x01\x02"),
        (258, "u16 little", b"\x02\x01"),
        (-2, "i24", b"\xff\xff\xfe"),
        (0, "varint", b"\x00"),
        (128, "varint", b"\x80\x01"),
        (268435455, "varint", b"\xff\xff\xff\x7f"),
    ],
)
def test_numbers_as_others_have_them(number: int, kind: str, raw: bytes) -> None:
    known = number_kind(kind)
    assert known is not None
    frame: CompositeFrame = (FrameNumber(known, "", HERE),)

    assert packer(frame, WIRE)(number) == raw
    assert cut(raw, [frame], []) == [number]


def test_a_packet_as_its_standard_has_it() -> None:
    assert packer(PACKET, WIRE)([1, 2, "a/b", [], [], "\xff\n"]) == b"\x3c\x08\x00\x03a/b\x00\xff\n"
    assert cut(b"\x30\x06\x00\x01t\x01\x00\x00", [PACKET], []) == [[0, 0, "t", [""], [], ""]]


@pytest.mark.parametrize(
    "value",
    [[2, 0, "", [], [], ""], [0, 4, "", [], [], ""], [0, 0, "", ["a", "b"], [], ""], [0, 0, "x" * 65536, [], [], ""],
     [0, 0, "", [], [[40000, "a"]], ""], [0, 0, "", [], [[1, "x" * 256]], ""], [True, 0, "", [], [], ""], [0, 0], "a"],
)  # fmt: skip
def test_what_bits_and_numbers_have_no_room_for_is_not_written(value: Any) -> None:
    with pytest.raises(Mismatch):
        packer(PACKET, WIRE)(value)


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"\x40\x00", "no message begins with 0x40"),
        (b"\x31\x00", "no message begins with 0x31"),
        (b"\xc0\x01", "no message begins with 0xc001"),
        (b"\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "more than 10 bytes"),
        (b"\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "does not fit"),
        (b"\x30\xa1\x1f", "longer than 4000"),
        (b"\x82\x00\xc8\x00\x00\x00\x00" + b"\x00\x00" * 100, "more than 100 parts"),
        (b"\x82\x00\x00\x00\x00\x00\x00x;\n", "a line like"),
    ],
)
def test_what_is_over_a_limit_or_unlike_what_is_fixed_ends_the_stream(stream: bytes, why: str) -> None:
    for step in (1, len(stream)):
        framer = PartsFramer(WIRE)
        with pytest.raises(FrameError, match=why):
            _fed(framer, stream, step)
        assert framer.waiting == 0


def _fed(framer: PartsFramer, stream: bytes, step: int) -> None:
    for at in range(0, len(stream), step):
        framer.feed(stream[at : at + step])
        framer.next([PACKET, LIST, PING], lines=False)


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"\x30\x00", "its 0 bytes end before"),
        (b"\x30\x04\x00\x03ab", "its 4 bytes end before"),
        (b"\x30\x03\x00\x00\x04", "bits like 000000 two one are wanted, not 00000100"),
        (b"\x82\x00\x02\x00\x00\x00\x00\x01a0;\n", "end before"),
    ],
)
def test_what_is_wrong_within_a_size_costs_that_message_only(stream: bytes, why: str) -> None:
    framer, codec = PartsFramer(WIRE), Codec(WIRE, {"A": PING})
    framer.feed(stream + b"\xc0\x00")
    first, second = framer.next([PACKET, LIST, PING]), framer.next([PACKET, LIST, PING])

    assert first is not None
    assert second is not None
    with pytest.raises(Malformed, match=why):
        codec.decode(first)
    assert codec.decode(second) == []


def test_what_is_left_over_of_a_size_is_malformed() -> None:
    frame: CompositeFrame = (FrameSize(U8, (FrameNumber(U8, "", HERE),), HERE),)
    framer = PartsFramer(WIRE)
    framer.feed(b"\x02\x01\x02")
    message = framer.next([frame])

    assert message is not None
    with pytest.raises(Malformed, match="of its 2 bytes 1 are left over"):
        Codec(WIRE, {"A": frame}).decode(message)


def test_lines_and_marks_may_stand_within_a_size() -> None:
    frame: CompositeFrame = (
        FrameSize(U16, (FrameLine(None, HERE), FrameUntil(".", HERE)), HERE),
        FrameNumber(U8, "", HERE),
    )
    stream = packer(frame, WIRE)(["head", "a\n.b", 7])

    assert stream == b"\x00\x0chead\na\n..b\n.\n\x07"[:2].replace(b"\x0c", bytes([len(stream) - 3])) + stream[2:]
    assert cut(stream * 2, [frame], list(range(len(stream)))) == [["head", "a\n.b", 7]] * 2


# -- what opens a frame ----------------------------------------------------------------------------------------------


def test_fixed_bytes_and_bits_open_a_frame_as_far_as_they_go() -> None:
    assert opening_of(PACKET) == Opening(b"\xf1", b"\x30")
    assert opening_of(PING) == Opening(b"\xff\xff", b"\xc0\x00")
    assert opening_of(LIST) == Opening(b"\xff", b"\x82")
    assert opening_of((FrameBits((Bit(8, "x"),), ("x",), HERE), FrameByte(7, HERE))) == Opening(b"\0\xff", b"\0\x07")
    sized = FrameSize(U16, (FrameNumber(U8, "", HERE), FrameByte(3, HERE), FrameBytes(U8, HERE)), HERE)
    assert opening_of((FrameNumber(U16, "", HERE), sized)) == Opening(b"\0\0\0\0\0\xff", b"\0\0\0\0\0\3")
    varint = FrameNumber(VARINT, "", HERE)
    assert opening_of((varint, FrameByte(3, HERE))) == opening_of((FrameBytes(2, HERE), FrameByte(3, HERE))) == NOTHING
    assert opening_of((FrameNumber(U8, "", HERE),)) == NOTHING == opening_of((FrameBits((Bit(8, "x"),), (), HERE),))


@given(st.binary(min_size=2, max_size=2), st.binary(min_size=2, max_size=2), st.data())
def test_openings_meet_if_some_bytes_begin_like_both(mask: bytes, other: bytes, data: st.DataObject) -> None:
    one = Opening(mask, bytes(a & b for a, b in zip(mask, data.draw(st.binary(min_size=2, max_size=2)), strict=True)))
    two = Opening(other, bytes(a & b for a, b in zip(other, data.draw(st.binary(min_size=2, max_size=2)), strict=True)))
    both = [
        raw
        for raw in map(bytes, product(range(256), (one.value[1] | two.value[1],)))
        if one.begins(raw) and two.begins(raw)
    ]

    assert one.meets(two) == bool(both) == two.meets(one)
    if both:
        assert one.begins(one.either(two))
        assert two.begins(one.either(two))


def test_lines_are_still_lines_beside_frames_of_bytes() -> None:
    framer = PartsFramer(WIRE)
    framer.feed(b"hello\n\xc0\x00\n\n*2\nab")
    array: CompositeFrame = (FrameLine(("*", "n", ""), HERE), FrameBytes("n", HERE))
    values = [Codec(WIRE, {"A": PING}).decode(raw) for raw in iter(lambda: framer.next([PING, array]), None)]

    assert values == ["hello", [], "ab"]


def test_the_beginning_of_fixed_bytes_is_no_line_where_nobody_wants_one() -> None:
    for lines, last in ((True, b"\xc0"), (False, None)):
        framer = PartsFramer(WIRE)
        framer.feed(b"\xc0")
        assert framer.next([PING], lines=lines) is None
        assert framer.finish() == last


PIECES = [b"\x30\x05\x00\x01ab\x00", b"\xc0\x00", b"\x82\x40\x00\x00\x00\x00\x00" + b"\x00\x00" * 8192 + b"0;\n"]


@pytest.mark.parametrize("piece", PIECES, ids=["small packets", "pings", "a long list"])
def test_the_worst_bytes_take_linear_time_in_small_and_in_large_pieces(piece: bytes) -> None:
    wire = Wire(framing="text", charset="latin-1", parts_max=1 << 31)

    def seconds(times: int, turn: int) -> float:
        stream = piece * times
        framer, begin = PartsFramer(wire), thread_time()
        for at in range(0, len(stream), turn):
            framer.feed(stream[at : at + turn])
            while framer.next([PACKET, PING, LIST], lines=False) is not None:
                pass
        assert framer.waiting == 0
        return thread_time() - begin

    times = -(-(1 << 13) // len(piece))
    few, many, cut_often = (
        min(seconds(*how) for _ in range(3)) for how in ((times, 4096), (4 * times, 4096), (times, 16))
    )
    assert many < 8 * few + 0.05
    assert cut_often < 4 * few + 0.05


# -- in a spec -------------------------------------------------------------------------------------------------------

GAUGE = """
protocol: gauge
wire: {framing: text, charset: latin-1}
connects: {meter: post}
types: {Names: [string, ...]}
messages:
  meter:
    READING: [$kind int, $value int, $names Names]
    BYE:     []
  post:
    TAKEN:   $count int
frames:
  READING:
    - bits: [10, kind 6]
    - size: u16
      of:
        - number: i32 little
        - {repeat: rest, of: [{bytes: u8}]}
  BYE:   [byte: 0x0a]
  TAKEN: [byte: 0x06, number: i64]
roles:
  post:
    main(meter):
      heard:
        within: 1 min
        receive:
          READING: {send: TAKEN(len(names) + value), then: stay}
          BYE: {return: null}
        fault: {drop: meter, return: reason}
  meter:
    main:
      one: {send: "READING(3, -2, ['a', ''])", then: answered}
      answered: {within: 1 min, receive: {TAKEN: {send: BYE, return: count}}, fault: {return: null}}
"""


def test_a_spec_hears_and_says_such_frames_however_their_bytes_come() -> None:
    raw = b"\x83\x00\x07\xfe\xff\xff\xff\x01a\x00"
    for step in (1, 3, 100):
        run = start(GAUGE, "post")
        for at in range(0, len(raw), step):
            run.write(0, raw[at : at + step])
        run.write(0, b"\x0a")
        assert [effect.data for effect in run.effects if isinstance(effect, Send)] == [b"\x06" + bytes(8)]
        assert returned(run) is None
    run = start(GAUGE, "meter")
    assert [effect.data for effect in run.effects if isinstance(effect, Send)] == [raw]


@pytest.mark.parametrize("raw", [b"\x06\x00", b"\n\n", b"\x83\x00\x01\x00", b"\xff\xff\xff\xff"])
def test_bytes_that_are_no_message_are_malformed_at_once(raw: bytes) -> None:
    run = start(GAUGE, "post")
    run.write(0, raw)

    assert returned(run) == ("malformed" if raw != b"\n\n" else None)


def test_such_a_spec_is_proved() -> None:
    assert verdict_of(GAUGE, (1,)).state == PROVED


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("byte: 0x0a", "byte: 0x100", "is no byte"),
        ("byte: 0x0a", "byte: ten", "is no byte"),
        ("number: i64", "number: u7", "is no kind of number"),
        ("number: i64", "{number: i64, as: rest}", "is no new name"),
        ("bits: [10, kind 6]", "bits: [10, kind 5]", "no whole bytes"),
        ("bits: [10, kind 6]", "bits: [10, kind 78]", "no whole bytes"),
        ("bits: [10, kind 6]", "bits: [10, kind, kind 5]", "is no new name"),
        ("bits: [10, kind 6]", "bits: [10, kind six]", "are no bits"),
        ("bits: [10, kind 6]", "bits: []", "no whole bytes"),
        ("size: u16", "size: i16", "nothing counts 'i16'"),
        ("size: u16", "size: rest", "where the rest ends"),
        ("byte: 0x0a", "bytes: rest", "where the rest ends"),
        ("of: [{bytes: u8}]", "of: [{bytes: rest}]", "where the rest ends"),
        ("    - bits: [10, kind 6]\n", "    - bits: [10, kind 6]\n    - repeat: kind\n", "is one of"),
        ("        - number: i32 little\n", "        - bytes: rest\n        - number: i32\n", "behind the rest"),
        ("number: i64]", "{number: i8, as: n}, bytes: n]", "may be below zero"),
        ("[byte: 0x0a]", "[{byte: 0x0a, of: [line]}]", "is one of"),
        ("$kind int, $value", "$value", "a frame with 3 values"),
        ("BYE:     []", "BYE:     bye", "a frame with no values"),
        (
            "$kind int, $value int",
            "$kind string, $value int",
            "'kind' of READING is a text, and its frame has a number",
        ),
        (
            "$kind int, $value int",
            "[1], $value int",
            "a part of the body of READING is a list, and its frame has a number",
        ),
        ("$value int, $names Names", "$value int, $names int", "is a number, and its frame has a list"),
        ("TAKEN:   $count int", "TAKEN:   {count: $count int}", "is a map, and its frame has a number"),
        ("$kind int, $value int", "64, $value int", "a number of 6 bits in its frame has no room"),
        ("$kind int, $value int", "$kind int, 4294967296", "a number of i32 little in its frame has no room"),
    ],
)
def test_fields_of_bytes_that_cannot_be_are_told(old: str, new: str, says: str) -> None:
    assert GAUGE.count(old) == 1
    with pytest.raises(SpecError) as raised:
        load_text(GAUGE.replace(old, new), "gauge.yaml")

    assert any(problem.code == "A137" and says in problem.text for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("number", "answer", "taken"),
    [
        ("i64", "len(names) + value", ""),
        ("varint", "len(names) + value", "takes int 0..9223372036854775807, and len(names) + value may be -1"),
        ("i32", "value", ""),
        ("u32", "value", "takes int 0..4294967295, and value may be -1"),
        ("u8", "kind", ""),
        ("u8", "4 * kind", ""),
        ("u8", "5 * kind", "takes int 0..255, and 5 * kind may be 256"),
    ],
)
def test_a_number_that_may_have_no_room_is_told_before_it_runs(number: str, answer: str, taken: str) -> None:
    text = GAUGE.replace("number: i64", f"number: {number}").replace("TAKEN(len(names) + value)", f"TAKEN({answer})")
    told = [one.text for one in every_problem(load_text(text, "gauge.yaml")) if one.code == "A342"]

    assert (taken in told[0]) if taken else not told, told


@pytest.mark.parametrize(
    ("frame", "alike"),
    [
        ("[byte: 0x83, bytes: u8]", "0x83"),
        ("[bits: [1, x 6, 0], bytes: u8]", "0x80"),
        ("[byte: 0x0b, bytes: u8]", ""),
        ("[byte: 0x06, bytes: u8]", ""),
        ('[{line: "\\u0083${x}"}]', '"\x83'),
        ("[{line: 'go ${x}'}]", ""),
        ("[bytes: u8]", "OTHER and READING can not be told apart: OTHER begins whatever comes"),
        ("[{until: '.'}]", "OTHER begins whatever comes"),
    ],
)
def test_frames_that_begin_with_the_same_bytes_cannot_be_told_apart(frame: str, alike: str) -> None:
    text = GAUGE.replace("    BYE:     []\n", "    BYE:     []\n    OTHER:   $x string\n")
    if "bits" in frame:
        text = text.replace("$x string", "[$x int, $y string]")
    text = text.replace("frames:\n", f"frames:\n  OTHER: {frame}\n")
    text = text.replace("          BYE: {return", "          OTHER: {return: null}\n          BYE: {return")

    told = [problem.text for problem in every_problem(load_text(text, "gauge.yaml")) if problem.code == "A334"]
    assert bool(told) == bool(alike), told
    assert not alike or alike in told[0]

"""Frames do not depend on how the bytes arrive, cost is linear, and nothing but a FrameError ever escapes."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.model import Wire
from machines.wire.framing import BLANKS, FrameError, Framer, make_framer

SMALL = {"message_bytes_max": 40, "depth_max": 3}
WIRES = [Wire(framing=framing, **SMALL) for framing in ("json", "lines", "text", "length")]  # type: ignore[arg-type]
JSON = Wire(framing="json")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
# Bytes that matter to a scanner come up often, others now and then.
structural = st.lists(st.sampled_from([*b'[]{}",:\\ \n\r\t-+.eE0123truefalsn', 0, 0xFF]), max_size=60).map(bytes)
any_bytes = structural | st.binary(max_size=60)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    return [stream[a:b] for a, b in pairwise(sorted({0, len(stream), *cuts}))]


def frames(framer: Framer, chunks: list[bytes], eager: bool = True) -> tuple[list[bytes], str | None, bool]:
    """Return what comes out: the frames, the text of the FrameError, and whether a part is left at the end."""
    found: list[bytes] = []
    try:
        for chunk in chunks:
            framer.feed(chunk)
            while eager and (frame := framer.next()) is not None:
                found.append(frame)
        while (frame := framer.next()) is not None:
            found.append(frame)
    except FrameError as error:
        return found, str(error), False
    last = framer.finish()
    if last is not None:
        found.append(last)
    return found, None, framer.partial


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b'{"a": 1}', [b'{"a": 1}']),
        (b' [1]\r\n\t"x" ', [b"[1]", b'"x"']),
        (b'[1]{"a":[]}""', [b"[1]", b'{"a":[]}', b'""']),
        (b"truetrue", [b"true", b"true"]),
        (b"nullfalse[]", [b"null", b"false", b"[]"]),
        (b"12 34", [b"12", b"34"]),
        (b"-1.5e+3[]", [b"-1.5e+3", b"[]"]),
        (b'7"a"', [b"7", b'"a"']),
        (b"7true", [b"7", b"true"]),
        (b'"]}[{"', [b'"]}[{"']),
        (rb'"a\"b" "\\" [1]', [rb'"a\"b"', rb'"\\"', b"[1]"]),
        (b'["a\\\\","]"]', [b'["a\\\\","]"]']),
        (b"[1,\n 2]\n[3]", [b"[1,\n 2]", b"[3]"]),
        (b"[}", [b"[}"]),  # a frame; the codec refuses it
        (b'{"a": [1, }\n[2]', [b'{"a": [1, }', b"[2]"]),  # and not half of one that goes on for ever
        (b'[[{"}": 1] 2 3', [b'[[{"}": 1]', b"2", b"3"]),
        (b"[1,,nonsense]", [b"[1,,nonsense]"]),
        (b"1-2 ", [b"1-2"]),
        (b" \n ", []),
        (b"", []),
    ],
)
def test_a_json_stream_is_cut_where_values_end(stream: bytes, expected: list[bytes]) -> None:
    assert frames(make_framer(JSON), [stream]) == (expected, None, False)
    assert frames(make_framer(JSON), pieces(stream, list(range(len(stream))))) == (expected, None, False)


@pytest.mark.parametrize(
    "stream", [b"hello", b"]", b"}", b"[1]]", b",", b"12,", b"12x", b"NaN", b"-Infinity", b"\xef\xbb\xbf[]", b"trux"]
)
def test_a_byte_that_begins_no_value_ends_the_stream_at_once(stream: bytes) -> None:
    framer = make_framer(JSON)

    _, error, _ = frames(framer, [stream])

    assert error is not None
    assert error.startswith("no JSON value")
    framer.feed(b"[1]")
    assert framer.waiting == 0
    with pytest.raises(FrameError, match="no JSON value"):
        framer.next()


def test_a_number_waits_for_what_ends_it() -> None:
    framer = make_framer(JSON)

    framer.feed(b"12")
    assert framer.next() is None
    assert framer.partial
    framer.feed(b"3")
    assert framer.next() is None
    framer.feed(b"\n")

    assert framer.next() == b"123"
    assert not framer.partial


@pytest.mark.parametrize(
    ("framing", "stream", "expected"),
    [
        ("lines", b"[1]\r\n\n\r\n[2]\n[3]", [b"[1]", b"[2]", b"[3]"]),
        ("text", b"HELO a\r\nQUIT\r\n", [b"HELO a", b"QUIT"]),
        ("text", b" \n", [b" "]),
        ("text", b"a\rb\n", [b"a\rb"]),
        ("length", b"\0\0\0\2hi\0\0\0\0\0\0\0\1x", [b"hi", b"", b"x"]),
    ],
)
def test_the_other_framings_cut_as_told(framing: Any, stream: bytes, expected: list[bytes]) -> None:
    assert frames(make_framer(Wire(framing=framing)), [stream]) == (expected, None, False)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.framing)
@given(any_bytes, st.lists(st.integers(0, 60)), st.booleans())
def test_frames_do_not_depend_on_how_the_bytes_arrive(wire: Wire, stream: bytes, cuts: list[int], eager: bool) -> None:
    cuts = [cut for cut in cuts if cut <= len(stream)]

    whole = frames(make_framer(wire), [stream])
    byte_by_byte = frames(make_framer(wire), pieces(stream, list(range(len(stream)))))
    cut_up = frames(make_framer(wire), pieces(stream, cuts), eager)

    assert byte_by_byte == whole
    assert cut_up == whole


@pytest.mark.parametrize(
    "stream",
    [rb'[\"]"] 1', rb'{"a\"}":1}[]', b'["a]", 1, true][2]', b'{"a":"}"}{', b'[}[1,"]', b'[1,"' + b"x" * 600 + b'"][]'],
)
def test_small_values_end_where_they_would_byte_by_byte(stream: bytes) -> None:
    whole = frames(make_framer(JSON), [stream])

    assert frames(make_framer(JSON), [stream[at : at + 1] for at in range(len(stream))]) == whole
    assert frames(make_framer(JSON), [b"1 ", stream])[0][1:] == whole[0]


@settings(max_examples=40)
@given(st.lists(st.tuples(json_values, st.sampled_from(["", " ", "\n", "\r\n"])), max_size=6), st.lists(st.integers(0)))
def test_json_values_come_out_as_they_went_in(values: list[tuple[Any, str]], cuts: list[int]) -> None:
    texts = [json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") for value, _ in values]
    # A number needs something behind it, or it would run into a number that follows.
    stream = b"".join(
        text + (blank.encode() or (b" " if text[:1] in b"-0123456789" else b""))
        for text, (_, blank) in zip(texts, values, strict=True)
    )
    cuts = [cut % (len(stream) + 1) for cut in cuts]

    assert frames(make_framer(JSON), pieces(stream, cuts)) == (texts, None, False)


@pytest.mark.parametrize("framing", ["json", "lines", "text", "length"])
@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), max_size=5))
def test_what_is_wrapped_is_cut_out_again(framing: Any, texts: list[str]) -> None:
    framer = make_framer(Wire(framing=framing))
    payloads = [(json.dumps(text) if framing == "json" else text).encode() for text in texts]

    stream = b"".join(map(framer.wrap, payloads))

    assert frames(framer, [stream]) == (payloads, None, False)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.framing)
def test_the_limit_on_bytes_is_exact_however_they_arrive(wire: Wire) -> None:
    limit = wire.message_bytes_max
    fits, over = b'"' + b"a" * (limit - 2) + b'"', b'"' + b"a" * (limit - 1) + b'"'
    wrap = make_framer(wire).wrap

    for cuts in ([], list(range(limit + 10))):
        assert frames(make_framer(wire), pieces(wrap(fits), cuts))[0] == [fits]
        _, error, _ = frames(make_framer(wire), pieces(wrap(over), cuts))
        assert error is not None
        assert str(limit) in error


@pytest.mark.parametrize("stream", [b"[" * 4 + b"]" * 4, b"[" * 4, b'{"a":' * 4 + b"1" + b"}" * 4, b'[[["[",[]]]]'])
def test_too_deep_a_value_ends_the_stream(stream: bytes) -> None:
    for cuts in ([], list(range(len(stream)))):
        _, error, _ = frames(make_framer(WIRES[0]), pieces(stream, cuts))
        assert error == "a message is nested deeper than 3"


@pytest.mark.parametrize("value", ['[[["]]]]",1],[["[[[["]]],[[[]]]]', '[[["\\"]",[]]]]', '{"a":[{"b":1},{},{}]}'])
def test_many_brackets_are_not_taken_for_depth(value: str) -> None:
    framer = make_framer(Wire(depth_max=4))

    framer.feed(value.encode())

    assert framer.next() == value.encode()


def test_a_hundred_thousand_brackets_are_refused_and_not_recursed_into() -> None:
    framer = make_framer(JSON)

    framer.feed(b"[" * 100_000 + b"]" * 100_000)

    with pytest.raises(FrameError, match="deeper than 64"):
        framer.next()
    assert framer.waiting == 0


def test_a_message_over_the_limit_is_refused_before_it_has_all_come() -> None:
    framer = make_framer(Wire(message_bytes_max=1000))
    framer.feed(b"[" + b"1," * 300)
    assert framer.next() is None

    framer.feed(b"1," * 300)

    with pytest.raises(FrameError, match="longer than 1000 bytes"):
        framer.next()


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.framing)
def test_bytes_wait_until_they_are_taken(wire: Wire) -> None:
    framer = make_framer(wire)
    stream = framer.wrap(b"[1]") + framer.wrap(b"[2]")

    framer.feed(stream)
    assert framer.waiting == len(stream)
    assert [framer.next(), framer.next(), framer.next()] == [b"[1]", b"[2]", None]

    assert framer.waiting <= len(BLANKS)  # at most the blank behind the last value
    assert not framer.partial


@pytest.mark.parametrize("framing", ["lines", "text"])
def test_a_payload_that_would_break_the_framing_is_our_own_fault(framing: Any) -> None:
    with pytest.raises(AssertionError, match="newline"):
        make_framer(Wire(framing=framing)).wrap(b"a\nb")


def steps(framer: Framer, chunks: list[bytes]) -> int:
    """Return how many lines of Python run while the chunks are fed."""
    count = 0

    def trace(*_: object) -> Any:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        for chunk in chunks:
            framer.feed(chunk)
            framer.next()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize(
    "value",
    [
        lambda n: b"[" + b"[],{}," * (n // 6) + b"1]",
        lambda n: b'"' + b"a" * n + b'"',
        lambda n: b'"' + b"\\" * 2 * n + b'"',
    ],
    ids=["brackets", "one text", "backslashes"],
)
def test_four_times_the_bytes_cost_four_times_the_steps(value: Any) -> None:
    small, large = ([bytes([byte]) for byte in value(n)] for n in (500, 2000))

    ratio = steps(make_framer(JSON), large) / steps(make_framer(JSON), small)

    assert 3 < ratio < 5


def test_searches_never_look_at_a_byte_twice() -> None:
    """A value in single bytes: if any search went back to the start, 100 kB would take minutes, not a second."""
    framer = make_framer(JSON)
    value = b'["' + b"a" * 100_000 + b'"]'
    for byte in value:
        framer.feed(bytes([byte]))
        frame = framer.next()
    assert frame == value


@settings(max_examples=30)
@given(st.integers(1, 30), st.sampled_from([b"{}", b"[1] ", b'"a"', b"true", b"1 "]))
def test_many_values_in_one_chunk_all_come_out(times: int, value: bytes) -> None:
    assert frames(make_framer(JSON), [value * times]) == ([value.strip()] * times, None, False)

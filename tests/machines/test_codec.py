"""The codec refuses what a protocol must not guess about, and accepts everything else that JSON can say."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.messages.shapes import Mismatch
from machines.model import Wire
from machines.values import Record
from machines.wire.codec import Codec, Malformed, parse_json
from tests.machines.type_values import same

WIRE = Wire()
SMALL = Wire(depth_max=3, digits_max=4)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"null", None),
        (b" \t\r\n[ true , false ]\n", [True, False]),
        (b'{"a": {"a": 1}, "b": [{"a": 2}]}', {"a": {"a": 1}, "b": [{"a": 2}]}),
        (b'{"a:b": 1, "\\u003a": 2}', {"a:b": 1, ":": 2}),
        (b'{"a": "a:b\\"[{"}', {"a": 'a:b"[{'}),
        (b'"\\ud83d\\ude00 \xc3\xa9 \\u0000"', "😀 é \0"),
        (b"-0", 0),
        (b"-0.0", -0.0),
        (b"1.0", 1.0),
        (b"1e2", 100.0),
        (b"1e-400", 0.0),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'{"n": 9223372036854775807, "o": "99999999999999999999"}', {"n": 2**63 - 1, "o": "9" * 20}),
        (b'"9223372036854775808"', "9223372036854775808"),
        (b"0." + b"1" * 5000, 0.1111111111111111),
        (b"[" * 64 + b"]" * 64, None),
        (b'["' + b"[" * 99 + b'"]', ["[" * 99]),
        (b'[["\\"", ' + b'"]", ' * 99 + b"1]]", [['"', *["]"] * 99, 1]]),
    ],
)
def test_json_is_decoded(raw: bytes, value: Any) -> None:
    decoded = parse_json(raw, WIRE)

    assert value is None or same(decoded, value)
    assert same(decoded, Codec(WIRE).decode(raw))
    assert same(decoded, json.loads(raw))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "nothing stands in it"),
        (b" \n", "nothing stands in it"),
        (b"[1,", "input data was truncated"),
        (b"[1] 2", "JSON is malformed: trailing characters"),
        (b"[1,]", "JSON is malformed: trailing comma"),
        (b"{'a': 1}", "JSON is malformed"),
        (b"{1: 2}", "JSON is malformed"),
        (b"01", "JSON is malformed"),
        (b"+1", "JSON is malformed"),
        (b"1.", "JSON is malformed"),
        (b"NaN", "JSON is malformed"),
        (b"[Infinity]", "JSON is malformed"),
        (b"-Infinity", "JSON is malformed"),
        (b'"\n"', "JSON is malformed"),
        (b"1e400", "number out of range"),
        (b"\xef\xbb\xbf[]", "a byte order mark stands before it"),
        (b"\xff\xfe[\x00]\x00", "JSON is malformed"),
        (b'"\xff"', "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'{"\xc0\x80": 1}', "not UTF-8"),
        (b'"\\ud800"', "cut short, or a lone surrogate in it"),
        (b'"\\ude00\\ud83d"', "cut short, or a lone surrogate in it"),
        (b'["\\ud800\\u0041"]', "cut short, or a lone surrogate in it"),
        (b'{"a": 1, "a": 1}', 'the key "a" stands twice in one object'),
        (b'[[{"b": {"a": 1, "\\u0061": 2}}]]', 'the key "a" stands twice in one object'),
        (b'{"a": {"x": 1}, "b": {}, "a": {"\\u003a": ":"}}', 'the key "a" stands twice in one object'),
        (b'{"a": 1, "a": ":"}', 'the key "a" stands twice in one object'),
        (b"9223372036854775808", "the number 9223372036854775808 does not fit 64 bits"),
        (b'{"n": [-9223372036854775809]}', "the number -9223372036854775809 does not fit 64 bits"),
        (b"12345678901234567890", "a number of 20 digits, at most 19 are allowed"),
        (b"[-12345678901234567890.5]", "a number of 20 digits, at most 19 are allowed"),
        (b"1" * 5000, "integer value out of range"),
        (b"[" * 65 + b"]" * 65, "nested deeper than 64"),
        (b'{"a":' * 65 + b"0" + b"}" * 65, "nested deeper than 64"),
        (b'["]",' * 65 + b"0" + b"]" * 65, "nested deeper than 64"),
        (b"[" * 100_000 + b"]" * 100_000, "nested deeper than 64"),
        (b'{"a":' * 100_000 + b"0" + b"}" * 100_000, "nested deeper than 64"),
        (b"[" * 100_000, "nested deeper than 64"),
    ],
)
def test_what_a_protocol_must_not_guess_about_is_malformed(raw: bytes, text: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_json(raw, WIRE)

    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("raw", "good"),
    [
        (b"[[[1]]]", True),
        (b"[[[[1]]]]", False),
        (b'{"a": [{"b": "[[["}]}', True),
        (b'{"a": [{"b": []}]}', False),
        (b'["[", ["]", ["[", {}]]]', False),
        (b'["[", ["]", ["[", "{}"]]]', True),
        (b"[1234, -1234]", True),
        (b"[12345]", False),
        (b"[-12345]", False),
        (b"[1234.56789, 1e-7]", True),
        (b"[12345.5]", False),
        (b"[12345e1]", False),
        (b'["12345"]', True),
    ],
)
def test_the_limits_of_the_wire_are_exact(raw: bytes, good: bool) -> None:
    if good:
        assert same(parse_json(raw, SMALL), json.loads(raw))
    else:
        with pytest.raises(Malformed):
            parse_json(raw, SMALL)


def test_more_digits_may_be_allowed_but_64_bits_stay() -> None:
    wide = Wire(digits_max=400)

    assert parse_json(b"123456789012345678901234.5", wide) == 123456789012345678901234.5
    with pytest.raises(Malformed, match="does not fit 64 bits"):
        parse_json(b"123456789012345678901234", wide)


def test_hostile_bytes_cost_no_more_than_their_length() -> None:
    for raw in (
        b"[" + b'{"a":1,"a":' * 30 + b"1" + b"}" * 30 + b"]",
        b'["' + b"\\\\" * 400_000 + b'"]',
        b'{"' + b":" * 900_000 + b'": 1, "' + b"9" * 99 + b'": 2}',
        b"[" + b"[]," * 300_000 + b"1]",
        b"[" + b"1234567890123456789," * 40_000 + b"1]",
    ):
        try:
            parse_json(raw, WIRE)
        except Malformed:
            assert len(raw) < 1000


# -- against Python's own parser ---------------------------------------------------------------------------------------


class TwiceError(ValueError):
    pass


def by_the_book(raw: bytes, wire: Wire) -> Any:
    """Return what Python's parser makes of it, with the documented differences; raises ValueError."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in found}) < len(found):
            raise TwiceError
        return dict(found)

    def whole(text: str) -> int:
        if len(text.lstrip("-")) > wire.digits_max or not -(2**63) <= int(text) < 2**63:
            raise ValueError(text)
        return int(text)

    def fraction(text: str) -> float:
        if (
            len(text.lower().split("e")[0].split(".")[0].lstrip("-")) > wire.digits_max
            or abs(float(text)) > sys.float_info.max
        ):
            raise ValueError(text)
        return float(text)

    def constant(text: str) -> Any:
        raise ValueError(text)

    text = raw.decode()
    value = json.loads(text, object_pairs_hook=pairs, parse_int=whole, parse_float=fraction, parse_constant=constant)
    json.dumps(value, ensure_ascii=False).encode()  # raises for a lone surrogate
    if depth_of(value) > wire.depth_max:
        raise ValueError("deep")
    return value


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


BITS = (
    """[ ] { } " , : "a": "b": "a" "][" "\\"" 0 1 - 12345 .5 e1 E+2 true null \\ "\\u003a" "\\u0061": "\\ud800" é NaN"""
)
bits = st.sampled_from([*(bit.encode() for bit in BITS.split()), b" ", b"\n", b"\xff"])
pieces = st.lists(bits, max_size=14).map(b"".join)
trees = st.recursive(
    st.sampled_from([b"1", b"-0", b"1.5e3", b'"a"', b'"]["', b'"{\\"}"', b"true", b"null", b"12345", b'"\\u003a:"']),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: b"[" + b", ".join(items) + b"]")
        | st.lists(st.tuples(st.sampled_from([b'"a"', b'"b"', b'"\\u0061"', b'":"']), inner), max_size=3).map(
            lambda found: b"{" + b",".join(key + b": " + value for key, value in found) + b"}"
        )
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(pieces | trees | st.binary(max_size=12), st.sampled_from([WIRE, SMALL]))
def test_json_is_valid_exactly_where_python_says_so_but_for_what_is_refused(raw: bytes, wire: Wire) -> None:
    try:
        value = parse_json(raw, wire)
    except Malformed:
        with pytest.raises(ValueError):  # noqa: PT011 - of any kind
            by_the_book(raw, wire)
    else:
        assert same(value, by_the_book(raw, wire))


# -- writing ---------------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(values, st.sampled_from(["json", "lines", "length"]))
def test_what_is_encoded_is_decoded_again_and_stands_in_one_line(value: Any, framing: Any) -> None:
    codec = Codec(Wire(framing=framing))

    raw = codec.encode(value)

    assert same(codec.decode(raw), value)
    assert b"\n" not in raw
    assert b"\r" not in raw


def test_frozen_values_are_encoded_like_the_plain_ones() -> None:
    assert Codec(WIRE).encode(Record(a=(1, Record()), b=None)) == b'{"a":[1,{}],"b":null}'


def test_text_framing_carries_the_text_as_it_is() -> None:
    codec = Codec(Wire(framing="text"))

    assert codec.encode("QUIT é") == b"QUIT \xc3\xa9"
    assert codec.decode(b'"1" [') == '"1" ['
    with pytest.raises(Malformed, match="not UTF-8"):
        codec.decode(b"a\xff")


@pytest.mark.parametrize("value", ["a\nb", "a\r", "\ud800", 12, None, ["a"]])
def test_text_framing_writes_one_line_of_text_only(value: Any) -> None:
    with pytest.raises(Mismatch):
        Codec(Wire(framing="text")).encode(value)


def test_a_lone_surrogate_cannot_be_written() -> None:
    with pytest.raises(Mismatch):
        Codec(WIRE).encode(["a", {"b": "\udc00"}])

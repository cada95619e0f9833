"""Bytes to values and back: JSON as strict as a protocol needs it, or plain text.

    refused as malformed    not UTF-8, a byte order mark, NaN and Infinity, a number too large for a float, a lone
                            surrogate, a control character in a text, equal keys in one object, a whole number outside
                            64 bits, an integer part longer than the wire's ``digits_max``, nesting over ``depth_max``
    as decoded              null true false, int, float, str, list, dict (as usual; shapes freeze them)

msgspec parses. What it lets pass is looked for by counting bytes, which clears nearly every message at once; only
what cannot be cleared so is parsed again, slowly and exactly. All of it takes time linear in the bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from machines.messages.scalars import INT_MAX, INT_MIN
from machines.messages.shapes import Mismatch, shown
from machines.model import CompositeFrame, Wire
from machines.wire.charset import encoded
from machines.wire.composite_framing import Cut
from machines.wire.depth import is_deeper, outside_texts
from machines.wire.frame_writing import packer
from machines.wire.framing import make_framer
from machines.work import CHARACTERS, spend

_ALL_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_SURROGATE: Final = re.compile(rb"\\u[dD][89abAB]")
# 64 bits hold 19 digits, but not all numbers of 19 digits.
_SAFE_DIGITS_MAX: Final = 18
# msgspec takes up to 10 us for a number with an exponent, Python 0.4 us, but for others it is the faster one.
_EXPONENTS_MAX: Final = 4
_EXPONENTS_BYTES_MIN: Final = 64  # what is shorter has too few of them to look for
_LONG_BYTES: Final = 4096  # of a message of ours that is counted as work: see `machines.work`


class Malformed(ValueError):  # noqa: N818 - the word that specs use for it
    """The bytes are no message at all; the text says why."""


class Codec:
    """How messages of one wire are written: ``decode`` and ``encode``.

    ``decode(raw)`` returns the value of one frame's payload: of JSON, or for ``framing: text`` the text. It raises
    Malformed. ``encode(value)`` returns the payload of a value that a message built; it raises Mismatch for a text
    with a lone surrogate, and for ``framing: text`` also if the value is no text, has a line end in it, or a character
    that the wire's ``charset`` has not.
    ``pack(value)`` returns it framed too: the bytes to write; it raises Mismatch besides for a message over the wire's
    ``message_bytes_max``, which no peer of the same spec would take. ``packs`` has what does so for the messages, by
    name, that have a frame of their own; ``decode`` takes those too.
    """

    __slots__ = ("decode", "encode", "pack", "packs")

    def __init__(self, wire: Wire, frames: Mapping[str, CompositeFrame] = {}) -> None:
        text = wire.framing == "text"
        latin = wire.charset == "latin-1"
        decode_text = _decode_latin_1 if latin else _decode_text
        self.decode: Callable[[bytes], Any] = decode_text if text else _decoder(wire.depth_max, wire.digits_max)
        if frames:
            self.decode = _cut_decoder(decode_text)
        most = wire.message_bytes_max
        self.packs = {message: _bounded(packer(frame, wire), most, 0) for message, frame in frames.items()}
        encode: Callable[[Any], bytes] = (_encode_latin_1 if latin else _encode_text) if text else _encode_json
        self.encode = encode
        wrap = make_framer(wire).wrap
        ends_with_newline = wire.framing in ("json", "lines") and wire.line_end == "lf"
        if ends_with_newline:
            self.pack: Callable[[Any], bytes] = _line_packer(most)
        else:  # what the framers count as no part of a message: the four bytes of its length, or its newline
            besides = 4 if wire.framing == "length" else 0 if frames else 1
            self.pack = _bounded(lambda value: wrap(encode(value)), most, besides)


def parse_json(raw: bytes, wire: Wire) -> Any:
    """Return the value of one JSON text; blanks around it are allowed.

    Raises:
        Malformed: it is not JSON, or is refused for one of the reasons above.
    """
    return _decoder(wire.depth_max, wire.digits_max)(raw)


@lru_cache(maxsize=64)
def _decoder(depth_max: int, digits_max: int) -> Callable[[bytes], Any]:
    parse = msgspec.json.Decoder().decode
    parse_exponents = msgspec.json.Decoder(float_hook=float).decode
    encode = msgspec.json.Encoder().encode
    # Digits made alike are found at a fifth of what a pattern takes.
    long_run = b"0" * (min(digits_max, _SAFE_DIGITS_MAX) + 1)

    def decode(raw: bytes) -> Any:
        # A text may hold brackets, so their number is only an upper bound of the depth. It is looked at first: what is
        # nested deeper than we take is not even built.
        keys = raw.count(b"{")
        if keys + raw.count(b"[") > depth_max and is_deeper(raw, depth_max):
            raise Malformed(f"nested deeper than {depth_max}")
        try:
            if len(raw) > _EXPONENTS_BYTES_MIN and raw.count(b"e") + raw.count(b"E") > _EXPONENTS_MAX:
                value = parse_exponents(raw)
            else:
                value = parse(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(_reason(error, raw)) from None
        # Written again without its equal keys, a value has fewer colons.
        if long_run in raw.translate(_ALL_ZEROS) or (keys and _has_fewer_colons(encode(value), raw)):
            _check_exactly(raw, digits_max)
        return value

    return decode


def _has_fewer_colons(again: bytes, raw: bytes) -> bool:
    """Compare two JSON texts; colons within their texts count too, unless an escape could hide one of them."""
    if b"\\" in raw:
        return outside_texts(raw).count(b":") != outside_texts(again).count(b":")
    return raw.count(b":") != again.count(b":")


def _check_exactly(raw: bytes, digits_max: int) -> None:
    """Raise Malformed for equal keys or a number over a limit in a text that is JSON."""

    def object_of(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) != len(dict(pairs)):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise Malformed(f"the key {shown(twice)} stands twice in one object")

    def whole(text: str) -> None:
        digits = len(text) - text.startswith("-")
        if digits > digits_max:
            raise Malformed(f"a number of {digits} digits, at most {digits_max} are allowed")
        if digits > _SAFE_DIGITS_MAX and (digits > _SAFE_DIGITS_MAX + 1 or not INT_MIN <= int(text) <= INT_MAX):
            raise Malformed(f"the number {shown(text)[1:-1]} does not fit 64 bits")

    def fraction(text: str) -> None:
        digits = len(re.split("[.eE]", text, maxsplit=1)[0].lstrip("-"))
        if digits > digits_max:
            raise Malformed(f"a number of {digits} digits, at most {digits_max} are allowed")

    try:
        json.loads(raw.decode(), object_pairs_hook=object_of, parse_int=whole, parse_float=fraction)
    except RecursionError:
        raise Malformed("nested too deep") from None


def _reason(error: Exception, raw: bytes) -> str:
    """Return why msgspec refused, for people."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    # Up to 0.22 msgspec raises what Python's decoder does, later an error of its own that says less.
    if isinstance(error, UnicodeDecodeError) or "UTF-8" in str(error):
        return f"not UTF-8: {_utf8_fault(raw)}"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark stands before it"
    text = str(error)
    if not raw.strip(b" \t\r\n"):
        return "nothing stands in it"
    if "surrogate" in text or ("truncated" in text and _SURROGATE.search(raw)):
        return "cut short, or a lone surrogate in it"
    return text[0].lower() + text[1:] if text.startswith(("Input", "Number", "Integer")) else text


def _utf8_fault(raw: bytes) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.reason
    return "a text in it is none"


_encode = msgspec.json.Encoder().encode


def _encode_json(value: Any) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:
        raise Mismatch((), "texts without lone surrogates", shown(value)) from None


def _line_packer(bytes_max: int) -> Callable[[Any], bytes]:
    """Return what encodes and adds the newline that the framers ``json`` and ``lines`` write: one call, not three."""
    framed_max = bytes_max + 1
    long = min(framed_max, _LONG_BYTES)

    def pack_line(value: Any) -> bytes:
        try:
            framed = _encode(value) + b"\n"
        except UnicodeEncodeError:
            return _encode_json(value)  # which says what is wrong
        if len(framed) > long:
            spend(len(framed) // CHARACTERS)
            if len(framed) > framed_max:
                raise _too_long(len(framed) - 1, bytes_max)
        return framed

    return pack_line


def _bounded(pack: Callable[[Any], bytes], bytes_max: int, besides: int) -> Callable[[Any], bytes]:
    """Return what packs the same, but nothing over a limit, for which ``besides`` bytes of the framing do not count."""

    def packed(value: Any) -> bytes:
        framed = pack(value)
        spend(len(framed) // CHARACTERS)
        if len(framed) > bytes_max + besides:
            raise _too_long(len(framed) - besides, bytes_max)
        return framed

    return packed


def _too_long(count: int, bytes_max: int) -> Mismatch:
    return Mismatch((), f"a message of at most {bytes_max} bytes (message_bytes_max)", f"one of {count}")


def _cut_decoder(decode_text: Callable[[bytes], str]) -> Callable[[bytes], Any]:
    """Return what decodes a line as ``decode_text`` does, and of a frame what its parts have said."""

    def decode(raw: bytes) -> Any:
        if type(raw) is not Cut:
            return decode_text(raw)
        if raw.why:
            raise Malformed(raw.why)
        return raw.value

    return decode


def _decode_text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {error.reason}") from None


def _decode_latin_1(raw: bytes) -> str:
    return raw.decode("latin-1")


def _encode_text(value: Any) -> bytes:
    return encoded(_without_line_end(value), "utf-8")


def _encode_latin_1(value: Any) -> bytes:
    return encoded(_without_line_end(value), "latin-1")


def _without_line_end(value: Any) -> str:
    if not isinstance(value, str) or "\n" in value or "\r" in value:
        raise Mismatch((), "a text without a line end", shown(value))
    return value

"""Bytes to values and back: JSON, as `machines.wire.json_text` has it, plain text, or messages with frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from machines.messages.shapes import Mismatch, shown
from machines.model import CompositeFrame, Wire
from machines.wire.charset import encoded
from machines.wire.composite_framing import Cut
from machines.wire.frame_writing import packer
from machines.wire.framing import make_framer
from machines.wire.json_text import Malformed as Malformed
from machines.wire.json_text import decoder, encode_json
from machines.wire.json_text import parse_json as parse_json
from machines.work import CHARACTERS, spend

_encode_lines: Final = msgspec.json.Encoder().encode_lines
_LONG_BYTES: Final = 4096  # of a message of ours that is counted as work: see `machines.work`


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
        self.decode: Callable[[bytes], Any] = decode_text if text else decoder(wire.depth_max, wire.digits_max)
        if frames:
            self.decode = _cut_decoder(decode_text)
        most = wire.message_bytes_max
        self.packs = {message: _bounded(packer(frame, wire), most, 0) for message, frame in frames.items()}
        encode: Callable[[Any], bytes] = (_encode_latin_1 if latin else _encode_text) if text else encode_json
        self.encode = encode
        wrap = make_framer(wire).wrap
        ends_with_newline = wire.framing in ("json", "lines") and wire.line_end == "lf"
        if ends_with_newline:
            self.pack: Callable[[Any], bytes] = _line_packer(most)
        else:  # what the framers count as no part of a message: the four bytes of its length, or its newline
            besides = 4 if wire.framing == "length" else 0 if frames else 1
            self.pack = _bounded(lambda value: wrap(encode(value)), most, besides)


def _line_packer(bytes_max: int) -> Callable[[Any], bytes]:
    """Return what encodes and adds the newline that the framers ``json`` and ``lines`` write: one call, not three."""
    framed_max = bytes_max + 1
    long = min(framed_max, _LONG_BYTES)

    def pack_line(value: Any) -> bytes:
        try:
            framed = _encode_lines((value,))
        except UnicodeEncodeError:
            return encode_json(value)  # which says what is wrong
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

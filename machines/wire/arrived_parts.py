"""The parts of a frame, each read at once from bytes that have all come: see `machines.wire.arrived_frames`.

A `Take` is called with the buffer, where in it the part begins, the counts so far, the values so far, and how many more
parts there may be, in a list of one. It notes what it counts and says, and returns where the part ends; or NOT_HERE if
bytes are missing or wrong, or there are too many parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from machines.frame_parts import (
    Count,
    FrameBits,
    FrameByte,
    FrameContent,
    FrameHeaders,
    FrameJson,
    FrameNumber,
    NumberKind,
    Rest,
    bytes_of,
)
from machines.messages.scalars import INT_MAX
from machines.model import FrameBytes, FrameLine, FramePart, FrameRepeat, FrameSize, FrameUntil, Wire
from machines.wire.byte_parts import VARINT_BYTES_MAX, read_bits
from machines.wire.frame_writing import LINE_ENDS
from machines.wire.framing import FrameError
from machines.wire.header_parts import CODING, HEADERS, LENGTH, decimal, headers_of, note_headers
from machines.wire.json_text import Malformed, decoder
from machines.wire.line_patterns import count_pattern, line_pattern

NOT_HERE: Final = -1
Take = Callable[[bytearray, int, dict[str, Any], list[Any], list[int]], int]
_Reader = Callable[[bytearray, int], tuple[int, int]]  # a number, and where it ends
_Sizes = Callable[[bytearray, int, dict[str, Any]], tuple[int, int]]  # a count, and where what it counts begins
_RETURN: Final = b"\r"[0]
KNOWN_MAX: Final = 256  # frames, of all specs, for which it is kept how they are cut
_takers: dict[tuple[int, int], tuple[Take, tuple[FramePart, ...], Wire]] = {}


def known_taker(parts: tuple[FramePart, ...], wire: Wire) -> Take:
    """Return what `taker` does, made once for each."""
    known = _takers.get((id(parts), id(wire)))
    if known is None:
        if len(_takers) >= KNOWN_MAX:
            _takers.clear()
        # What is kept alive beside it keeps its id to itself.
        known = _takers[id(parts), id(wire)] = taker(parts, wire), parts, wire
    return known[0]


def taker(parts: Sequence[FramePart], wire: Wire) -> Take:
    """Return what takes parts one after another."""
    takes = [_taker(part, wire) for part in parts]
    if len(takes) == 1:
        return takes[0]

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        for one in takes:
            at = one(buffer, at, counts, found, left)
            if at < 0:
                return NOT_HERE
        return at

    return take


def _taker(part: FramePart, wire: Wire) -> Take:
    match part:
        case FrameLine(None):
            return _any_line(wire)
        case FrameLine():
            return _line_like(part, wire)
        case FrameBytes(size):
            return _counted(size, _text_reader(wire.charset))
        case FrameJson(size):
            parse = decoder(wire.depth_max, wire.digits_max)
            return _counted(size, lambda raw: parse(bytes(raw)))
        case FrameUntil(mark):
            return _until(mark.encode(wire.charset), wire)
        case FrameRepeat():
            return _repeat(part, wire)
        case FrameSize():
            return _contents(part, wire)
        case FrameHeaders():
            return _headers(part, wire)
        case FrameContent():
            return _content(part, wire)
        case FrameByte(value):
            return _byte(value)
        case FrameNumber():
            return _number(part)
        case FrameBits():
            return _bits(part)


def _text_reader(charset: str) -> Callable[[bytearray], str]:
    return lambda raw: raw.decode(charset)


# -- lines -----------------------------------------------------------------------------------------------------------


def _line_at(buffer: bytearray, at: int, end: bytes) -> tuple[bytes, int]:
    """Return a line without its end, and where the next begins, NOT_HERE if it has no end yet."""
    stop = buffer.find(end, at)
    if stop < 0:
        return b"", NOT_HERE
    last = stop - 1 if end == b"\n" and stop > at and buffer[stop - 1] == _RETURN else stop
    return bytes(buffer[at:last]), stop + len(end)


def _any_line(wire: Wire) -> Take:
    end, charset = LINE_ENDS[wire.line_end], wire.charset

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        line, stop = _line_at(buffer, at, end)
        if b"\n" in line:
            return NOT_HERE
        try:
            found.append(line.decode(charset))
        except UnicodeDecodeError:
            return NOT_HERE
        return stop

    return take


def _line_like(part: FrameLine, wire: Wire) -> Take:
    end, charset = LINE_ENDS[wire.line_end], wire.charset
    pattern = line_pattern(part, charset)
    if pattern.plain and part.pattern is not None:
        return _line_of_counts(part.pattern, end, charset)
    values = [name for name, _ in part.values]

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        line, stop = _line_at(buffer, at, end)
        names = pattern.match(line) if stop >= 0 else None
        if names is None:
            return NOT_HERE
        counts.update(names)
        found += [names[name] for name in values]
        return stop

    return take


def _line_of_counts(pattern: tuple[str, ...], end: bytes, charset: str) -> Take:
    """Return what takes a line that holds but counts, or nothing at all."""
    names = pattern[1::2]
    match = re.compile(count_pattern(pattern, charset) + (rb"\r\n" if end == b"\r\n" else rb"\r?\n")).match
    only = names[0] if len(names) == 1 else ""

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        hit = match(buffer, at)
        if hit is None:
            return NOT_HERE
        if only:
            counts[only] = int(hit[1])
        elif names:
            counts.update(zip(names, map(int, hit.groups()), strict=True))
        return hit.end()

    return take


def _until(mark: bytes, wire: Wire) -> Take:
    end, charset = LINE_ENDS[wire.line_end], wire.charset
    ends = rb"\r\n" if end == b"\r\n" else rb"\r?\n"
    first = re.compile(re.escape(mark) + ends).match
    later = re.compile(rb"(?<=" + end + rb")" + re.escape(mark) + ends).search

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        hit = first(buffer, at) or later(buffer, at)
        if hit is None:
            return NOT_HERE
        try:
            found.append(unstuffed(bytes(buffer[at : hit.start()]), mark, end).decode(charset))
        except UnicodeDecodeError:
            return NOT_HERE
        return hit.end()

    return take


def unstuffed(content: bytes, mark: bytes, end: bytes) -> bytes:
    r"""Return the lines before a mark as they are meant, joined by \n."""
    if end == b"\n":
        content = content.replace(b"\r\n", end)
    return content.removesuffix(end).removeprefix(mark).replace(end + mark, end).replace(end, b"\n")


# -- what is counted -------------------------------------------------------------------------------------------------


def _sizes(count: Count) -> _Sizes:
    if isinstance(count, NumberKind):
        read = _number_reader(count)
        return lambda buffer, at, counts: read(buffer, at)
    if isinstance(count, Rest):
        return lambda buffer, at, counts: (len(buffer) - at, at)
    if isinstance(count, int):
        size = count
        return lambda buffer, at, counts: (size, at)
    name = count
    return lambda buffer, at, counts: (counts[name], at)


def _counted(count: Count, read: Callable[[bytearray], Any]) -> Take:
    sizes = _sizes(count)

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        size, at = sizes(buffer, at, counts)
        end = at + size
        if at < 0 or end > len(buffer):
            return NOT_HERE
        try:
            found.append(read(buffer[at:end]))
        except (UnicodeDecodeError, Malformed):
            return NOT_HERE
        return end

    return take


def _repeat(part: FrameRepeat, wire: Wire) -> Take:
    sizes, one, parts = _sizes(part.count), taker(part.parts, wire), len(part.parts)
    endless = isinstance(part.count, Rest)

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        times, at = (-1, at) if endless else sizes(buffer, at, counts)
        items: list[Any] = []
        names = dict(counts)
        while at >= 0 and len(items) != times and (times >= 0 or at < len(buffer)):
            left[0] -= parts
            if left[0] < 0:
                return NOT_HERE
            values: list[Any] = []
            at = one(buffer, at, names, values, left)
            items.append(values[0] if len(values) == 1 else values)
        found.append(items)
        return at

    return take


def _contents(part: FrameSize, wire: Wire) -> Take:
    sizes, inner, parts = _sizes(part.size), taker(part.parts, wire), len(part.parts)

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        size, at = sizes(buffer, at, counts)
        left[0] -= parts
        if at < 0 or left[0] < 0 or at + size > len(buffer):
            return NOT_HERE
        return at + size if inner(buffer[at : at + size], 0, dict(counts), found, left) == size else NOT_HERE

    return take


# -- headers ---------------------------------------------------------------------------------------------------------


def _headers(part: FrameHeaders, wire: Wire) -> Take:
    end, charset = LINE_ENDS[wire.line_end], wire.charset

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        lines = []
        while True:
            line, at = _line_at(buffer, at, end)
            left[0] -= 1
            if at < 0 or left[0] < 0:
                return NOT_HERE
            if not line:
                break
            lines.append(line)
        try:
            note_headers(part, headers_of(lines, charset), counts, found)
        except FrameError:
            return NOT_HERE
        return at

    return take


def _content(part: FrameContent, wire: Wire) -> Take:
    parse = decoder(wire.depth_max, wire.digits_max)
    read = _counted("", lambda raw: parse(bytes(raw)) if raw else None) if part.json else None
    read = read or _counted("", _text_reader(wire.charset))

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        length = counts[HEADERS].get(LENGTH, "0")
        if CODING in counts[HEADERS] or not decimal(length):
            return NOT_HERE
        return read(buffer, at, {"": int(length)}, found, left)

    return take


# -- bytes -----------------------------------------------------------------------------------------------------------


def _byte(value: int) -> Take:
    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        return at + 1 if at < len(buffer) and buffer[at] == value else NOT_HERE

    return take


def _number_reader(kind: NumberKind) -> _Reader:
    """Return what reads a number and says where it ends; (0, NOT_HERE) if bytes are missing or it is too large."""
    width, signed = kind.width, kind.signed
    if not width:
        return _varint_at
    if width == 1 and not signed:
        return lambda buffer, at: (buffer[at], at + 1) if at < len(buffer) else (0, NOT_HERE)
    ends: Literal["little", "big"] = "little" if kind.little else "big"

    def read(buffer: bytearray, at: int) -> tuple[int, int]:
        end = at + width
        if end > len(buffer):
            return 0, NOT_HERE
        value = int.from_bytes(buffer[at:end], ends, signed=signed)
        return (value, end) if value <= INT_MAX else (0, NOT_HERE)

    return read


def _varint_at(buffer: bytearray, at: int) -> tuple[int, int]:
    value = 0
    for end in range(at + 1, min(at + VARINT_BYTES_MAX, len(buffer)) + 1):
        byte = buffer[end - 1]
        value |= (byte & 0x7F) << 7 * (end - 1 - at)
        if byte < 0x80:
            return (value, end) if value <= INT_MAX else (0, NOT_HERE)
    return 0, NOT_HERE


def _number(part: FrameNumber) -> Take:
    read, name = _number_reader(part.kind), part.name

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        number, end = read(buffer, at)
        if name:
            counts[name] = number
        else:
            found.append(number)
        return end

    return take


def _bits(part: FrameBits) -> Take:
    width = bytes_of(part.bits)

    def take(buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], left: list[int]) -> int:
        end = at + width
        if end > len(buffer):
            return NOT_HERE
        try:
            names = read_bits(part, bytes(buffer[at:end]))
        except FrameError:
            return NOT_HERE
        counts.update(names)
        found += [names[name] for name in part.values]
        return end

    return take

"""Values to frames: each part is written from what the body says, as `machines.wire.composite_framing` reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

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
)
from machines.frame_values import values_of
from machines.messages.shapes import Mismatch, shown
from machines.model import (
    CompositeFrame,
    FrameBytes,
    FrameLine,
    FramePart,
    FrameRepeat,
    FrameSize,
    FrameUntil,
    Wire,
)
from machines.wire.byte_parts import encode_part, write_number, write_part
from machines.wire.charset import encoded
from machines.wire.header_parts import HEADERS, LENGTH, checked_headers, written_headers
from machines.wire.json_text import encode_json
from machines.wire.line_patterns import line_pattern

LINE_ENDS: Final = {"lf": b"\n", "crlf": b"\r\n"}


def packer(frame: CompositeFrame, wire: Wire) -> Callable[[Any], bytes]:
    """Return what writes the value of a message as a frame.

    What it returns raises Mismatch for a value that the frame cannot carry: no text where bytes or a line stand, a
    text of another length than a count already written, a line end within a line.
    """
    end = LINE_ENDS[wire.line_end]

    def pack(value: Any) -> bytes:
        return b"".join(_written(frame, value, {}, end, wire.charset))

    return pack


def _written(
    parts: Sequence[FramePart], value: Any, counts: dict[str, Any], end: bytes, charset: str
) -> Iterator[bytes]:
    """Yield the bytes of parts; ``counts`` has what was counted outside them."""
    width = sum(map(values_of, parts))
    given: Sequence[Any] = [value] if width == 1 else value
    if not isinstance(given, list | tuple) or len(given) != width:
        raise Mismatch((), f"a list of {width} for a frame", shown(value))
    yield from _sequence(parts, given, counts, end, charset)


def _sequence(
    parts: Sequence[FramePart], given: Sequence[Any], counts: dict[str, Any], end: bytes, charset: str
) -> Iterator[bytes]:
    """Yield the bytes of parts that say these values: first all are looked at, so that every count is known."""
    raws: list[Any] = []
    at = 0
    for part in parts:
        width = values_of(part)
        raws.append(_encoded_part(part, given[at : at + width], counts, end, charset))
        at += width
    for part, raw in zip(parts, raws, strict=True):
        match part:
            case FrameLine(pattern) if pattern is not None:
                yield encoded(line_pattern(part, charset).write(counts), charset) + end
            case FrameLine():
                yield raw + end
            case FrameBytes() | FrameSize() | FrameJson() | FrameContent():
                yield raw
            case FrameHeaders():
                yield from written_headers(part, counts, charset, end)
            case FrameByte() | FrameNumber() | FrameBits():
                yield write_part(part, raw, counts)
            case FrameUntil(mark):
                yield from _stuffed(raw, mark.encode(charset), end)
            case FrameRepeat(count, inner):
                yield _prefix(count, len(raw), counts)
                for item in raw:
                    yield from _written(inner, item, dict(counts), end, charset)


def _encoded_part(part: FramePart, given: Sequence[Any], counts: dict[str, Any], end: bytes, charset: str) -> Any:
    """Return what is to be written of a part: bytes, or a list for a repetition; note what it counts and names."""
    if isinstance(part, FrameLine) and part.pattern is not None:
        counts.update(zip((name for name, _ in part.values), given, strict=True))
        return b""
    if isinstance(part, FrameRepeat):
        if not isinstance(given[0], list | tuple):
            raise Mismatch((), "a list for a repetition", shown(given[0]))
        _prefix(part.count, len(given[0]), counts)
        return given[0]
    if isinstance(part, FrameByte | FrameNumber | FrameBits):
        return encode_part(part, given, counts)
    if isinstance(part, FrameSize):
        raw = b"".join(_sequence(part.parts, given, counts, end, charset))
        return _prefix(part.size, len(raw), counts) + raw
    if isinstance(part, FrameHeaders):
        counts[HEADERS] = checked_headers(part, given[0], charset) if given else {}
        return b""
    if isinstance(part, FrameContent):
        raw = encoded(given[0], charset) if not part.json else b"" if given[0] is None else encode_json(given[0])
        counts[LENGTH] = len(raw)
        return raw
    raw = encode_json(given[0]) if isinstance(part, FrameJson) else encoded(given[0], charset)
    if isinstance(part, FrameBytes | FrameJson):
        return _prefix(part.size, len(raw), counts) + raw
    if isinstance(part, FrameLine) and (b"\n" in raw or b"\r" in raw):
        raise Mismatch((), "a text without a line end", shown(given[0]))
    return raw


def _stuffed(raw: bytes, mark: bytes, end: bytes) -> Iterator[bytes]:
    if raw:
        for line in raw.replace(b"\r\n", b"\n").split(b"\n"):
            yield (mark if line.startswith(mark) else b"") + line + end
    yield mark + end


def _prefix(counted: Count, count: int, counts: dict[str, Any]) -> bytes:
    """Return what stands before so many bytes or items, if their number does; note it if a name has it."""
    if isinstance(counted, NumberKind):
        return write_number(counted, count)
    if isinstance(counted, Rest):
        return b""
    wanted = counts.setdefault(counted, count) if isinstance(counted, str) else counted
    if wanted != count:
        raise Mismatch((), f"{wanted} of them for a frame", str(count))
    return b""

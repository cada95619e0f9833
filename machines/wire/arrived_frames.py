"""Frames and lines whose bytes have all come, cut at once: a call for each part, and nothing that waits.

Nearly all messages come whole. What does not (a byte is missing), and all that is wrong or over a limit, is left to
`machines.wire.composite_framing`, which waits, and says what is wrong. So a frame is tried here once, from its first
byte, and what is found here is what is found there: tests cut the same bytes both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from machines.model import CompositeFrame, FrameLine, Wire
from machines.wire.arrived_parts import KNOWN_MAX, NOT_HERE, Take, taker
from machines.wire.byte_parts import Opening, opening_of
from machines.wire.line_patterns import line_pattern

# How many bytes of the stream were cut, the frame, None for a line, and what it says: of a line its bytes.
Arrived = tuple[int, CompositeFrame | None, Any]


class _Reading(NamedTuple):
    """How one frame is read from where its first line or its fixed bytes tell that it is this one."""

    frame: CompositeFrame
    take: Take
    parts: int  # of its own; those within repetitions are counted as they come


Cutter = Callable[[bytearray], Arrived | None]
_known: dict[tuple[Any, ...], tuple[Cutter, Wire, tuple[CompositeFrame, ...]]] = {}


def cutter(wire: Wire, frames: Sequence[CompositeFrame], lines: bool) -> Cutter:
    """Return what cuts the message that a buffer begins with, or None if that has to be left to others.

    ``lines`` says whether somebody wants a line that is no frame.
    """
    key = (id(wire), lines, *map(id, frames))
    known = _known.get(key)
    if known is None:
        if len(_known) >= KNOWN_MAX:
            _known.clear()
        # What is kept alive beside it keeps its id to itself.
        known = _known[key] = _cutter(wire, tuple(frames), lines), wire, tuple(frames)
    return known[0]


def opens_with_pattern(frame: CompositeFrame) -> bool:
    """Whether the first line or the first bytes tell if it is this frame."""
    return (isinstance(frame[0], FrameLine) and frame[0].pattern is not None) or bool(opening_of(frame).mask)


def _cutter(wire: Wire, frames: tuple[CompositeFrame, ...], lines: bool) -> Cutter:
    any_start = next((frame for frame in frames if not opens_with_pattern(frame)), None)
    if any_start is not None:
        only = _way(any_start, 0, wire)
        return lambda buffer: _cut(only, buffer, 0, {}, [], wire)
    opened = [(opening_of(frame), _way(frame, 0, wire)) for frame in frames]
    by_bytes = [(opening, way) for opening, way in opened if opening.mask]
    cut_line = _line_cutter(wire, frames)
    if not by_bytes:
        return cut_line
    may_be_line = lines or len(by_bytes) < len(frames)
    by_first: dict[int, list[tuple[Opening, _Reading]]] = {}

    def cut(buffer: bytearray) -> Arrived | None:
        first = buffer[0]
        likely = by_first.get(first)
        if likely is None:
            likely = by_first[first] = [one for one in by_bytes if one[0].begins(buffer[:1])]
        for opening, way in likely:
            wanted = len(opening.mask)
            if wanted == 1 or opening.begins(buffer):
                return _cut(way, buffer, 0, {}, [], wire) if len(buffer) >= wanted else None
        return cut_line(buffer) if may_be_line else None

    return cut


def _way(frame: CompositeFrame, begin: int, wire: Wire) -> _Reading:
    return _Reading(frame, taker(frame[begin:], wire), len(frame) - begin)


def _cut(
    way: _Reading, buffer: bytearray, at: int, counts: dict[str, Any], found: list[Any], wire: Wire
) -> Arrived | None:
    """Cut the parts of a frame that stand behind ``at``; ``counts`` and ``found`` are what stands before it."""
    if way.parts > wire.parts_max:
        return None
    end = way.take(buffer, at, counts, found, [wire.parts_max - way.parts])
    if end is NOT_HERE or not 0 < end <= wire.message_bytes_max:
        return None
    return (end, way.frame, found[0] if len(found) == 1 else found)


def _line_cutter(wire: Wire, frames: Sequence[CompositeFrame]) -> Cutter:
    """Return what cuts a line, or the first frame that opens with a line like it."""
    ways = []
    for frame in frames:
        part = frame[0]
        if isinstance(part, FrameLine) and part.pattern is not None:
            prefix = _shared_start([way[0] for way in (part.pattern, *part.shorter)]).encode(wire.charset)
            pattern = line_pattern(part, wire.charset)
            values = [name for name, _ in part.values]
            ways.append((prefix.lower() if part.any_case else b"", prefix, pattern.match, values, _way(frame, 1, wire)))

    def cut_line(buffer: bytearray) -> Arrived | None:
        end = buffer.find(b"\n")
        if end <= 0 or end >= wire.message_bytes_max:
            return None
        line = bytes(buffer[: end - 1 if buffer[end - 1] == _RETURN else end])
        if not line:
            return None
        for folded, prefix, match, values, way in ways:
            if folded:
                if line[: len(folded)].lower() != folded:
                    continue
            elif not line.startswith(prefix):
                continue
            counts = match(line)
            if counts is not None:
                return _cut(way, buffer, end + 1, counts, [counts[name] for name in values], wire)
        return (end + 1, None, line)

    return cut_line


def _shared_start(texts: Sequence[str]) -> str:
    """Return what all of these texts begin with."""
    shortest = min(texts, key=len)
    return next(
        shortest[:n] for n in range(len(shortest), -1, -1) if all(text.startswith(shortest[:n]) for text in texts)
    )


_RETURN: Final = b"\r"[0]

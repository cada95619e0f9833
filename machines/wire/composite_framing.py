r"""Frames made of parts: lines, counted bytes, lines up to a mark, repetitions; cut as whoever hears the peer expects.

    - line: "*${count}"        a line like this; its names are counts for the parts behind it, the others values
    - line                     a line, as a text
    - bytes: size              so many bytes, as a text
    - until: "."               lines up to this one, which is stuffed within them; one text, its lines joined by \n
    - repeat: count            so many times the parts under ``of``; a list
      of: […]
    - byte, number, bits       see `machines.wire.byte_parts`
    - size: count              the parts under ``of``, so many bytes together
      of: […]

A count is a number, a name, a kind of number that stands right before what it counts, or within a size its ``rest``.

The value of a frame is that of its only part that has one, else the list of them. The same parts write it again: a
count is what the part behind it has. What is no frame is a line, the text that stands on it.

Line ends are exact within a frame: under ``line_end: crlf`` a bare line feed ends nothing there, so that two programs
that read the same bytes cut them alike. A line that stands for itself, and the first of a frame, may end in either.

A frame whose first part is a pattern is taken if the first line is like it, one that begins with fixed bytes or bits if
those come. One that begins otherwise is taken whatever comes. Which frames there are is asked anew for each message,
when its first bytes are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

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
from machines.wire.arrived_frames import Cutter, cutter, opens_with_pattern
from machines.wire.arrived_parts import NOT_HERE, known_taker, unstuffed
from machines.wire.byte_parts import Opening, opening_of, read_number, read_part, unlike
from machines.wire.frame_writing import LINE_ENDS
from machines.wire.framing import BLANK_LINES, FrameError, TooLongError
from machines.wire.header_parts import HEADERS, read_content, read_headers
from machines.wire.json_text import Malformed, decoder
from machines.wire.line_patterns import line_pattern

_Step = Generator[None, None, Any]


class Cut(bytes):
    """A whole frame: as long as what it took; ``value`` is what it says, ``why`` is why it says nothing, if so.

    It is read nowhere as bytes, so it has none of its own.
    """

    frame: CompositeFrame
    size: int
    value: Any
    why: str

    def __new__(cls, size: int, frame: CompositeFrame, value: Any, why: str = "") -> Cut:
        """Make one of a size, in bytes."""
        found = _new(cls)
        found.size = size
        found.frame = frame
        found.value = value
        found.why = why
        return found

    def __len__(self) -> int:
        """Return how many bytes it took."""
        return self.size


_new: Callable[[type[Cut]], Cut] = bytes.__new__


class PartsFramer:
    """Cuts lines and frames. The limits hold for a whole frame: bytes, and how many parts it has."""

    __slots__ = (
        "_bad",
        "_buffer",
        "_bytes_max",
        "_charset",
        "_counts",
        "_cut",
        "_end",
        "_error",
        "_first",
        "_frames",
        "_lines",
        "_marks",
        "_matchers",
        "_openings",
        "_parts_max",
        "_running",
        "_scanned",
        "_size",
        "_wanted",
        "_whole",
        "_wire",
    )  # fmt: skip

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._bytes_max = wire.message_bytes_max
        self._parts_max = wire.parts_max
        self._end = LINE_ENDS[wire.line_end]
        self._charset = wire.charset
        self._whole: CompositeFrame | None = None  # the frame that is read, if it began whatever came
        self._buffer = bytearray()
        self._scanned = 0  # no newline stands before it
        self._size = 0  # bytes taken of the present frame
        self._counts = 0  # parts of it
        self._bad = ""  # why it cannot be what it seems
        self._first = True  # whether its first line is still to come
        self._running: _Step | None = None
        self._matchers: dict[int, tuple[FrameLine, Callable[[bytes], dict[str, Any] | None]]] = {}  # by its line's id
        self._marks: dict[bytes, re.Pattern[bytes]] = {}  # what finds the line that ends the others
        self._openings: dict[int, tuple[CompositeFrame, Opening | None]] = {}  # by its frame's id
        self._lines = True  # whether what is no frame may be a line
        self._error: FrameError | None = None
        self._frames: Sequence[CompositeFrame] | None = None  # of which ``_cut`` cuts those that have come whole
        self._wanted = True  # whether it cuts lines too
        self._cut: Cutter

    @property
    def waiting(self) -> int:
        """Count the bytes that are not part of a frame taken out."""
        return len(self._buffer) + self._size

    @property
    def partial(self) -> bool:
        """Say whether a message has begun that is not whole."""
        return self.waiting > 0

    def feed(self, chunk: bytes) -> None:
        """Take in bytes; see `machines.wire.framing.Framer.feed`."""
        if self._error is None:
            self._buffer += chunk

    def try_single_message(self, chunk: bytes) -> bytes | None:
        """Return None: what a chunk is, only who hears the peer can tell."""
        return None

    def next(self, frames: Sequence[CompositeFrame] = (), *, lines: bool = True) -> bytes | None:
        """Return the next line or frame, or None if more bytes are needed. Without ``lines`` nobody wants a line.

        Raises:
            FrameError: it is too long, has too many parts, a part within it is not like its pattern, or it begins
                like none of the frames, all of which begin with fixed bytes, and nobody wants a line.
        """
        if self._error is not None:
            raise self._error
        self._lines = lines
        if self._running is None and self._buffer:
            if frames is not self._frames or lines is not self._wanted:
                self._frames, self._wanted = frames if isinstance(frames, tuple) else None, lines
                self._cut = cutter(self._wire, frames, lines)
            whole = self._cut(self._buffer)
            if whole is not None:
                size, frame, value = whole
                del self._buffer[:size]
                return value if frame is None else Cut(size, frame, value)
        if self._running is None or self._first:
            if not self._buffer:
                return None
            self._running = self._message(frames)
        try:
            next(self._running)
        except StopIteration as done:
            self._running = None
            self._first = True
            self._size = self._counts = 0
            self._bad = ""
            payload: bytes = done.value
            return payload
        except FrameError as error:
            self._error = error
            self._running = None
            self._buffer = bytearray()
            self._size = 0
            raise
        return None

    def finish(self) -> bytes | None:
        """Return a last line without its end, also as a frame that is one line; no other that has begun is whole."""
        whole = None if self._first else self._whole
        if not self._buffer or not (
            (self._first and self._lines) or (whole is not None and len(whole) == 1 and _is_any_line(whole[0]))
        ):
            return None
        line = bytes(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        if whole is None:
            return line
        self._running, self._first = None, True
        return Cut(len(line), whole, self._text(line), self._bad)

    def wrap(self, payload: bytes) -> bytes:
        """Return the bytes of one line."""
        return payload + LINE_ENDS[self._wire.line_end]

    # -- cutting -----------------------------------------------------------------------------------------------------

    def _message(self, frames: Sequence[CompositeFrame]) -> _Step:
        whole = self._whole = next((frame for frame in frames if self._opening(frame) is None), None)
        while True:
            opened = whole or (yield from self._opened(frames))
            if opened is not None:
                self._first = False
                value = yield from self._parts(opened, {}, [])
                return Cut(self._size, opened, value, self._bad)
            # An empty line between messages is nothing; all that have come are skipped in one step.
            if self._scanned == 0 and (blank := BLANK_LINES.match(self._buffer)) is not None:
                del self._buffer[: blank.end()]
                continue
            line = yield from self._line(b"\n")
            if line:
                break
            self._size = 0
        self._first = False
        for frame in frames:
            opening = frame[0]
            names = self._match(opening, line) if isinstance(opening, FrameLine) else None
            if names is not None and isinstance(opening, FrameLine):
                value = yield from self._parts(frame[1:], names, [names[name] for name, _ in opening.values])
                return Cut(self._size, frame, value, self._bad)
        return line

    def _opening(self, frame: CompositeFrame) -> Opening | None:
        """Return the bytes that a frame begins with: none for one with a line, None for one that takes what comes."""
        known = self._openings.get(id(frame))
        if known is None:
            known = self._openings[id(frame)] = frame, opening_of(frame) if opens_with_pattern(frame) else None
        return known[1]

    def _opened(self, frames: Sequence[CompositeFrame]) -> _Step:
        """Return the first frame whose fixed bytes come, None if what comes is a line."""
        openings = [(frame, opening) for frame in frames if (opening := self._opening(frame)) and opening.mask]
        self._lines = self._lines or not openings or len(openings) < len(frames)
        while openings:
            like = next((one for one in openings if one[1].begins(self._buffer)), None)
            if like is not None and len(self._buffer) >= len(like[1].mask):
                return like[0]
            if like is None and self._lines:
                return None
            if like is None:
                raise FrameError(f"no message begins with {unlike(self._buffer, [opening for _, opening in openings])}")
            yield
        return None

    def _match(self, part: FrameLine, line: bytes) -> dict[str, Any] | None:
        known = self._matchers.get(id(part))
        if known is None:
            known = self._matchers[id(part)] = part, line_pattern(part, self._charset).match
        return known[1](line)

    def _parts(self, parts: Sequence[FramePart], names: Mapping[str, Any], found: list[Any]) -> _Step:
        """Take parts; ``names`` has what was counted before them, ``found`` the values."""
        counts = dict(names)
        for part in parts:
            self._counts += 1
            if self._counts > self._parts_max:
                raise TooLongError(f"a message has more than {self._parts_max} parts")
            match part:
                case FrameLine(None):
                    found.append(self._line_text((yield from self._line(self._end))))
                case FrameLine():
                    line = yield from self._line(self._end)
                    counted = self._match(part, line)
                    if counted is None:
                        raise FrameError(f"a line like {written(part)} is wanted, not {line[:40]!r}")
                    counts.update(counted)
                    found += [counted[name] for name, _ in part.values]
                case FrameBytes(size):
                    found.append(self._text((yield from self._bytes((yield from self._count(size, counts))))))
                case FrameUntil(mark):
                    found.append((yield from self._until(mark.encode(self._charset))))
                case FrameRepeat(count, inner):
                    found.append((yield from self._repeat(count, inner, counts)))
                case FrameSize(size, inner):
                    yield from self._contents((yield from self._count(size, counts)), inner, counts, found)
                case FrameJson(size):
                    found.append(self._json((yield from self._bytes((yield from self._count(size, counts))))))
                case FrameHeaders():
                    yield from read_headers(part, self._counted_line, self._charset, counts, found)
                case FrameContent(json):
                    raw = yield from read_content(self._counted_line, self._bytes, counts[HEADERS])
                    found.append((self._json(raw) if raw else None) if json else self._text(raw))
                case FrameByte() | FrameNumber() | FrameBits():
                    yield from read_part(part, self._bytes, counts, found)
        return found[0] if len(found) == 1 else found

    def _json(self, raw: bytes) -> Any:
        try:
            return decoder(self._wire.depth_max, self._wire.digits_max)(raw)
        except Malformed as error:
            self._bad = str(error)
            return None

    def _count(self, count: Count, counts: Mapping[str, Any]) -> _Step:
        if isinstance(count, NumberKind):
            return (yield from read_number(count, self._bytes))
        if isinstance(count, Rest):
            return len(self._buffer)
        return count if isinstance(count, int) else counts[count]

    def _arrived(
        self, parts: CompositeFrame, buffer: bytearray, counts: Mapping[str, Any], found: list[Any], size: int = 0
    ) -> int:
        """Read parts that have all come, of a size if any; return where they end, NOT_HERE for nothing done."""
        values: list[Any] = []
        left = [self._parts_max - self._counts - len(parts)]
        end = known_taker(parts, self._wire)(buffer, 0, dict(counts), values, left) if left[0] >= 0 else NOT_HERE
        if end <= 0 or (size and end != size):
            return NOT_HERE
        self._counts = self._parts_max - left[0]
        found += values
        return end

    def _repeat(self, count: Count, parts: CompositeFrame, counts: Mapping[str, Any]) -> _Step:
        items: list[Any] = []
        times = -1 if isinstance(count, Rest) else (yield from self._count(count, counts))
        while len(items) != times and (times >= 0 or self._buffer):
            values: list[Any] = []
            end = self._arrived(parts, self._buffer, counts, values)
            if end > 0:
                self._took(end)
                items.append(values[0] if len(values) == 1 else values)
            else:
                items.append((yield from self._parts(parts, counts, [])))
        return items

    def _contents(self, size: int, parts: CompositeFrame, counts: Mapping[str, Any], found: list[Any]) -> _Step:
        """Read parts that have so many bytes together. What is wrong within them costs this message only."""
        content = bytearray((yield from self._bytes(size)))
        if size and self._arrived(parts, content, counts, found, size) == size:
            return
        behind, taken = self._buffer, self._size
        self._buffer = content
        self._size -= size
        try:
            for _ in self._parts(parts, counts, found):
                raise FrameError(f"its {size} bytes end before its parts do")
            if self._buffer:
                raise FrameError(f"of its {size} bytes {len(self._buffer)} are left over")
        except TooLongError:
            raise
        except FrameError as error:
            self._bad = self._bad or str(error)
        finally:
            self._buffer, self._size, self._scanned = behind, taken, 0

    def _line(self, end: bytes) -> _Step:
        """Take a line up to its end; a bare line feed lets a carriage return before it be part of the end."""
        while True:
            found = self._buffer.find(end, self._scanned)
            if found >= 0:
                line = bytes(self._buffer[:found])
                self._took(found + len(end))
                return line[:-1] if line.endswith(b"\r") and end == b"\n" else line
            self._check(len(self._buffer))
            self._scanned = max(0, len(self._buffer) - len(end) + 1)  # the last byte may begin an end
            yield

    def _counted_line(self) -> _Step:
        """Take a line that is a part by itself."""
        self._counts += 1
        if self._counts > self._parts_max:
            raise TooLongError(f"a message has more than {self._parts_max} parts")
        return (yield from self._line(self._end))

    def _line_text(self, line: bytes) -> str:
        if b"\n" in line:
            self._bad = "a line feed within a line, where lines end in carriage return and line feed"
        return self._text(line)

    def _bytes(self, size: int) -> _Step:
        self._check(size)
        while len(self._buffer) < size:
            yield
        found = bytes(self._buffer[:size])
        self._took(size)
        return found

    def _until(self, mark: bytes) -> _Step:
        end = self._end
        if mark not in self._marks:
            ends = rb"\r\n" if end == b"\r\n" else rb"\r?\n"
            self._marks[mark] = re.compile(rb"(?:\A|(?<=" + end + rb"))" + re.escape(mark) + ends)
        while (found := self._marks[mark].search(self._buffer, self._scanned)) is None:
            self._check(len(self._buffer))
            # Where the line begins that is not whole; if it is too long for the mark, the next one, which is to come.
            last = self._buffer.rfind(end, max(0, self._scanned - len(end) + 1))
            begin = self._scanned if last < 0 else last + len(end)
            whole = len(self._buffer)
            self._scanned = whole if whole - begin > len(mark) + len(LINE_ENDS["crlf"]) else begin
            yield
        content = bytes(self._buffer[: found.start()])
        self._took(found.end())
        return self._text(unstuffed(content, mark, end))

    def _took(self, size: int) -> None:
        self._check(size)
        self._size += size
        del self._buffer[:size]
        self._scanned = 0

    def _check(self, more: int) -> None:
        if self._size + more > self._bytes_max:
            raise TooLongError(f"a message is longer than {self._bytes_max} bytes")

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode(self._charset)
        except UnicodeDecodeError as error:
            self._bad = f"not UTF-8: {error.reason}"
            return ""


def _is_any_line(part: FramePart) -> bool:
    return isinstance(part, FrameLine) and part.pattern is None


def written(part: FrameLine) -> str:
    """Return a line's pattern as a spec has it."""
    if part.shorter:
        return repr(part.text)
    return repr("".join(text if not index % 2 else f"${{{text}}}" for index, text in enumerate(part.pattern or ())))

r"""Frames made of parts: lines, counted bytes, lines up to a mark, repetitions; cut as whoever hears the peer expects.

    - line: "*${count}"        a line like this; its names are counts for the parts behind it, the others values
    - line                     a line, as a text
    - bytes: size              so many bytes, as a text
    - until: "."               lines up to this one, which is stuffed within them; one text, its lines joined by \n
    - repeat: count            so many times the parts under ``of``; a list
      of: […]

The value of a frame is that of its only part that has one, else the list of them. The same parts write it again: a
count is what the part behind it has. What is no frame is a line, the text that stands on it.

Line ends are exact within a frame: under ``line_end: crlf`` a bare line feed ends nothing there, so that two programs
that read the same bytes cut them alike. A line that stands for itself, and the first of a frame, may end in either.

A frame whose first part is a pattern is taken if the first line is like it. One that begins otherwise is taken
whatever comes. Which frames there are is asked anew for each message, when its first bytes are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from machines.messages.shapes import Mismatch, shown
from machines.model import CompositeFrame, FrameBytes, FrameLine, FramePart, FrameRepeat, FrameUntil, Wire, values_of
from machines.wire.charset import encoded
from machines.wire.framing import FrameError, TooLongError
from machines.wire.line_patterns import line_pattern

_Step = Generator[None, None, Any]
_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n"}


class Cut(bytes):
    """A whole frame: as long as what it took; ``value`` is what it says, ``why`` is why it says nothing, if so."""

    frame: CompositeFrame
    value: Any
    why: str

    def __new__(cls, size: int, frame: CompositeFrame, value: Any, why: str = "") -> Cut:
        """Make one of a size, in bytes."""
        found = super().__new__(cls, size)
        found.frame = frame
        found.value = value
        found.why = why
        return found


def opens_with_pattern(frame: CompositeFrame) -> bool:
    """Whether the first line tells if it is this frame."""
    return isinstance(frame[0], FrameLine) and frame[0].pattern is not None


class PartsFramer:
    """Cuts lines and frames. The limits hold for a whole frame: bytes, and how many parts it has."""

    __slots__ = ("_bad", "_buffer", "_bytes_max", "_charset", "_counts", "_end", "_error", "_first", "_marks",
                 "_matchers", "_parts_max", "_running", "_scanned", "_size", "_whole", "_wire")  # fmt: skip

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._bytes_max = wire.message_bytes_max
        self._parts_max = wire.parts_max
        self._end = _LINE_ENDS[wire.line_end]
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
        self._error: FrameError | None = None

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

    def next(self, frames: Sequence[CompositeFrame] = ()) -> bytes | None:
        """Return the next line or frame, or None if more bytes are needed.

        Raises:
            FrameError: it is too long, has too many parts, or a line within it is not like its pattern.
        """
        if self._error is not None:
            raise self._error
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
        if not self._buffer or not (self._first or (whole is not None and len(whole) == 1 and _is_any_line(whole[0]))):
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
        return payload + _LINE_ENDS[self._wire.line_end]

    # -- cutting -----------------------------------------------------------------------------------------------------

    def _message(self, frames: Sequence[CompositeFrame]) -> _Step:
        whole = self._whole = next((frame for frame in frames if not opens_with_pattern(frame)), None)
        if whole is not None:
            self._first = False
            value = yield from self._parts(whole, {}, [])
            return Cut(self._size, whole, value, self._bad)
        while True:
            line = yield from self._line(b"\n")
            if line:
                break
            self._size = 0  # an empty line between messages is nothing
        self._first = False
        for frame in frames:
            opening = frame[0]
            assert isinstance(opening, FrameLine), "the others begin whatever comes"
            names = self._match(opening, line)
            if names is not None:
                value = yield from self._parts(frame[1:], names, [names[name] for name, _ in opening.values])
                return Cut(self._size, frame, value, self._bad)
        return line

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
                    found.append(self._text((yield from self._bytes(size if isinstance(size, int) else counts[size]))))
                case FrameUntil(mark):
                    found.append((yield from self._until(mark.encode(self._charset))))
                case FrameRepeat(count, inner):
                    items = []
                    for _ in range(count if isinstance(count, int) else counts[count]):
                        items.append((yield from self._parts(inner, counts, [])))
                    found.append(items)
        return found[0] if len(found) == 1 else found

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
            # Where the line begins that is not whole.
            self._scanned = self._buffer.rfind(end) + len(end) if end in self._buffer else 0
            yield
        content = bytes(self._buffer[: found.start()])
        self._took(found.end())
        if end == b"\n":
            content = content.replace(b"\r\n", end)
        content = content.removesuffix(end).removeprefix(mark).replace(end + mark, end)
        return self._text(content.replace(end, b"\n"))

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
    return repr("".join(text if not index % 2 else f"${{{text}}}" for index, text in enumerate(part.pattern or ())))


# -- writing ---------------------------------------------------------------------------------------------------------


def packer(frame: CompositeFrame, wire: Wire) -> Callable[[Any], bytes]:
    """Return what writes the value of a message as a frame.

    What it returns raises Mismatch for a value that the frame cannot carry: no text where bytes or a line stand, a
    text of another length than a count already written, a line end within a line.
    """
    end = _LINE_ENDS[wire.line_end]

    def pack(value: Any) -> bytes:
        return b"".join(_written(frame, value, {}, end, wire.charset))

    return pack


def _written(
    parts: Sequence[FramePart], value: Any, counts: dict[str, Any], end: bytes, charset: str
) -> Iterator[bytes]:
    """Yield the bytes of parts; ``counts`` has what was counted outside them."""
    widths = [values_of(part) for part in parts]
    given: Sequence[Any] = [value] if sum(widths) == 1 else value
    if not isinstance(given, list | tuple) or len(given) != sum(widths):
        raise Mismatch((), f"a list of {sum(widths)} for a frame", shown(value))
    raws: list[Any] = []
    at = 0
    for part, width in zip(parts, widths, strict=True):
        raws.append(_encoded_part(part, given[at : at + width], counts, charset))
        at += width
    for part, raw in zip(parts, raws, strict=True):
        match part:
            case FrameLine(pattern) if pattern is not None:
                yield encoded(line_pattern(part, charset).write(counts), charset) + end
            case FrameLine():
                yield raw + end
            case FrameBytes():
                yield raw
            case FrameUntil(mark):
                yield from _stuffed(raw, mark.encode(charset), end)
            case FrameRepeat(_, inner):
                for item in raw:
                    yield from _written(inner, item, dict(counts), end, charset)


def _encoded_part(part: FramePart, given: Sequence[Any], counts: dict[str, Any], charset: str) -> Any:
    """Return what is to be written of a part: bytes, or a list for a repetition; note what it counts and names."""
    if isinstance(part, FrameLine) and part.pattern is not None:
        counts.update(zip((name for name, _ in part.values), given, strict=True))
        return b""
    if isinstance(part, FrameRepeat):
        if not isinstance(given[0], list | tuple):
            raise Mismatch((), "a list for a repetition", shown(given[0]))
        _count(part.count, len(given[0]), counts)
        return given[0]
    raw = encoded(given[0], charset)
    if isinstance(part, FrameBytes):
        _count(part.size, len(raw), counts)
    elif isinstance(part, FrameLine) and (b"\n" in raw or b"\r" in raw):
        raise Mismatch((), "a text without a line end", shown(given[0]))
    return raw


def _stuffed(raw: bytes, mark: bytes, end: bytes) -> Iterator[bytes]:
    if raw:
        for line in raw.replace(b"\r\n", b"\n").split(b"\n"):
            yield (mark if line.startswith(mark) else b"") + line + end
    yield mark + end


def _count(named: int | str, count: int, counts: dict[str, int]) -> None:
    wanted = counts.setdefault(named, count) if isinstance(named, str) else named
    if wanted != count:
        raise Mismatch((), f"{wanted} of them for a frame", str(count))

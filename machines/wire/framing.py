"""Bytes to frames and back: where one message ends and the next begins, for the four framings of ``wire``.

    json      JSON values back to back, or with blanks between them; written with a newline after each
    lines     one value a line; an empty line is nothing, a carriage return before the newline too
    text      the same cut; what stands on the line is the message
    length    four bytes, big-endian: how many bytes follow

No sockets here, and no decoding: bytes come in by `feed`, frames are taken out by `next`, one at a time, when somebody
wants them. The cost is linear in the bytes however they arrive: parsing again whenever more has come took 148 s of
CPU for 100 kB sent byte by byte, so the json framing keeps its place instead (position, depth, in a text or not).

A `FrameError` ends a stream: where the next message would begin is no longer known. What is wrong *inside* a
frame, such as ``[1,,2}``, is found by the codec and costs that message only.
"""

from __future__ import annotations

import re
from struct import Struct
from typing import Final, Protocol

import msgspec

from machines.model import Wire
from machines.wire.depth import brackets_of, depths, first_end, is_deeper, still_wanted, take_small, without_escapes

BLANKS: Final = b" \t\r\n"
BLANK_LINES: Final = re.compile(rb"(?:\r?\n)+")
LENGTH: Final = Struct(">I")

# In this many bytes from where a value begins, a newline is looked for that might end it. A bound, because looking
# through the whole buffer for each of many small values would be quadratic.
LINE_GUESS_BYTES: Final = 4096
# The end of a value is looked for in blocks, each twice as long as the last: so small values cost little.
BLOCK_BYTES_MIN: Final = 64
BLOCK_BYTES_MAX: Final = 1 << 16

_QUOTE, _BACKSLASH, _RETURN = b'"\\\r'
_OPENERS: Final = b"[{"
_LITERALS: Final = {b"t"[0]: b"true", b"f"[0]: b"false", b"n"[0]: b"null"}
_NUMBER_STARTS: Final = b"-0123456789"
_STARTS: Final = b'[{"tfn' + _NUMBER_STARTS
_PAIRS: Final = {b"["[0]: b"]"[0], b"{"[0]: b"}"[0], _QUOTE: _QUOTE}

_not_blank = re.compile(rb"[^ \t\r\n]").search
_number_stop = re.compile(rb"[^-+0-9.eE]").search
_is_one_value = msgspec.json.Decoder(msgspec.Raw).decode


class FrameError(Exception):
    """The bytes can't be cut into messages any more; the text says why, for the peer's owner to read."""


class TooLongError(FrameError):
    """A message is longer, or of more parts, than the limits of the spec let it be."""


class Framer(Protocol):
    """Cuts one peer's bytes. After a FrameError every `next` raises it again and bytes are thrown away."""

    @property
    def waiting(self) -> int:
        """How many bytes have come and are not taken out yet."""

    @property
    def partial(self) -> bool:
        """Has a message begun that is not whole, as far as `next` has looked?"""

    def feed(self, chunk: bytes) -> None:
        """Take in bytes as they arrived. Nothing is looked at yet."""

    def next(self) -> bytes | None:
        """Return the next whole frame's payload, or None if more bytes are needed.

        Raises:
            FrameError: a message is too long or too deep, announces too great a length, or can't begin like this.
        """

    def try_single_message(self, chunk: bytes) -> bytes | None:
        """Return the payload of a chunk that looks like just one whole message, while nothing else waits, or None.

        The chunk is not taken in. Under ``json`` it is one message for certain only if it can also be decoded.
        """

    def finish(self) -> bytes | None:
        """Return the last payload if only the end of the stream ends it: a bare number, a line without newline.

        Call it once, when `next` has returned None and no more will come.
        """

    def wrap(self, payload: bytes) -> bytes:
        """Return the bytes to write for one message. A payload that would break the framing is our own fault."""


def make_framer(wire: Wire) -> Framer:
    """Return a framer for one connection."""
    match wire.framing:
        case "json":
            return JsonFramer(wire.message_bytes_max, wire.depth_max)
        case "lines" | "text":
            return LineFramer(wire.message_bytes_max, b"\r\n" if wire.line_end == "crlf" else b"\n")
        case "length":
            return LengthFramer(wire.message_bytes_max)


def _over_bytes(bytes_max: int) -> FrameError:
    return TooLongError(f"a message is longer than {bytes_max} bytes")


_NEVER_USED = bytearray()  # the buffer of all who need none: nothing is ever put into it


class JsonFramer:
    """Finds the ends of JSON values by their brackets and quotes.

    Arrays, objects, texts and ``true false null`` end by themselves: ``truetrue`` is two values. ``12`` may go on as
    ``123``, so a number ends where something else begins, at a blank, or at the end of the stream. A bracket that
    closes what another opened ends the value, too: ``{"a": [1, }`` is a frame, which the codec then refuses, and not
    half of one. An array in an array has depth 2.
    """

    __slots__ = ("_buffer", "_bytes_max", "_chunk", "_depth_max", "_error", "_in_text", "_position", "_wanted")

    def __init__(self, bytes_max: int, depth_max: int) -> None:
        self._bytes_max = bytes_max
        self._depth_max = depth_max
        self._chunk = b""  # One chunk as it came, while the buffer is empty: nearly always a whole message.
        self._buffer = _NEVER_USED
        self._position = 0  # In the buffer; 0 where a value is still to begin. Never behind a backslash that escapes.
        self._wanted = b""  # the brackets that close what is open, outermost first
        self._in_text = False
        self._error: FrameError | None = None

    @property
    def waiting(self) -> int:
        """Count the bytes not taken out yet."""
        return len(self._buffer) + len(self._chunk)

    @property
    def partial(self) -> bool:
        """Say whether a message has begun that is not whole."""
        return self._position > 0

    def feed(self, chunk: bytes) -> None:
        """Take in bytes; see `Framer.feed`."""
        if self._buffer:
            self._buffer += chunk
        elif self._chunk:
            self._buffer = bytearray(self._chunk)
            self._buffer += chunk
            self._chunk = b""
        elif self._error is None:
            self._chunk = chunk

    def try_single_message(self, chunk: bytes) -> bytes | None:
        """Return what may be the only payload of a chunk, without the blanks around it: see `Framer`."""
        if self._chunk or self._buffer or self._error is not None or not 1 < len(chunk) <= self._bytes_max:
            return None
        return chunk.strip(BLANKS) if chunk[0] in _PAIRS else None  # a number may go on in the next chunk

    def next(self) -> bytes | None:
        """Return the next payload or None; see `Framer.next`."""
        if self._chunk:
            chunk = self._chunk.strip(BLANKS)
            whole = self._is_whole(chunk)
            if not whole:
                self._buffer = bytearray(self._chunk)
            self._chunk = b""
            if whole:
                return chunk
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        if not buffer:
            return None
        if not self._position and (small := take_small(buffer, self._bytes_max, self._depth_max)):
            return small
        try:
            end = self._end() if self._position else self._begin()
        except FrameError as error:
            self._error = error
            self._buffer = _NEVER_USED
            self._position = 0
            raise
        return None if end is None else self._take(end)

    def finish(self) -> bytes | None:
        """Return what only the end of the stream ends; see `Framer.finish`."""
        # A number is the only value that is outside brackets and quotes and has begun.
        if self._position and not self._wanted and not self._in_text and self._buffer[0] in _NUMBER_STARTS:
            return self._take(len(self._buffer))
        return None

    @staticmethod
    def wrap(payload: bytes) -> bytes:
        """Return the bytes to write; see `Framer.wrap`."""
        return payload + b"\n"

    def _is_whole(self, chunk: bytes) -> bool:
        """Is the chunk one value that ends by itself, within the limits?"""
        if not chunk or _PAIRS.get(chunk[0]) != chunk[-1] or len(chunk) > self._bytes_max:
            return False
        try:
            _is_one_value(chunk)
        except (msgspec.MsgspecError, RecursionError):
            return False
        # A text may hold brackets, so their number is only an upper bound of the depth.
        if chunk.count(b"[") + chunk.count(b"{") <= self._depth_max:
            return True
        return not is_deeper(chunk, self._depth_max)

    def _begin(self) -> int | None:
        """Find where the next value begins and, if it is here already, return where it ends."""
        buffer = self._buffer
        found = _not_blank(buffer)
        if found is None:
            buffer.clear()
            return None
        del buffer[: found.start()]
        first = buffer[0]
        if first not in _STARTS:
            raise FrameError(f"no JSON value begins with {bytes(buffer[:1])!r}")
        newline = buffer.find(b"\n", 0, LINE_GUESS_BYTES)
        if newline > 0 and self._is_whole(line := bytes(buffer[:newline]).rstrip(BLANKS)):
            return len(line)
        if first not in _OPENERS:
            self._position = 1
            self._in_text = first == _QUOTE
        return self._end()

    def _end(self) -> int | None:
        """Return where the value in the buffer ends, or None if it does not end there yet."""
        first = self._buffer[0]
        if first in _PAIRS:
            end = self._nested_end()
        elif first in _LITERALS:
            end = self._literal_end(_LITERALS[first])
        else:
            end = self._number_end()
        if end is None and len(self._buffer) > self._bytes_max:
            raise _over_bytes(self._bytes_max)
        return end

    def _literal_end(self, literal: bytes) -> int | None:
        word = bytes(self._buffer[: len(literal)])
        while not literal.startswith(word):
            if literal.startswith(word[:-1]):
                raise FrameError(f"no JSON value begins with {word!r}")
            word = word[:-1]
        return len(literal) if word == literal else None

    def _number_end(self) -> int | None:
        stop = _number_stop(self._buffer, self._position, self._bytes_max + 1)
        if stop is None:
            self._position = len(self._buffer)
            return None
        if stop[0] not in BLANKS and stop[0] not in _STARTS:
            raise FrameError(f"no JSON value goes on with {stop[0]!r} after a number")
        return stop.start()

    def _nested_end(self) -> int | None:
        buffer = self._buffer
        limit = min(len(buffer), self._bytes_max)  # What lies behind is not looked at.
        size = BLOCK_BYTES_MIN
        while self._position < limit:
            piece = without_escapes(bytes(buffer[self._position : min(limit, self._position + size)]))
            if not piece:  # only a backslash, which waits for what it escapes
                break
            end = self._block_end(piece)
            if end is not None:
                return end
            self._position += len(piece)
            size = min(2 * size, BLOCK_BYTES_MAX)
        return None

    def _block_end(self, piece: bytes) -> int | None:
        """Return where the value ends in the next piece of it, or None, and then keep what the piece says."""
        if not self._wanted and self._in_text:  # the value is a text
            quote = piece.find(b'"')
            return None if quote < 0 else self._position + quote + 1
        brackets, in_text = brackets_of(piece, self._in_text)
        behind = depths(brackets, len(self._wanted))
        end = wanted = None
        if 0 not in behind[1:]:
            wanted = still_wanted(brackets, self._wanted, behind[-1])
        if wanted is None and (found := first_end(piece, self._in_text, self._wanted)) is not None:
            end, count = found
            behind = behind[: count + 1]
        if max(behind) > self._depth_max:
            raise FrameError(f"a message is nested deeper than {self._depth_max}")
        if end is not None:
            return self._position + end
        self._wanted = wanted or b""
        self._in_text = in_text
        return None

    def _take(self, end: int) -> bytes:
        payload = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._position = 0
        self._wanted = b""
        self._in_text = False
        return payload


class LineFramer:
    """Cuts at newlines. The limit counts the bytes before the newline, a carriage return included."""

    __slots__ = ("_begin", "_buffer", "_bytes_max", "_end", "_error", "_scanned")

    def __init__(self, bytes_max: int, end: bytes = b"\n") -> None:
        self._bytes_max = bytes_max
        self._end = end  # what is written; both ends are read
        # What has come since a line was last waited for; lines are read off bytes, and more is put to a bytearray.
        self._buffer: bytes | bytearray = b""
        self._begin = 0  # where in it the next line begins
        self._scanned = 0  # where in it a newline is still to be looked for
        self._error: FrameError | None = None

    @property
    def waiting(self) -> int:
        """Count the bytes not taken out yet."""
        return len(self._buffer) - self._begin

    @property
    def partial(self) -> bool:
        """Say whether a message has begun that is not whole."""
        return self._scanned > self._begin

    def feed(self, chunk: bytes) -> None:
        """Take in bytes; see `Framer.feed`."""
        if self._error is not None:
            return
        buffer = self._buffer
        if self._begin == len(buffer):
            self._buffer = chunk
            self._begin = self._scanned = 0
            return
        if type(buffer) is bytes:
            buffer = self._buffer = bytearray(buffer[self._begin :])
            self._scanned -= self._begin
            self._begin = 0
        buffer += chunk

    def try_single_message(self, chunk: bytes) -> bytes | None:
        """Return the only line of a chunk; see `Framer.try_single_message`."""
        last = len(chunk) - 1
        if self.waiting or self._error is not None or last > self._bytes_max or chunk.find(b"\n") != last:
            return None
        return (chunk[:-2] if chunk.endswith(b"\r\n") else chunk[:-1]) or None

    def next(self) -> bytes | None:
        """Return the next payload or None; see `Framer.next`."""
        if self._error is not None:
            raise self._error
        while True:
            buffer, begin = self._buffer, self._begin
            end = buffer.find(b"\n", self._scanned, begin + self._bytes_max + 1)
            if end < 0:
                self._scanned = len(buffer)
                if self._scanned - begin > self._bytes_max:
                    self._buffer = b""
                    self._begin = self._scanned = 0
                    self._error = _over_bytes(self._bytes_max)
                    raise self._error
                return None
            if type(buffer) is bytearray:
                buffer = self._buffer = bytes(buffer)
            assert type(buffer) is bytes
            self._begin = self._scanned = end + 1
            line = buffer[begin : end - 1 if buffer[end - 1] == _RETURN and end > begin else end]
            if line:
                return line
            # Blank lines are skipped in one step: a peer may send as many as it likes.
            blank = BLANK_LINES.match(buffer, end + 1)
            if blank is not None:
                self._begin = self._scanned = blank.end()

    def finish(self) -> bytes | None:
        """Return what only the end of the stream ends; see `Framer.finish`."""
        line = bytes(self._buffer[self._begin :])
        self._buffer = b""
        self._begin = self._scanned = 0
        return line.removesuffix(b"\r") or None

    def wrap(self, payload: bytes) -> bytes:
        """Return the bytes to write; see `Framer.wrap`."""
        assert b"\n" not in payload, "a message of a line framing holds a newline"
        return payload + self._end


class LengthFramer:
    """Cuts where the length in front says. A length of 0 is an empty frame, which no message is."""

    __slots__ = ("_buffer", "_bytes_max", "_error")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._buffer = bytearray()
        self._error: FrameError | None = None

    @property
    def waiting(self) -> int:
        """Count the bytes not taken out yet."""
        return len(self._buffer)

    @property
    def partial(self) -> bool:
        """Say whether a message has begun that is not whole."""
        return bool(self._buffer)

    def feed(self, chunk: bytes) -> None:
        """Take in bytes; see `Framer.feed`."""
        if self._error is None:
            self._buffer += chunk

    def try_single_message(self, chunk: bytes) -> bytes | None:
        """Return the only payload of a chunk; see `Framer.try_single_message`."""
        size = len(chunk) - LENGTH.size
        if self._buffer or self._error is not None or not 0 <= size <= self._bytes_max:
            return None
        return chunk[LENGTH.size :] if LENGTH.unpack_from(chunk)[0] == size else None

    def next(self) -> bytes | None:
        """Return the next payload or None; see `Framer.next`."""
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        if len(buffer) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(buffer)
        if length > self._bytes_max:
            self._buffer = bytearray()
            self._error = TooLongError(f"a message of {length} bytes is announced; the limit is {self._bytes_max}")
            raise self._error
        end = LENGTH.size + length
        if len(buffer) < end:
            return None
        payload = bytes(buffer[LENGTH.size : end])
        del buffer[:end]
        return payload

    def finish(self) -> bytes | None:
        """Return what only the end of the stream ends; see `Framer.finish`."""
        return None

    @staticmethod
    def wrap(payload: bytes) -> bytes:
        """Return the bytes to write; see `Framer.wrap`."""
        return LENGTH.pack(len(payload)) + payload

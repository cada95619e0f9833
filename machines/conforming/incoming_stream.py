"""One connection's bytes from a program that we do not know, and all the messages that each piece of them may be.

Where a spec has ``frames``, what a message is depends on who hears it, so a piece is cut for one message at a time,
from any place in the stream. Elsewhere the cut is the same for all. A bare value may be several messages: all are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from machines.conforming.deviations import Deviation
from machines.engine.compiler import Program
from machines.model import Spec
from machines.verification.abstract.domain import Value, lifted
from machines.verification.abstract.role_info import tracked_fields
from machines.verification.abstract.state import Token
from machines.wire.codec import Malformed
from machines.wire.composite_framing import PartsFramer
from machines.wire.framing import FrameError, Framer

KEEP_BYTES = 1 << 16  # so much that was read is let go of at a time


class Piece(NamedTuple):
    """Bytes that end where one message does: ``raw`` is its payload, ``end`` where the next one begins.

    ``why`` says what keeps the bytes from being cut; then there is no payload.
    """

    raw: bytes
    end: int
    why: str = ""


class MessageReader:
    """The messages of one role as others read them. ``tokens`` gives them the fields that decide."""

    def __init__(self, program: Program, role: str) -> None:
        """``program`` is any role of the spec compiled; ``role`` is who writes."""
        self.program = program
        self.spec: Spec = program.spec
        self.role = role
        self.shapes = [program.shapes[name] for name, one in self.spec.messages.items() if role in one.senders]
        self.framed = [shape.name for shape in self.shapes if shape.name in program.frames]
        self._tracked = tracked_fields(self.spec)

    def tokens(self, raw: bytes, only: str = "") -> tuple[Token, ...]:
        """Return each message that a payload may be; with ``only`` one of a frame is looked for. Empty if none fits."""
        try:
            value = self.program.codec.decode(raw)
        except Malformed:
            return ()
        found = []
        for shape in self.shapes:
            if (shape.name == only) if only else (shape.name not in self.program.frames):
                fields = shape.read(value)
                if fields is not None:
                    found.append(self.token(shape.name, dict(zip(shape.fields, fields, strict=True))))
        return tuple(found)

    def token(self, name: str, fields: dict[str, Any]) -> Token:
        """Return a message with those of its fields that decide."""
        tracked = self._tracked[name]
        return (name, tuple((field, _told(fields.get(field), options)) for field, options in tracked.items()))

    def why_not(self, raw: bytes) -> tuple[str, str]:
        """Say why a payload is no message of the role, for people; and which one it is nearest to, empty if none is."""
        try:
            value = self.program.codec.decode(raw)
        except Malformed as error:
            return str(error), ""
        shapes = [shape for shape in self.shapes if shape.name not in self.program.frames] or self.shapes
        faults = [(max((len(one.path) for one in shape.faults(value)), default=0), shape) for shape in shapes]
        deepest, nearest = max(faults, key=lambda pair: pair[0], default=(0, None))
        if nearest is None:
            return f"{self.role} sends nothing", ""
        listed = ", ".join(shape.name for shape in shapes)
        if deepest == 0 and len(shapes) > 1:
            return f"it has the form of none of {listed}", ""
        return f"not {nearest.name}: {nearest.why_not(value)}", nearest.name

    def explained(self, deviation: Deviation, raw: bytes) -> Deviation:
        """Return a message out of order, told with why it is not the one that was owed, if only one was; or with the
        fields that decide where it is one of those owed.
        """
        fields = [field for name in deviation.names if name in deviation.may for field in self._tracked[name]]
        if fields:
            return replace(deviation, text=f"{deviation.text} with another {' or '.join(dict.fromkeys(fields))}")
        owed = [name for name in deviation.may if name in self.program.shapes]
        if len(owed) != 1 or owed[0] in (*deviation.names, *self.program.frames):
            return deviation
        try:
            why = self.program.shapes[owed[0]].why_not(self.program.codec.decode(raw))
        except Malformed:
            return deviation
        return replace(deviation, text=f"{deviation.text}, not {owed[0]} ({why})")


def _told(value: Any, options: tuple[Value, ...]) -> Value:
    found = lifted(value)
    return found if any(found is one or (type(found) is type(one) and found == one) for one in options) else options[-1]


class IncomingStream:
    """The bytes that one connection brought. Places are counted in bytes from its beginning."""

    def __init__(self, reader: MessageReader) -> None:
        self.reader = reader
        self.total = 0
        self._base = 0
        self._kept = bytearray()
        self._framer: Framer | None = None if reader.program.frames else reader.program.make_framer()
        self.begin = 0  # where the next piece of the framer begins
        self._pieces: dict[tuple[int, str], Piece] = {}
        self._tokens: dict[tuple[int, str], tuple[Token, ...]] = {}
        self.ended = False
        self.is_open_ended = False  # whether only the end of the stream ended the last piece
        self.last_raw: bytes | None = None  # the payload that was cut last

    def feed(self, chunk: bytes) -> None:
        """Take in what came."""
        self.total += len(chunk)
        self._kept += chunk
        if self._framer is not None:
            self._framer.feed(chunk)

    def end(self) -> None:
        """Nothing more will come: what only the end ends is a message now."""
        self.ended = True

    def cut(self, at: int, message: str = "") -> Piece | None:
        """Return the piece that begins at a place, for a message with a frame or any other; None if unfinished."""
        known = self._pieces.get((at, message))
        if known is None:
            known = self._cut_shared(at) if self._framer is not None else self._cut_for(at, message)
            if known is not None:
                self._pieces[at, message] = known
        return known

    def tokens(self, at: int, message: str = "") -> tuple[Token, ...]:
        """Return all that the piece that begins at a place may be, as `cut` cuts it; nothing where it is no piece."""
        known = self._tokens.get((at, message))
        if known is None:
            piece = self.cut(at, message)
            if piece is None or piece.why:
                return ()
            known = self._tokens[at, message] = self.reader.tokens(piece.raw, message)
        return known

    def _cut_shared(self, at: int) -> Piece | None:
        assert self._framer is not None, "one cut serves all"
        if at != self.begin:
            return None
        piece = self._next(self._framer, (), self.total)
        if piece is not None:
            self.begin = piece.end
        return piece

    def _cut_for(self, at: int, message: str) -> Piece | None:
        framer = PartsFramer(self.reader.program.wire)
        framer.feed(bytes(self._kept[at - self._base :]))
        frames = (self.reader.program.frames[message],) if message else ()
        return self._next(framer, frames, self.total)

    def _next(self, framer: Framer, frames: Sequence[Any], total: int) -> Piece | None:
        try:
            raw = framer.next(frames, lines=not frames) if isinstance(framer, PartsFramer) else framer.next()
            if raw is None and self.ended:
                raw = framer.finish()
                self.is_open_ended = raw is not None
        except FrameError as error:
            return Piece(b"", total, str(error))
        if raw is None:
            return None
        self.last_raw = raw
        return Piece(raw, total - framer.waiting)

    def rest(self, at: int) -> bytes:
        """Return all bytes from a place on."""
        return bytes(self._kept[at - self._base :])

    def is_blank(self, at: int) -> bool:
        """Whether nothing from a place on belongs to a message."""
        left = self._kept[at - self._base :]
        wire = self.reader.program.wire
        # Only between JSON values blanks are nothing; elsewhere a line of them is a message.
        blanks = None if wire.framing == "json" and not self.reader.program.frames else b"\r\n"
        return not left or (wire.framing != "length" and not left.strip(blanks))

    def forget(self, before: int) -> None:
        """Let go of what nobody reads any more."""
        if before - self._base > KEEP_BYTES:
            del self._kept[: before - self._base]
            self._base = before
            self._pieces = {key: piece for key, piece in self._pieces.items() if key[0] >= before}
            self._tokens = {key: tokens for key, tokens in self._tokens.items() if key[0] >= before}

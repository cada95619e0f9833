"""Players that misbehave, to see a server cope: silent, malformed, gone, infinite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from machines.frame_parts import FrameBits, FrameByte, FrameNumber, NumberKind, Rest
from machines.model import FrameBytes, FrameLine, FramePart, FrameRepeat, FrameSize, FrameUntil, Spec
from machines.wire.arrived_frames import opens_with_pattern
from machines.wire.byte_parts import plainest, write_number
from runtime.players.base import Arguments, EndlessAnswer, GenericPlayer, RawAnswer, Vanish

# Neither JSON nor, for framings that cut by lines, more than one message. The length framing reads the first four bytes
# as a size of half a gigabyte.
NO_JSON: Final = b"!}{no JSON\n"
# No UTF-8 has it, so no line and no frame with it is a message, whatever a spec lists. With charset: latin-1 all bytes
# are texts, and this is one that nobody means.
NO_TEXT: Final = b"\xff"


MISDEEDS: Final[Mapping[str, EndlessAnswer | Vanish]] = {
    "gone": Vanish(),
    # 4 KiB every 10 ms reaches the usual limit of 1 MiB a message within 3 s, and does not starve the loop.
    "infinite": EndlessAnswer(b"[0", b",0" * 2048, 0.01, 64 << 20),
}


class SilentPlayer(GenericPlayer):
    """Never answers."""


class FaultyPlayer(GenericPlayer):
    """Answers every question with the same misdeed."""

    def __init__(self, misdeed: EndlessAnswer | Vanish) -> None:
        self.misdeed = misdeed

    def decide_now(self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None) -> Any:
        """Return the misdeed."""
        return self.misdeed


class MalformedPlayer(GenericPlayer):
    """Answers every question with what no message is like: no JSON, or where messages are lines of text, no UTF-8."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def decide_now(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> RawAnswer:
        """Return the bytes; whole, where a frame is expected, so that nobody waits for the rest of it."""
        if self._spec.wire.framing != "text":
            return RawAnswer(NO_JSON)
        end = b"\r\n" if self._spec.wire.line_end == "crlf" else b"\n"
        # Who listens for a frame that has no first line of its own takes all bytes for it; else a line is a message.
        frames = (self._spec.frames[name] for name in messages if name in self._spec.frames)
        whole = next((frame for frame in frames if not opens_with_pattern(frame)), None)
        return RawAnswer(NO_TEXT + end if whole is None else b"".join(garbled(whole, end)))


def garbled(parts: Iterable[FramePart], end: bytes) -> list[bytes]:
    """Return the parts of a frame with bytes that are no text, up to a line that may not be any; ``end`` ends lines."""
    found: list[bytes] = []
    for part in parts:
        match part:
            case FrameLine(pattern):
                found.append(NO_TEXT + end)
                if pattern is not None:  # it is not that line, and so a message by itself
                    return found
            case FrameBytes(int(size)):
                found.append(NO_TEXT * size)
            case FrameUntil(mark):
                found += [NO_TEXT + end, mark.encode() + end]
            case FrameRepeat(int(count), inner):
                found += garbled(inner, end) * count
            case FrameBytes(NumberKind() as kind):
                found += [write_number(kind, len(NO_TEXT)), NO_TEXT]
            case FrameBytes(Rest()):
                found.append(NO_TEXT)
            case FrameRepeat(NumberKind() as kind, inner):
                found += [write_number(kind, 1), *garbled(inner, end)]
            case FrameRepeat(Rest(), inner):
                found += garbled(inner, end)
            case FrameSize(NumberKind() as kind, inner):
                content = b"".join(garbled(inner, end))
                found += [write_number(kind, len(content)), content]
            case FrameByte() | FrameNumber() | FrameBits():
                found.append(plainest(part))
            case _:  # a count comes from a line of a pattern, behind which nothing is written here
                return found
    return found

"""Whether a body is of the kinds that its frame says: a number where a number stands, a list for a repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from machines.frame_parts import Bit, FrameBits, FrameNumber, NumberKind
from machines.frame_values import values_of
from machines.messages.compiler import compile_type
from machines.messages.shapes import kind_of
from machines.messages.well_formed import named_types
from machines.model import (
    Body,
    BodyList,
    BodyMap,
    CompositeFrame,
    Field,
    FrameBytes,
    FrameLine,
    FramePart,
    FrameRepeat,
    FrameSize,
    FrameUntil,
    Interval,
    LiteralBody,
    Message,
    Scalar,
    Text,
    TypeDeclaration,
)
from machines.parser.context import ParseContext

_Said = tuple[
    FramePart, str, NumberKind | Bit | None
]  # the part, the kind of its value, and what has room for a number


def check_kinds(
    reading: ParseContext,
    frame: Sequence[FramePart],
    pieces: Sequence[Body],
    message: Message,
    types: Mapping[str, TypeDeclaration],
) -> None:
    """A137: a part of the body can never be what the frame says there, so nothing is ever read as the message.

    ``pieces`` are the parts of the body, one for each value of the frame; ``types`` those without a problem.
    """
    for (part, kind, room), piece in zip(_said(frame), pieces, strict=False):
        kinds = _kinds(piece, types)
        if kind and kinds and kind not in kinds:
            what = f"the field {piece.name!r}" if isinstance(piece, Field) else "a part of the body"
            text = f"{what} of {message.name} is a {' or '.join(sorted(kinds))}, and its frame has a {kind} there"
            place = piece.place if isinstance(piece, Field) else part.place
            reading.fault(place, "A137", text, "the body is a list of what the parts say, in their order")
        elif room is not None and isinstance(piece, LiteralBody) and not _fits(piece.value, room):
            bits = f"{room.width} bits" if isinstance(room, Bit) else str(room)
            text = f"{message.name} has {piece.value} there, for which a number of {bits} in its frame has no room"
            reading.fault(part.place, "A137", text, "a number with room for it")


def narrowed(messages: Mapping[str, Message], frames: Mapping[str, CompositeFrame]) -> dict[str, Message]:
    """Return the messages, whose fields of type int take no more than the numbers of their frames have room for."""
    found = dict(messages)
    for name in frames.keys() & messages.keys():
        rooms = [room for _, _, room in _said(frames[name])]
        message = messages[name]
        bodies = [_narrowed(body, rooms) for body in (message.body, *message.also)]
        found[name] = replace(message, body=bodies[0], also=tuple(bodies[1:]))
    return found


def _narrowed(body: Body, rooms: Sequence[NumberKind | Bit | None]) -> Body:
    if isinstance(body, BodyList) and len(body.items) == len(rooms) > 1:
        return BodyList(tuple(_within(*pair) for pair in zip(body.items, rooms, strict=True)))
    return _within(body, rooms[0]) if len(rooms) == 1 else body


def _within(piece: Body, room: NumberKind | Bit | None) -> Body:
    if room is None or not isinstance(piece, Field):
        return piece
    low, high = _bounds(room)
    if isinstance(piece.type, Interval):
        low, high = max(low, piece.type.low), min(high, piece.type.high)
    elif piece.type != Scalar("int"):
        return piece
    return replace(piece, type=Interval(low, high)) if low <= high else piece


def _said(parts: Sequence[FramePart]) -> Iterator[_Said]:
    """Yield what each value of parts is."""
    for part in parts:
        match part:
            case FrameSize(_, inner):
                yield from _said(inner)
            case FrameBits(bits, values):
                yield from ((part, "number", bit) for bit in bits if bit.name in values)
            case FrameNumber(kind):
                yield from [(part, "number", kind)] * values_of(part)
            case FrameRepeat():
                yield part, "list", None
            case FrameBytes() | FrameUntil() | FrameLine(None):
                yield part, "text", None
            case _:  # what else may be of several kinds, or is looked at by itself
                yield from [(part, "", None)] * values_of(part)


def _kinds(piece: Body, types: Mapping[str, TypeDeclaration]) -> frozenset[str]:
    """Return the kinds of value that a part of a body may be; none if what is wrong with it is told elsewhere."""
    match piece:
        case Field(type=type_):
            if any(named.name not in types for named in named_types(type_)):
                return frozenset()
            return compile_type(type_, types).kinds
        case LiteralBody(value):
            return frozenset({kind_of(value)})
        case Text():
            return frozenset({"text"})
        case BodyList():
            return frozenset({"list"})
        case BodyMap():
            return frozenset({"map"})


def _fits(value: object, room: NumberKind | Bit) -> bool:
    low, high = _bounds(room)
    return type(value) is int and low <= value <= high


def _bounds(room: NumberKind | Bit) -> tuple[int, int]:
    return (0, (1 << room.width) - 1) if isinstance(room, Bit) else room.bounds

"""What we do to a program in a broken-peer case, as bytes; and how our right bytes may be cut, glued or spelled."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from machines.conforming.cases import Cutting
from machines.conforming.incoming_stream import IncomingStream, MessageReader
from machines.conforming.requirements import ALWAYS
from machines.engine.compiler import Program
from machines.model import FrameLine, Spec
from machines.verification.abstract.state import Token
from machines.wire.codec import Malformed
from machines.wire.depth import outside_texts

GARBAGE_BYTES: Final = b"?!"
CUT_BYTES: Final = 64  # so many at each end of a message come one by one, what is between in pieces of so many
_WHOLE_FLOAT: Final = re.compile(rb"(?<![\w.])-?\d+\.0+(?![\d.eE])")


def tokens_of(reader: MessageReader, message: str, data: bytes) -> tuple[Token, ...]:
    """Return what a message of ours is to who reads it; ``data`` are its framed bytes."""
    stream = IncomingStream(reader)
    stream.feed(data)
    stream.end()
    framed = message if message in reader.program.frames else ""
    piece = stream.cut(0, framed)
    found = reader.tokens(piece.raw, framed) if piece is not None and not piece.why else ()
    named = tuple(token for token in found if token[0] == message)
    return named or found


def example(program: Program, message: str) -> bytes | None:
    """Return the bytes of a message with examples in its fields; None where that cannot be written."""
    shape = program.shapes[message]
    value = shape.read(shape.example())
    if value is None:
        return None
    try:
        if message in program.frames:
            return program.codec.packs[message](shape.build(list(value)))
        return program.codec.pack(shape.pack(tuple(value)))
    except (TypeError, ValueError, LookupError):
        return None


def unexpected(program: Program, sender: str, role: str, state: str) -> tuple[str, bytes] | None:
    """Return a message that a sender may say but that is not expected in a state, and its bytes; None if all are."""
    spec = program.spec
    listed = _listed(spec, role, state)
    reader = MessageReader(program, sender)
    for message in spec.messages.values():
        if sender in message.senders and message.name not in listed and message.name not in program.frames:
            data = example(program, message.name)
            if data is not None and not listed & {name for name, _ in tokens_of(reader, message.name, data)}:
                return message.name, data
    return None


def _listed(spec: Spec, role: str, state: str) -> set[str]:
    """Return what is listed in a state, and in any ``always`` of the role: they may be around it."""
    machine, _, name = state.partition(".")
    found = set(spec.roles[role].machines[machine].states[name].answers.receive)
    for one in spec.roles[role].machines.values():
        if one.always is not None:
            found |= set(one.always.answers.receive)
    return found


def garbage(program: Program) -> bytes | None:
    """Return bytes that are no message, framed where that takes a frame; None where any line may be a part of one."""
    if program.frames:
        return None
    return program.make_framer().wrap(GARBAGE_BYTES)


def oddly(spec: Spec, message: str, data: bytes) -> bytes:
    """Return right bytes of a message as no role writes them, though every reader of the spec reads them."""
    opening = spec.frames.get(message, ())[:1]
    if opening and not (isinstance(opening[0], FrameLine) and opening[0].pattern is not None):
        return data  # every byte of it counts
    match spec.wire.framing:
        case "lines":
            return b"\r\n \n".replace(b" ", b"") + data.replace(b"\n", b"\r\n")
        case "json":
            return b" \r\n" + data + b"\n "
        case "text":
            return b"\n" + data
        case _:
            return data


def pieces(cutting: Cutting, data: bytes) -> list[bytes]:
    """Return bytes as they are sent, one after another: one by one, but of many only those at both ends."""
    if cutting != "bytes":
        return [data]
    cuts = [at for at in range(len(data)) if min(at, len(data) - at) <= CUT_BYTES or at % CUT_BYTES == 0]
    return [data[begin:end] for begin, end in pairwise((*cuts, len(data)))]


def odd_spelling(program: Program, raw: bytes) -> str:
    """Return what of a message is spelled as nobody does, empty if nothing is."""
    if program.wire.framing == "text":
        return ""
    found = _WHOLE_FLOAT.search(outside_texts(raw))
    if found is None:
        return ""
    try:
        program.codec.decode(raw)
    except Malformed:
        return ""
    return f"{found[0].decode()} stands for a whole number"


__all__ = ["ALWAYS", "example", "garbage", "odd_spelling", "oddly", "pieces", "tokens_of", "unexpected"]

"""What a peer has sent and nobody has read: bytes cut into messages, which wait in its seat's inbox, in order.

How bytes are cut is mostly known beforehand, so they are cut when they come, as many as the inbox has room for. Where a
spec has frames it depends on who hears the peer: then one message is cut whenever somebody is about to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from machines.effects import Note
from machines.engine import violations
from machines.engine.call_stack import FAULT, LOST, MESSAGE, PeerState
from machines.model import CompositeFrame
from machines.wire.composite_framing import PartsFramer
from machines.wire.framing import FrameError

if TYPE_CHECKING:
    from machines.engine.compiled_states import HandlerScope
    from machines.engine.compiler import Program
    from machines.engine.interpreter import Interpreter

# Of bytes that are cut only for whoever hears them, so many wait for that; all are then cut in one input, and the
# smallest of frames has two bytes.
UNCUT_BYTES_MAX = 1 << 14
EXPECTED_MAX = 512  # stacks of layers for which it is kept what they expect


def cut(session: Interpreter, seat: PeerState, overtakes: Callable[[PeerState, bytes], bool] | None = None) -> None:
    """Cut what has come into messages, as many as the inbox has room for; the rest stays bytes.

    ``overtakes`` takes an urgent message at once and says so; left out, there are none.
    """
    if seat.dropped:
        return
    if session.program.frames:
        seat.more = not seat.deaf
        return
    framer = seat.framer
    wire = session.program.wire
    seat.more = False
    while not seat.deaf:
        if len(seat.inbox) >= wire.inbox_messages_max or seat.inbox_bytes >= wire.inbox_bytes_max:
            seat.more = True
            return
        try:
            raw = framer.next()
            if raw is None and seat.lost:
                raw = framer.finish()
        except FrameError as error:
            _make_deaf(session, seat, error)
            break
        if raw is None:
            break
        if overtakes is not None and overtakes(seat, raw):
            if seat.dropped or session.ended is not None:
                return  # what it sent after that is nobody's
            framer = seat.framer  # a new one where it is secure from here on
            continue
        seat.put(MESSAGE, raw, session.now)
        seat.inbox_bytes += len(raw)
    _cut_loss(session, seat)


def cut_one(session: Interpreter, seat: PeerState, layers: Iterable[HandlerScope]) -> None:
    """Cut the next message as the layers that hear the peer now expect it; if none does, the bytes wait."""
    framer = seat.framer
    assert isinstance(framer, PartsFramer), "frames are cut by its like"
    heard, frames, lines = _expected(session.program, seat.role, tuple(layers))
    if not (heard or seat.holder is not None or (seat.lost and not framer.waiting)):
        return
    seat.more = False
    try:
        raw = framer.next(frames, lines=lines)
        if raw is None and seat.lost:
            raw = framer.finish()
    except FrameError as error:
        _make_deaf(session, seat, error)
        raw = None
    if raw is not None:
        seat.more = True
        seat.put(MESSAGE, raw, session.now)
        seat.inbox_bytes += len(raw)
    else:
        _cut_loss(session, seat)


def _expected(
    program: Program, role: str, layers: tuple[HandlerScope, ...]
) -> tuple[bool, tuple[CompositeFrame, ...], bool]:
    """Return if these layers list any message of a role, the frames of those that they do, and if any is a line."""
    known = program.expected.get((role, layers))
    if known is not None:
        return known
    listed = [shape.name for layer in layers for _, shape, _ in layer.readers.get(role, ())]
    frames = list(dict.fromkeys(program.frames[name] for name in listed if name in program.frames))
    if len(program.expected) >= EXPECTED_MAX:
        program.expected.clear()
    found = bool(listed), tuple(frames), any(name not in program.frames for name in listed)
    program.expected[role, layers] = found
    return found


def _make_deaf(session: Interpreter, seat: PeerState, error: FrameError) -> None:
    """Where its next message would begin is not known any more: it is heard no longer."""
    seat.deaf = True
    violations.note(session, seat, violations.unreadable(error), why=str(error))
    session.effects.append(Note("warning", f"its bytes make no sense: {error}", seat.number))
    seat.put(FAULT, "malformed", session.now)


def _cut_loss(session: Interpreter, seat: PeerState) -> None:
    """Behind all that a lost peer had sent stands its loss."""
    framer = seat.framer
    if seat.lost and not seat.closed_told and (not seat.inbox or seat.inbox[-1][0] != LOST):
        if framer.partial:
            session.effects.append(Note("info", "its last message is incomplete", seat.number))
        seat.put(LOST, None, session.now)


def pop(seat: PeerState) -> str:
    """Take the first thing out of an inbox; return the reason of a fault or a loss, "" of a message."""
    inbox = seat.inbox
    assert isinstance(inbox, list), "it holds something"
    kind, payload, _ = inbox.pop(0)
    if not inbox:
        seat.inbox = ()
    if kind == MESSAGE:
        seat.inbox_bytes -= len(payload)
        return ""
    return "closed" if kind == LOST else str(payload)


def discard(session: Interpreter, seat: PeerState) -> None:
    """Throw away what nobody will read, and say so."""
    unread = sum(1 for kind, _, _ in seat.inbox if kind != LOST)
    if unread:
        session.effects.append(Note("info", f"{unread} unread of it", seat.number))
    seat.inbox = ()
    seat.inbox_bytes = 0

"""How many bytes a session keeps: measured once its peers may have made it grow by enough, and refused beyond a limit.

What has come since the last measure is counted with every chunk (`Interpreter.room`), so nearly all messages cost one
subtraction. Only when that much has come is it measured what all names are bound to. While that is more than
``kept_bytes_max``, the messages of those who made it grow are refused, with the reason ``limit``.

The bytes are those of a formula, near what CPython takes, and not of the machine: a replay has the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, Protocol

from machines.flat_records import (
    NUMBER_BYTES,
    OBJECT_BYTES,
    PAIR_BYTES,
    TEXT_BYTES,
    UNKNOWN,
    FlatRecord,
    text_bytes,
)
from machines.values import Peer

EVENT_BYTES: Final = 64  # that a chunk may make grow besides its own bytes, by short lists whose work is not counted
WORK_BYTES: Final = 16  # that an element of work may
GROWTH: Final = 32  # a byte that comes may become so many: `{"a":1}` is 7 on the wire and 250 in memory
SMALL_BYTES: Final = 1024  # a message of no more is taken all the same, up to twice the limit: it may make room
LIST_BYTES: Final = 56
ITEM_BYTES: Final = 8
WHY: Final = "the session keeps more than {} bytes (kept_bytes_max)"


class Keeper(Protocol):
    """What is looked at of a session: see `machines.engine.interpreter.Interpreter`, which is told of this module."""

    room: int
    reading: bytes
    ended: Any
    seats: Any
    root: Any
    extra: Any
    program: Any

    def extras(self) -> Any:
        """Return what few sessions have, to be written to."""


class Kept:
    """What was measured last: ``size`` in bytes, of so many values; ``interval`` is until when it holds."""

    __slots__ = ("full", "interval", "size")

    def __init__(self) -> None:
        self.size = 0
        self.interval = 0
        self.full = False


def refuses(session: Keeper, event: str, peer: Peer | None) -> bool:
    """Tell whether a peer's message is refused for what the session keeps; called when enough has come to look."""
    if session.ended is not None:
        return False
    extra = session.extras()
    kept = extra.kept
    if kept is None:
        kept = extra.kept = Kept()
    most = session.program.wire.kept_bytes_max
    if not kept.full or -session.room > kept.interval:
        measure(session, kept, most)
    if not kept.full or peer is None or "." in event:
        return False
    if kept.size > 2 * most:
        return True
    grown = [seat.grown for seat in session.seats]
    return len(session.reading) > SMALL_BYTES and session.seats[peer.number].grown * len(grown) >= sum(grown)


def measure(session: Keeper, kept: Kept, most: int) -> None:
    """Measure what a session keeps, and say how much may come until that is done again."""
    kept.size, values = size_of(_roots(session))
    kept.full = kept.size > most
    # To walk through many little values takes time, so as many bytes must have come before it is done again.
    kept.interval = min(most // 16, max(values, SMALL_BYTES) * WORK_BYTES)
    session.room = -1 if kept.full else max((most - kept.size) // GROWTH, kept.interval)


def why(session: Keeper) -> str:
    """Return why a message was refused, if it was for what the session keeps; else nothing."""
    kept = session.extra.kept if session.extra is not None else None
    return WHY.format(session.program.wire.kept_bytes_max) if kept is not None and kept.full else ""


def size_of(values: Iterator[Any]) -> tuple[int, int]:
    """Return the bytes of values and all that they hold, and how many they are; what stands in several counts once."""
    size = count = 0
    seen: set[int] = set()
    rest = list(values)
    while rest:
        value = rest.pop()
        count += 1
        if isinstance(value, str):
            size += text_bytes(value)
        elif isinstance(value, bytes):
            size += TEXT_BYTES + len(value)
        elif isinstance(value, bool) or value is None:
            pass
        elif isinstance(value, int | float):
            size += NUMBER_BYTES
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, tuple | list | frozenset):
                size += LIST_BYTES + ITEM_BYTES * len(value)
                rest.extend(value)
            elif type(value) is FlatRecord and value.measured() != UNKNOWN:
                size += value.kept
            elif isinstance(value, Mapping):
                size += OBJECT_BYTES + PAIR_BYTES * len(value)
                rest.extend(value)
                rest.extend(value.values())
            else:
                size += OBJECT_BYTES
                if is_dataclass(value) and not isinstance(value, type):
                    rest.extend([getattr(value, field.name) for field in fields(value)])
    return size, count


def _roots(session: Keeper) -> Iterator[Any]:
    """Yield what the names of all running machines are bound to, what loops hold, and what is known of the peers."""
    yield from (seat.peer for seat in session.seats)
    frames = [session.root] if session.root is not None else []
    while frames:
        frame = frames.pop()
        frames.extend(frame.children())
        yield from frame.slots[1:]  # the first is the frame itself
        if frame.loop is not None:
            yield from frame.loop.held()

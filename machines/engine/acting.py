"""What the steps of a branch do to a session while its transition runs: all of it can be taken back.

`machines.engine.steps` compiles steps to closures that call these; `machines.engine.tree.Tree.take_back` undoes them.
"""

from __future__ import annotations

from typing import Any

from machines.effects import Drop as DropEffect
from machines.effects import Effect, Note
from machines.effects import Send as SendEffect
from machines.engine.frames import Frame, Seat
from machines.engine.started import Starting
from machines.engine.steps import peers
from machines.engine.table import Program
from machines.values import Peer

NOBODY: list[int] = []  # what a session has that nobody left yet; nobody writes to it


class Acting:
    """The part of a session that steps write to."""

    __slots__ = ("effects", "program", "ready", "seats", "starting", "undoable", "vacant")

    program: Program
    seats: list[Seat]
    effects: list[Effect]
    ready: list[Seat]
    vacant: list[int]
    starting: tuple[Starting, ...]
    undoable: list[Seat | Starting | tuple[Frame, str, bool] | tuple[list[Any], int, Any]]

    def send(self, receivers: Any, message: str, value: Any) -> None:
        """Send a message to a peer or to each of a list; it is encoded once. Those gone are skipped with a note."""
        if type(receivers) is Peer:  # by far the most frequent
            seat = self.seats[receivers.number]
            if not (seat.lost or seat.dropped):
                codec = self.program.codec
                pack = codec.packs.get(message, codec.pack)
                self.effects.append(SendEffect(receivers.number, pack(value), message))
                return
        framed: bytes | None = None
        for peer in peers(receivers):
            seat = self.seats[peer.number]
            if seat.lost or seat.dropped:
                self.effects.append(Note("info", f"{message} is not sent: the peer is gone", peer.number))
                continue
            if framed is None:
                codec = self.program.codec
                pack = codec.packs.get(message, codec.pack)
                framed = pack(value)
            self.effects.append(SendEffect(peer.number, framed, message))

    def drop(self, peer: Peer, why: str) -> None:
        """Close a peer once all that was sent before is out; a second time is nothing."""
        seat = self.seats[peer.number]
        if not seat.dropped:
            seat.dropped = True
            self.left(seat)
            self.undoable.append(seat)
            self.effects.append(DropEffect(peer.number, why))
            if seat.holder is not None:
                self.ready.append(seat)

    def left(self, seat: Seat) -> None:
        """Note that a seat is gone: sooner or later it may be given up."""
        if self.vacant is NOBODY:
            self.vacant = []
        self.vacant.append(seat.number)

    def start_later(self, frame: Frame, machine: str, arguments: tuple[Any, ...]) -> None:
        """Start a machine once the running transition is done."""
        starting = Starting(frame, machine, arguments)
        self.starting += (starting,)
        self.undoable.append(starting)

    def write_live(self, slots: list[Any], slot: int, value: Any) -> None:
        """Bind a live value, of whatever machine."""
        self.undoable.append((slots, slot, slots[slot]))
        slots[slot] = value

"""What the steps of a branch do to a session while its transition runs: all of it can be taken back.

`machines.engine.steps` writes steps as Python functions that call these;
`machines.engine.interpreter.Interpreter.rollback` undoes them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from machines.effects import Ask, Effect, Note, Resume, SecureLink
from machines.effects import Drop as DropEffect
from machines.effects import Send as SendEffect
from machines.engine.actions import peers
from machines.engine.call_stack import CallFrame, PeerState
from machines.engine.compiled_states import CompiledState
from machines.engine.compiler import Program
from machines.engine.keeping import Kept
from machines.engine.watching import Watching
from machines.model import CompositeFrame as WireFrame
from machines.values import Peer, Record

PLAIN = Record({"secure": False})  # what `my` is where nobody said anything of it
NO_QUESTIONS: dict[int, CallFrame] = {}  # what a session has whose role asks nothing; nobody writes to it
SWEEP_MIN = 64  # so many seats may be gone before it is looked whether they are still of use


class PendingSpawn:
    """A ``start`` that a transition asked for; it begins once that is done."""

    __slots__ = ("arguments", "frame", "machine")

    def __init__(self, frame: CallFrame, machine: str, arguments: tuple[Any, ...]) -> None:
        self.frame = frame
        self.machine = machine
        self.arguments = arguments


class Delegation:
    """A seat that is lent: the started machine that has it, and who awaits it when it comes back."""

    __slots__ = ("to", "wanted")

    def __init__(self, to: CallFrame | None) -> None:
        self.to = to
        self.wanted: tuple[CallFrame, ...] = ()


class RareState:
    """What few sessions have, and none from the beginning: frames of their own, started machines, peers that left."""

    __slots__ = ("endings", "framed", "kept", "loans", "rejoining", "started", "starting", "sweep_at", "vacant",
                 "watching")  # fmt: skip

    def __init__(self) -> None:
        self.watching: Watching[CallFrame] | None = None  # who waits for a condition
        self.kept: Kept | None = None  # what was measured of what it keeps
        self.framed: WireFrame | None = None  # the frame of the message that is being read
        self.vacant: list[int] = []  # numbers of seats that are gone and may be given up: `admission.release_peers`
        self.sweep_at = SWEEP_MIN
        self.started = 0  # machines that were started and have not ended
        self.starting: tuple[PendingSpawn, ...] = ()
        self.rejoining: tuple[CallFrame, ...] = ()  # who may hear peers that came back
        self.endings: tuple[tuple[CallFrame, Any, str], ...] = ()  # who is to be told that what it started has ended
        self.loans: dict[int, Delegation] = {}  # by the numbers of the seats


class Forgotten:
    """What a peer had said that nobody will read, as it was before that was forgotten."""

    __slots__ = ("_kept", "seat")

    def __init__(self, seat: PeerState) -> None:
        self.seat = seat
        self._kept = seat.inbox, seat.inbox_bytes, seat.framer, seat.more, seat.deaf, seat.paused

    def restore(self) -> None:
        """Have the peer's words wait for a reader again."""
        seat = self.seat
        seat.inbox, seat.inbox_bytes, seat.framer, seat.more, seat.deaf, seat.paused = self._kept


# A peer dropped or forgotten, a machine to start, a limit used (and whether it is a rate), a live value bound.
Undoable = PeerState | PendingSpawn | Forgotten | tuple[CallFrame, str, bool] | tuple[list[Any], int, Any]


class Transaction:
    """The part of a session that steps write to."""

    __slots__ = ("asked", "effects", "extra", "now", "program", "questions", "ready", "seats", "undoable")

    program: Program
    now: float  # of the event, in seconds
    asked: int  # questions so far
    questions: dict[int, CallFrame]  # those that are open, by their numbers
    seats: list[PeerState]
    effects: list[Effect]
    # These two are nearly always empty, and are lists only while they are not: each would take 56 bytes.
    ready: list[PeerState] | tuple[()]  # seats whose inbox somebody may have begun to hear
    undoable: list[Undoable] | tuple[()]  # what the running transition did and may have to take back
    extra: RareState | None

    def extras(self) -> RareState:
        """Return what few sessions have, to be written to."""
        if self.extra is None:
            self.extra = RareState()
        return self.extra

    def undo_later(self, done: Undoable) -> None:
        """Note what the running transition has done, to take it back if that fails."""
        if isinstance(self.undoable, list):
            self.undoable.append(done)
        else:
            self.undoable = [done]

    def look_at(self, seat: PeerState) -> None:
        """Look at the inbox of a seat once all that is under way is done."""
        if isinstance(self.ready, list):
            self.ready.append(seat)
        else:
            self.ready = [seat]

    @property
    def started(self) -> int:
        """How many machines that were started have not ended."""
        return self.extra.started if self.extra is not None else 0

    def lent_to(self, seat: PeerState) -> CallFrame | None:
        """Return the started machine that has a seat, None if it is not lent."""
        loan = self.extra.loans.get(seat.number) if self.extra is not None else None
        return loan.to if loan is not None else None

    def send(self, receivers: Any, message: str, value: Any, pack: Callable[[Any], bytes]) -> None:
        """Send a message to a peer or to each of a list; it is packed once. Those gone are skipped with a note."""
        framed: bytes | None = None
        for peer in peers(receivers):
            seat = self.seats[peer.number]
            if seat.lost or seat.dropped:
                self.effects.append(Note("info", f"{message} is not sent: the peer is gone", peer.number))
                continue
            if framed is None:
                framed = pack(value)
            self.effects.append(SendEffect(peer.number, framed, message))
            seat.asked = message

    def secure(self, peer: Peer) -> None:
        """Speak TLS with a peer from here on, and forget what it had said before: anybody may have slipped that in."""
        seat = self.seats[peer.number]
        if seat.lost or seat.dropped:
            self.effects.append(Note("info", "it is not secured: the peer is gone", peer.number))
            return
        self.undo_later(Forgotten(seat))
        if seat.inbox or seat.framer.waiting:
            text = f"{len(seat.inbox)} messages and {seat.framer.waiting} bytes that it said too early are thrown away"
            self.effects.append(Note("warning", text, peer.number))
        seat.inbox, seat.inbox_bytes, seat.more, seat.deaf = (), 0, False, False
        seat.framer = self.program.make_framer()
        self.effects.append(SecureLink(peer.number))
        if seat.paused:
            seat.paused = False
            self.effects.append(Resume(peer.number))

    def drop(self, peer: Peer, why: str) -> None:
        """Close a peer once all that was sent before is out; a second time is nothing."""
        seat = self.seats[peer.number]
        if not seat.dropped:
            seat.dropped = True
            self.left(seat)
            self.undo_later(seat)
            self.effects.append(DropEffect(peer.number, why))
            if seat.holder is not None:
                self.look_at(seat)

    def left(self, seat: PeerState) -> None:
        """Note that a seat is gone: sooner or later it may be given up."""
        self.extras().vacant.append(seat.number)

    def start_later(self, frame: CallFrame, machine: str, arguments: tuple[Any, ...]) -> None:
        """Start a machine once the running transition is done."""
        starting = PendingSpawn(frame, machine, arguments)
        self.extras().starting += (starting,)
        self.undo_later(starting)

    def ask(self, frame: CallFrame, node: CompiledState) -> None:
        """Ask the player what a state asks."""
        question, names, values, answers = node.asked  # type: ignore[misc]
        arguments = tuple(zip(names, values(frame.slots), strict=True))
        self.asked += 1
        frame.question = self.asked
        if self.questions is NO_QUESTIONS:
            self.questions = {}
        self.questions[self.asked] = frame
        deadline = inf
        at: CallFrame | None = frame
        while at is not None:  # the call that it decides in may have less time than the state
            deadline = min(deadline, at.deadline)
            at = at.parent if not at.detached else None
        seconds = deadline - self.now if deadline != inf else None
        self.effects.append(Ask(self.asked, question, arguments, answers, seconds))

    def write_live(self, slots: list[Any], slot: int, value: Any) -> None:
        """Bind a live value, of whatever machine."""
        self.undo_later((slots, slot, slots[slot]))
        slots[slot] = value
        if self.extra is not None and self.extra.watching is not None:
            self.extra.watching.written = True

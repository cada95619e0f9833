"""What a running session is made of: seats with their inboxes, and a tree of frames, one for each call of a machine.

A seat is a `PeerState`, a frame a `CallFrame`:

Session ── Seat, Seat …              the peers, each with the messages that nobody has read yet
  └─ Frame main                      in one of its states, with its own names (``slots``)
       ├─ Frame series               called by that state
       │    └─ Frame game …
       └─ Frame sign_up              one for each connection that is signing up
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any

from machines.effects import MatchOutcome
from machines.engine.actions import peers_in
from machines.model import Wire
from machines.values import Peer, Rate
from machines.wire.framing import make_framer
from machines.work import SILENT_STEPS_MAX

if TYPE_CHECKING:
    from machines.engine.compiled_states import CompiledState
    from machines.engine.compiler import CompiledMachine
    from machines.engine.interpreter import Interpreter
    from machines.engine.watching import Watched
    from machines.wire.framing import Framer

# What a seat's inbox holds: (kind, payload, stamp). The payload of a message is its bytes, of a fault its reason.
MESSAGE, FAULT, LOST = "message", "fault", "lost"
Unread = tuple[str, Any, float]  # one of these; the bytes or the reason of a fault; and when it came

STEPS_AN_ITEM = 10  # silent steps granted besides for each item that begins side by side with others
GRANTED_ITEMS_MAX = 10_000
TOO_SILENT = f"{SILENT_STEPS_MAX} steps without waiting for anything"


class FailedError(Exception):
    """The running machine cannot go on; the text says why. Answered by ``failed`` branches like a rule that raises."""


class PeerState:
    """One connection: its peer value, what it sent and nobody has read, and who hears it."""

    __slots__ = ("accepted", "asked", "closed_told", "deaf", "dropped", "framer", "grown", "holder", "inbox",
                 "inbox_bytes", "lost", "more", "noted", "paused", "peer", "role")  # fmt: skip

    def __init__(self, number: int, role: str, framer: Framer, *, accepted: bool) -> None:
        self.peer = Peer(number)
        self.role = role
        self.framer = framer
        self.grown = 0  # bytes that it may have made the session keep
        self.asked = ""  # the last message that it was sent
        self.accepted = accepted  # it came to us; otherwise we connected to it
        self.inbox: list[Unread] | tuple[Unread, ...] = ()  # nearly always empty; a list would cost each seat 56 bytes
        self.inbox_bytes = 0
        self.holder: CallFrame | None = None  # the frame whose present state awaits it
        self.dropped = False
        self.lost = False  # the network said so; what it sent before may still be unread
        self.closed_told = False  # somebody took its ``closed``
        self.deaf = False  # its bytes make no sense any more; it can still be written to
        self.more = False  # its framer may hold more: its inbox is full, or it is cut only for whoever hears it
        self.paused = False
        self.noted = False  # that its messages are kept has been said once

    @property
    def number(self) -> int:
        """The seat's number: connections count from 0."""
        return self.peer.number

    def put(self, kind: str, payload: Any, now: float) -> None:
        """Put one thing behind all that its inbox holds."""
        if isinstance(self.inbox, list):
            self.inbox.append((kind, payload, now))
        else:
            self.inbox = [(kind, payload, now)]

    @property
    def gone(self) -> bool:
        """Whether nothing can be sent to it any more."""
        return self.lost or self.dropped

    @property
    def silent(self) -> bool:
        """Whether nothing can come from it any more."""
        return self.lost or self.dropped or self.deaf


def _vanished(*, told: bool) -> PeerState:
    seat = PeerState(-1, "", make_framer(Wire()), accepted=True)
    seat.lost = seat.dropped = seat.deaf = True
    seat.closed_told = told
    return seat


# What stands in place of the seats of connections that came and went, by whether somebody took their ``closed``, and
# whether they were dropped. They are shared, so nobody may write to them: `machines.engine.admission.restore_peer`
# makes a seat of its own of one.
RELEASED_PEERS = {(told, dropped): _vanished(told=told) for told in (False, True) for dropped in (False, True)}


class RunningTimer:
    """A running ``after`` or ``every``: when it is due, and the event it raises."""

    __slots__ = ("due", "event", "interval", "serial")

    def __init__(self, due: float, interval: float | None, event: str, serial: int) -> None:
        self.due = due
        self.interval = interval
        self.event = event
        self.serial = serial


# A transition as a session notes it: the frame's caller, machine and number; state, event, and where it led. The frame
# itself is not kept, it may be over.
Transition = tuple["CallFrame | None", str, int, str, str, str]
TransitionRecord = tuple[str, str, str, str]


def told(transition: Transition) -> TransitionRecord:
    """Return a transition as journals have it: the call by its path, state, event, destination."""
    parent, machine, number, state, event, destination = transition
    path = machine if parent is None else f"{parent.path}.{machine}[{number}]"
    return path, state, event, destination


class CallFrame:
    """One call of a machine. ``slots`` holds its names: slot 0 is the frame itself, then the parameters, then the rest.

    ``node`` is the state that it is in. Made by `machines.engine.interpreter.Interpreter.new_frame` alone.
    """

    __slots__ = ("accepting", "alive", "calls", "child", "deadline", "empty_told", "entered", "extra",
                 "hears", "host", "loop", "moments", "node", "ordinal", "parent", "parked", "path_text",
                 "question", "result", "serial", "slots", "table", "tree")  # fmt: skip

    tree: Interpreter
    table: CompiledMachine
    parent: CallFrame | None
    ordinal: int
    slots: list[Any]
    node: CompiledState
    alive: bool
    child: CallFrame | None
    loop: Loop | None
    accepting: Admission | None
    parked: SuspendedAdmission | None
    hears: tuple[PeerState, ...]
    deadline: float
    moments: list[RunningTimer] | None  # the state's ``after`` and ``every``
    question: int | None
    calls: list[Any] | None  # machine, how often it was called from here, machine, …: a dict takes twice the memory
    path_text: str | None
    extra: CallFrameExtra | None
    host: CallFrame | None  # the started machine that it is, or is run by: it awaits only what that one was lent

    # These are set before anybody asks for them, so `Interpreter.new_frame` leaves them out.
    result: Any  # what the machine returned
    empty_told: bool  # whether ``closed`` told of an empty group since the state was entered
    entered: float  # when it was
    serial: int  # tells which of two clocks is the older

    def extras(self) -> CallFrameExtra:
        """Return what few frames have, to be written to."""
        if self.extra is None:
            self.extra = CallFrameExtra()
        return self.extra

    @property
    def detached(self) -> bool:
        """Whether it was started: nobody waits for it."""
        return self.extra is not None and self.extra.lent is not None

    @property
    def is_sign_up(self) -> bool:
        """Whether an accept runs it for one connection."""
        parent = self.parent
        if parent is None:
            return False
        pending = parent.accepting.pending if parent.accepting is not None else parent.parked
        return pending is not None and pending.get(self.ordinal) is self

    @property
    def started(self) -> dict[int, CallFrame]:
        """What it started and has not ended."""
        return self.extra.started if self.extra is not None else {}

    @property
    def watches(self) -> tuple[Watched, ...]:
        """The conditions that it waits for; none once it is over."""
        return self.extra.watches if self.extra is not None and self.alive else ()

    @property
    def standing(self) -> list[RunningTimer]:
        """The ``after`` and ``every`` of the machine's ``always``."""
        return self.extra.standing if self.extra is not None else []

    @property
    def path(self) -> str:
        """Where the frame stands in the tree of calls: ``main.series[3].game[1]``.

        The number counts the calls of one machine by one other from 0, loops that are entered again included; for a
        sign-up it is that of its peer.
        """
        text = self.path_text
        if text is None:
            name = self.table.name
            text = name if self.parent is None else f"{self.parent.path}.{name}[{self.ordinal}]"
            self.path_text = text
        return text

    def default_seconds(self) -> float:
        """Return the limit of a wait that has none of its own: that of the nearest ``always`` with one, else none."""
        at: CallFrame | None = self
        while at is not None:
            within = at.table.within
            if within is not None:
                seconds: float = within(at.slots)
                return seconds
            at = at.parent
        return inf

    def number_calls(self, machine: str, count: int = 1) -> int:
        """Count so many more calls of a machine from here; return the number of the first of them."""
        calls = self.calls
        if calls is None:
            self.calls = [machine, count]
            return 0
        first: int
        if calls[0] == machine:  # most call but one
            first = calls[1]
            calls[1] = first + count
            return first
        if machine not in calls[::2]:
            calls += (machine, 0)
        at = calls[::2].index(machine) * 2 + 1
        first = calls[at]
        calls[at] = first + count
        return first

    def children(self) -> Iterator[CallFrame]:
        """Yield the frames called or started from here, oldest first."""
        yield from self.called()
        yield from list(self.started.values())

    def running(self) -> int:
        """Return how many machines that were started here have not ended."""
        return len(self.started)

    def live(self, name: str) -> tuple[list[Any], int]:
        """Return the slots of the nearest machine around this one that has a live value of this name, and its place."""
        at = self.parent
        while at is not None:
            place = at.table.live.get(name)
            if place is not None:
                return at.slots, place
            at = at.parent
        raise LookupError(f"no machine around {self.path} has a live value {name!r}; the checker should have said so")

    def called(self) -> Iterator[CallFrame]:
        """Yield the frames that this one waits for."""
        if self.child is not None:
            yield self.child
        if isinstance(self.loop, ParallelLoop):
            yield from self.loop.running.values()
        if self.accepting is not None:
            yield from list(self.accepting.pending.values())
        if self.parked is not None:
            yield from list(self.parked.values())

    def seed(self) -> int:
        """Return the number from which this call may draw: from the run's seed and the call's path, 63 bits."""
        digest = blake2b(f"{self.tree.seed}/{self.path}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 1

    def elapsed(self) -> float:
        """Return the seconds since the present state was entered."""
        return self.tree.now - self.entered

    def allow(self, key: str, limit: int | Rate) -> bool:
        """Count one more use of a limit, if it has room: a number since the state was entered, or a rate."""
        if isinstance(limit, Rate):
            stamps = self.extras().rates.setdefault(key, deque())
            now = self.tree.now
            while stamps and stamps[0] <= now - limit.seconds:
                stamps.popleft()
            if len(stamps) < limit.count:
                stamps.append(now)
                self.tree.undo_later((self, key, True))
                return True
        else:
            tally = self.extras().tally
            used = tally.get(key, 0)
            if used < limit:
                tally[key] = used + 1
                self.tree.undo_later((self, key, False))
                return True
        self.tree.over_limit = True
        return False

    def uncount(self, key: str, *, rate: bool) -> None:
        """Take back the last use of a limit: the branch that used it was undone."""
        if rate:
            self.extras().rates[key].pop()
        elif key in self.extras().tally:
            self.extras().tally[key] -= 1


# A seat that a started machine was lent; which started one had it before; whether somebody had taken its ``closed``.
LentSeat = tuple[PeerState, CallFrame | None, bool]


class CallFrameExtra:
    """What few frames have: limits used, conditions, standing clocks, machines started; the peers lent to one."""

    __slots__ = ("lent", "outcome", "rates", "standing", "started", "tally", "watches")

    def __init__(self) -> None:
        self.rates: dict[str, deque[float]] = {}
        self.tally: dict[str, int] = {}  # since the state was entered
        self.watches: tuple[Watched, ...] = ()  # conditions of its state, and of its ``always``
        self.standing: list[RunningTimer] = []
        self.started: dict[int, CallFrame] = {}
        self.outcome: MatchOutcome | None = None  # of the match that ends with it
        self.lent: tuple[LentSeat, ...] | None = None

    def left(self) -> None:
        """The state is left: what is counted and waited for in it is no more."""
        self.tally.clear()
        self.watches = tuple(watch for watch in self.watches if watch.always) if self.watches else ()


Heard = tuple[Any, Any, tuple[PeerState, ...]]  # who was seated, whom it awaited besides, and whose seats it heard
NOBODY_HEARD: Heard = (None, None, ())


class SuspendedAdmission(dict[int, CallFrame]):
    """Sign-ups under way, by seat, between two accepts into one name, whose slot it has; it still hears the same."""

    __slots__ = ("heard", "slot")

    heard: Heard
    slot: int


class Admission:
    """What an ``accept`` keeps while it is open: who is signing up, how many it wants, when it stops lingering."""

    __slots__ = ("heard", "high", "linger", "linger_serial", "low", "pending")

    def __init__(self, low: int, high: float) -> None:
        self.low = low
        self.high = high
        self.linger = inf
        self.linger_serial = 0
        self.pending: dict[int, CallFrame] = {}
        # Who was seated, whom it awaited besides, and whose seats it heard, when it looked last.
        self.heard: Heard = NOBODY_HEARD


class Loop:
    """The items of an ``each`` and how far it is: one after another, if it is not a `ParallelLoop`."""

    __slots__ = ("index", "items", "offset")

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items = items
        self.index = -1
        self.offset = 0  # the number of the first item's call

    def held(self) -> Iterator[Any]:
        """Yield the values that it keeps."""
        yield self.items


_NO_VIEW: list[Any] = []


class ParallelLoop(Loop):
    """Items side by side, ``width`` of them at a time; ``base`` is what the names were on entry.

    An item may start when every earlier item that shares a peer with it is done, and it sees the names as its own past
    left them: ``past[i]`` holds the items that it comes after, directly or through others.
    """

    __slots__ = ("after", "base", "before", "done", "first", "past", "results", "running", "views", "width")

    def __init__(self, items: tuple[Any, ...], width: int, base: list[Any]) -> None:
        super().__init__(items)
        self.width = width
        self.first = 0  # every item before it has been started
        self.base = base
        self.running: dict[int, CallFrame] = {}
        self.results: dict[int, Any] = {}
        self.done: set[int] = set()
        self.past: list[frozenset[int]] = []
        self.before: list[frozenset[int]] = []  # those of its past that it follows directly
        last_with: dict[int, int] = {}
        for index, item in enumerate(items):
            peers = set(peers_in(item))
            before = frozenset(last_with[peer] for peer in peers if peer in last_with)
            self.before.append(before)
            self.past.append(before.union(*(self.past[earlier] for earlier in before)))
            last_with.update(dict.fromkeys(peers, index))
        # The names as an item that others follow saw them, and as its own result left them: each is folded once.
        self.views: dict[int, list[Any]] = dict.fromkeys(frozenset[int]().union(*self.before), _NO_VIEW)
        self.after: dict[int, list[Any]] = {}

    def held(self) -> Iterator[Any]:
        """Yield the values that it keeps; the first slot of a frame is that itself."""
        yield self.items
        yield from self.results.values()
        for names in (self.base, *self.views.values(), *self.after.values()):
            yield from names[1:]

    def startable(self) -> int | None:
        """Return the first item that may start now, or None."""
        if len(self.running) >= self.width:
            return None
        while self.first in self.done or self.first in self.running:
            self.first += 1
        for index in range(self.first, len(self.items)):
            if index not in self.done and index not in self.running and self.past[index] <= self.done:
                return index
        return None


def is_within(frame: CallFrame, outer: CallFrame) -> bool:
    """Whether ``outer`` is among the callers of ``frame``: the seat was lent, not shared."""
    at = frame.parent
    while at is not None and at is not outer:
        at = at.parent
    return at is not None

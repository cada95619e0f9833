"""What a role is made of while it is explored: calls of machines, the timers that may ring, what a step leads to.

A local state is frozen to nested tuples, so that it can be compared; `machines.verification.abstract.queries` says how.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from machines.model import Branch
from machines.verification.abstract.domain import Value
from machines.verification.abstract.outlines import StateOutline
from machines.verification.abstract.role_info import MachineOutline

END = ".end"
LOST = ".lost "  # the last thing that comes from a peer: this, and why
NONSENSE = "what is no message"  # the name of a token that is none, and of the value that says why
REASON = ".reason"
SILENT_MAX = 400  # steps of one event; the exploration looks for a ring from SILENT_SEEN on
SILENT_SEEN = 12

# What a seat is to its session.
ABSENT, OPEN, TOLD, DROPPED, DROPPED_TOLD = "absent", "open", "told", "dropped", "dropped and told"
SILENT = (TOLD, DROPPED, DROPPED_TOLD)
MARKED = "marked "  # and a reason: a fault of it waits for whoever hears it next

Token = tuple[str, tuple[tuple[str, Value], ...]]  # a message on its way: its name, and the fields that decide
Reading = tuple[str, Token]  # the message that something is taken for, and what it is
Local = tuple[Any, ...]


class SilentCycle(Exception):  # noqa: N818 (the rules see to it that no run does this for ever)
    """The machine has come round to where it was, with nothing heard in between."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Something worth telling that happened within one step of a role. ``taken``: what a message is misread as."""

    kind: str  # unexpected, early, illegal, limit, misread, stale, broken, unanswered, ignored
    text: str
    message: str = ""
    state: str = ""
    seat: int = -1
    taken: str = ""


class Sent(NamedTuple):
    """A message goes out to a seat."""

    seat: int
    token: Token


class Closed(NamedTuple):
    """A connection is closed once all before it is out. ``why``: dropped, door, over, failed."""

    seat: int
    why: str


class Secured(NamedTuple):
    """From here on TLS is spoken with a seat, and what it had said before is forgotten."""

    seat: int


Effect = Sent | Closed | Secured


class Outcome(NamedTuple):
    """What one input may lead to. ``fault`` is what went wrong on the way that was no fault of the protocol.

    ``gone`` are the seats that have to be lost for it, though nobody was told yet: a condition asked ``gone(peer)``.
    """

    out: tuple[Effect, ...]
    hits: tuple[Observation, ...]
    taken: tuple[Branch, ...]
    fault: str
    event: str
    entered: tuple[str, ...] = ()  # machine.state of all states that were entered
    gone: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AbstractTimer:
    """A clock that may ring: ``at`` is its call, as `StateQueries.calls` counts. ``meant``: no fault if it does."""

    at: int
    kind: str  # late, window, linger, after0, always:every1, …
    meant: bool
    state: str


@dataclass(slots=True, eq=False)
class AbstractCall:
    """A call of a machine while a step is under way."""

    table: MachineOutline
    state: str
    env: list[Value]
    parent: AbstractCall | None
    hears: tuple[int, ...] = ()
    asked: bool = False
    told_empty: bool = False
    fired: tuple[str, ...] = ()
    loop: tuple[Any, ...] | None = None  # ("list", items, index) or ("some", value)
    child: AbstractCall | None = None
    sign_ups: dict[int, AbstractCall] | None = None
    parked: dict[int, AbstractCall] | None = None
    parked_for: str = ""
    seat: int = -1  # of a sign-up
    started: list[AbstractCall] = field(default_factory=list)  # machines begun here that nobody waits for
    lent: tuple[int, ...] | None = None  # of one that was started: the seats that only it may await
    told: tuple[int, ...] = ()  # those of them whose loss somebody had been told of before
    alive: bool = True
    result: Value = None

    @property
    def node(self) -> StateOutline:
        """The state that it is in."""
        return self.table.nodes[self.state]

    @property
    def detached(self) -> bool:
        """Whether it was started: nobody waits for it."""
        return self.lent is not None

    @property
    def host(self) -> AbstractCall | None:
        """The started machine that it is, or is run by: it awaits only what that one was lent."""
        at: AbstractCall | None = self
        while at is not None and at.lent is None:
            at = at.parent
        return at

    @property
    def is_sign_up(self) -> bool:
        """Whether an accept runs it for one connection."""
        return self.seat >= 0

    def look(self, name: str) -> Value:
        """Return the value of one of its names."""
        return self.env[self.table.index[name]]

    def children(self) -> Iterator[AbstractCall]:
        """Yield the calls made or started from here."""
        yield from self.called()
        yield from self.started

    def called(self) -> Iterator[AbstractCall]:
        """Yield the calls that it waits for."""
        if self.child is not None:
            yield self.child
        if self.sign_ups is not None:
            yield from self.sign_ups.values()
        if self.parked is not None:
            yield from self.parked.values()


def is_marked(status: str) -> bool:
    """Whether a fault of a seat waits for whoever hears it next."""
    return status.startswith(MARKED)

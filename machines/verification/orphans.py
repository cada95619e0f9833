"""Messages that are sent in one place of a spec and never read, though the same message is read where others send it.

Whether a message is read is known of its name; of the place that sent it only if each message on its way carries that.
So where some message of a name went unread though nothing was wrong, and several places send it, all is looked at once
more with those messages marked, as long as that is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from machines.analysis.traversal import all_steps
from machines.model import Call, SendMessages, Spec
from machines.verification.abstract.process import Input, Successor
from machines.verification.abstract.state import Sent
from machines.verification.abstract.steps import SENT_BY
from machines.verification.search.moves import Queue, Transition
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System

CHEAP: Final = 2_000  # states without marks: of more, with them, the search would take as long again and longer
STATES_MAX: Final = 10_000  # of each search with marks


def sent_by(spec: Spec, role: str) -> Iterator[Call]:
    """Yield each message that a role sends, with its place."""
    for machine in spec.roles[role].machines.values():
        for step in all_steps(machine):
            if isinstance(step, SendMessages):
                yield from step.messages


def doubtful(spec: Spec, missed: Iterable[str]) -> frozenset[str]:
    """Return those of some messages that several places of one role send."""
    several: set[str] = set()
    for role in spec.roles:
        seen: set[str] = set()
        for call in sent_by(spec, role) if role not in spec.foreign else ():
            (several if call.path in seen else seen).add(call.path)
    return frozenset(several.intersection(missed))


def orphans(
    make: Callable[[int], System], numbers: Iterable[int], queue: int, traced: frozenset[str]
) -> list[tuple[str, str, str, str]]:
    """Return (sender, message, receiver, place) of what is sent where nothing went wrong, and read in no run.

    ``make`` returns the cast with so many clients; nothing is told if a bound is met.
    """
    sent: set[tuple[str, str, str, str]] = set()
    read: set[tuple[str, str, str, str]] = set()
    for number in numbers:
        cast = make(number)
        for outline in cast.outlines.values():
            outline.traced = traced
        graph = _Traced(cast, queue, STATES_MAX)
        graph.build(_Nobody())
        if graph.beyond:
            return []
        sent |= graph.sent_by
        read |= graph.read_by
    return sorted(sent - read)


class _Nobody:
    """Watches a search, and asks nothing."""

    def moved(self, *_: Any) -> None:
        """Look at a move."""

    def seen(self, *_: Any) -> None:
        """Look at a state."""


class _Traced(StateSpace):
    """A search that keeps which place sent what is read."""

    def __init__(self, cast: System, queue: int, most: int) -> None:
        super().__init__(cast, queue, most)
        self.sent_by: set[tuple[str, str, str, str]] = set()
        self.read_by: set[tuple[str, str, str, str]] = set()

    def _move(self, at: int, given: Input, way: Successor) -> Transition:
        if given[0] in ("read", "overtake") and type(given[2]) is tuple and way.outcome.event.startswith("reads"):
            actor = self.cast.actors[at]
            place = dict(given[2][1]).get(SENT_BY)
            if place is not None:
                self.read_by.add((self._peer(actor, given[1]), given[2][0], actor.role, place))
        return super()._move(at, given, way)

    def _apply(self, locals_: list[int], queues: list[Queue], move: Transition, faulty: bool) -> bool:
        went_wrong = super()._apply(locals_, queues, move, faulty)
        if not (faulty or went_wrong):
            actor = self.cast.actors[move.actor]
            for effect in move.next.outcome.out if move.next is not None else ():
                place = dict(effect.token[1]).get(SENT_BY) if isinstance(effect, Sent) else None
                if place is not None and isinstance(effect, Sent):
                    self.sent_by.add((actor.role, effect.token[0], self._peer(actor, effect.seat), place))
        return went_wrong

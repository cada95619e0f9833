"""What a search is made of: global states, and moves from one to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from machines.verification.abstract.process import Input, Process, Successor
from machines.verification.search.channels import Channel
from machines.verification.search.symmetry import Projection
from machines.verification.search.system import System

Queue = Channel | None  # None: nobody will read it any more
GlobalState = tuple[tuple[int, ...], tuple[Queue, ...], bool]  # local states, queues, whether something went wrong


@dataclass(slots=True, eq=False)
class Transition:
    """An actor does something. ``others`` are moves that come with it: who connects also starts.

    The rest follows from these and is kept because most moves are made in many global states. ``works`` is what it
    does to queues, in order; ``faulty`` whether something goes wrong by it, ``fair`` whether it happens without that;
    ``loud`` whether a judge has anything to say of it; ``forced`` whether a connection is lost where neither the player
    nor a limit would end it; ``needs`` are the queues of who has to be lost before it, as a condition asks ``gone``.
    """

    actor: int
    given: Input
    next: Successor | None  # None: it dies
    others: tuple[Transition, ...] = ()
    works: tuple[tuple[int, int, Any], ...] = ()
    faulty: bool = False
    fair: bool = True
    loud: bool = False
    forced: bool = False
    needs: tuple[int, ...] = ()

    def all(self) -> Iterator[Transition]:
        """Yield the move and those that come with it."""
        yield self
        yield from self.others


# The seats an actor may read from, with their queues; the moves it makes unasked; who sits where a sign-up is open.
Own = tuple[tuple[tuple[int, int], ...], tuple[Transition, ...], frozenset[int]]


class Search(Protocol):
    """What a reduction asks of a search. See `machines.verification.search.state_space`."""

    cast: System
    used: set[str]
    empty: Channel
    shared: list[tuple[int, Process]]
    bundles: dict[int, tuple[tuple[int, ...], tuple[int, ...]]]
    without: list[Projection]
    without_end: set[str]
    refused: bool

    def reads(self, at: int, local: int, seat: int, token: Any, how: str = "read") -> tuple[Transition, ...]:
        """Return what an actor may make of something that waits for it from a seat."""

    def unasked(self, at: int, local: int) -> Own:
        """Return what an actor may do unasked in a local state."""

    def state_of(self, config: GlobalState, company: int) -> Any:
        """Return what a client is in, and what waits for it and of it."""

    def is_over(self, local: int, at: int) -> bool:
        """Whether an actor has come to its end in a local state, or was lost."""

    def has(self, config: GlobalState) -> bool:
        """Whether a global state, or one that differs only in which client is which, was found."""

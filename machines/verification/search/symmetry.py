"""Clients that are alike, and clients by themselves: whose each actor and queue is, and the orders they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from machines.verification.abstract.process import Process
from machines.verification.search.channels import Channel
from machines.verification.search.system import System


@dataclass(frozen=True, slots=True)
class Permutation:
    """Clients that are alike in another order: where each group, actor and queue is taken from.

    ``shared`` are the actors whose seats are others then: (actor, its part, what becomes of each seat). ``is_same`` if
    nothing moves.
    """

    members: tuple[int, ...]
    groups: tuple[int, ...]
    actors: tuple[int, ...]
    queues: tuple[int, ...]
    shared: tuple[tuple[int, Process, tuple[int, ...]], ...]
    is_same: bool


def bundles(cast: System) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the actors and the queues of each client of those that are alike."""
    found = {}
    for group in cast.alike_groups[0] if cast.alike_groups else []:
        actors = [at for at, actor in enumerate(cast.actors) if actor.group == group]
        queues = [queue for at in actors for pair in cast.actors[at].queues for queue in pair]
        found[group] = (tuple(actors), tuple(dict.fromkeys(queues)))
    return found


def companies(cast: System) -> list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Return of each client its actors, all its queues, and those in which it speaks to shared actors."""
    found = []
    for group in range(cast.groups):
        actors = tuple(at for at, actor in enumerate(cast.actors) if actor.group == group)
        queues = tuple(dict.fromkeys(queue for at in actors for pair in cast.actors[at].queues for queue in pair))
        shared = tuple(
            cast.actors[at].queues[seat][0]
            for at in actors
            for seat, (other, _) in enumerate(cast.actors[at].peers)
            if cast.actors[other].group < 0
        )
        found.append((actors, queues, shared))
    return found


class Orders:
    """The orders of the clients that are alike, each made when it is first asked for: there are very many."""

    def __init__(self, cast: System) -> None:
        self.cast = cast
        self.members: tuple[int, ...] = tuple(cast.alike_groups[0]) if cast.alike_groups else ()
        self.known: dict[tuple[int, ...], Permutation] = {}
        # Of each of those clients: the shared actors that it speaks to, and its seats there.
        self.seats = [
            [
                (other, theirs)
                for actor in cast.actors
                if actor.group == group
                for other, theirs in actor.peers
                if cast.actors[other].group < 0
            ]
            for group in self.members
        ]

    def ranks(self, locals_: Sequence[int]) -> list[tuple[int, ...]]:
        """Return, for each of the clients, its ranks in the local states of shared actors: see `Process.ranks`."""
        actors = self.cast.actors
        return [tuple([actors[at].part.ranks(locals_[at])[seat] for at, seat in seats]) for seats in self.seats]

    def order(self, members: tuple[int, ...]) -> Permutation:
        """Return the order in which those clients come instead of `members`."""
        found = self.known.get(members)
        if found is None:
            found = self.known[members] = _permutation(self.cast, self.members, members)
        return found


def _permutation(cast: System, members: tuple[int, ...], order: tuple[int, ...]) -> Permutation:
    groups = list(range(cast.groups))
    for place, group in zip(members, order, strict=True):
        groups[place] = group
    actor_of = list(range(len(cast.actors)))
    by_group = [[at for at, actor in enumerate(cast.actors) if actor.group == group] for group in range(cast.groups)]
    for place in members:
        for here, there in zip(by_group[place], by_group[groups[place]], strict=True):
            actor_of[here] = there
    queue_of = list(range(2 * cast.links))
    shared: list[tuple[int, Process, tuple[int, ...]]] = []
    for at, actor in enumerate(cast.actors):
        source = cast.actors[actor_of[at]]
        if actor.group >= 0:
            for seat in range(len(actor.queues)):
                for one, other in zip(actor.queues[seat], source.queues[seat], strict=True):
                    queue_of[one] = other
            continue
        # Seat s of a shared actor is of some client; it becomes the seat of the client that takes its place.
        becomes = list(range(len(actor.peers)))
        for seat, (peer, _) in enumerate(actor.peers):
            if cast.actors[peer].group in members:
                new_peer = actor_of.index(peer)
                becomes[seat] = next(s for s, (other, _) in enumerate(actor.peers) if other == new_peer)
        if becomes != list(range(len(becomes))):
            shared.append((at, actor.part, tuple(becomes)))
    same = tuple(groups) == tuple(range(cast.groups))
    return Permutation(order, tuple(groups), tuple(actor_of), tuple(queue_of), tuple(shared), same)


class Projection:
    """A cast without the actors of one client: the same as one with a client less."""

    def __init__(self, cast: System, gone: tuple[int, ...], fewer: System) -> None:
        self.gone = gone
        self.actors: list[
            tuple[int, Process, tuple[int, ...], Process]
        ] = []  # each, its part, seats left, and part there
        queues: dict[int, int] = {}
        for other, at in zip(fewer.actors, _in_the_same_order(cast, gone, fewer), strict=True):
            actor = cast.actors[at]
            kept = tuple(seat for seat, (peer, _) in enumerate(actor.peers) if peer not in gone)
            self.actors.append((at, actor.part, kept, other.part))
            for seat, theirs in zip(kept, other.queues, strict=True):
                queues.update(zip(theirs, actor.queues[seat], strict=True))
        self.queues = [queues[at] for at in range(2 * fewer.links)]

    def left(self, config: Any, empty: Channel) -> Any:
        """Return a global state as it is without the client.

        No shared actor may know of the client. ``empty`` is the empty queue of the search with one less.
        """
        locals_, queues, faulty = config
        placed = tuple([part.without(locals_[at], kept, other) for at, part, kept, other in self.actors])
        return placed, tuple([_same(queues[at], empty) for at in self.queues]), faulty


def _in_the_same_order(cast: System, gone: tuple[int, ...], fewer: System) -> list[int]:
    """Return the actors that are left in the order in which they stand in the cast with a client less."""
    left: dict[int, list[int]] = {}
    for at, actor in enumerate(cast.actors):
        if at not in gone:
            left.setdefault(actor.group, []).append(at)
    shared = left.pop(-1, [])
    groups = [iter(left[group]) for group in sorted(left)]
    rest = iter(shared)
    return [next(rest) if other.group < 0 else next(groups[other.group]) for other in fewer.actors]


def _same(queue: Channel | None, empty: Channel) -> Channel | None:
    if queue is None:
        return None
    for token in queue.tokens:
        empty = empty.then(token)
    return empty.secured if queue.plain else empty

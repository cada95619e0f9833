"""Losses that nobody would take yet: a client may as well be lost later.

Whose connection is lost at a moment at which nobody outside hears it can be lost later just as well: what the others do
meanwhile is the same whether it is there or not, as far as it does nothing itself, and what it was sent is read by
nobody either way. So a search need not let it be lost now, as long as somebody else goes on: it is lost where its loss
would be taken, or where nothing else can happen that is not the fault of another loss. What its own company makes of
the loss (a program beside it that only it speaks to) is looked at once in each of its states.

Why nothing is missed: take a run on which clients are lost now, and their losses are left out of the next state. None
of them does anything after that. If others do, the first of it that is left comes before the losses: it makes no
difference to it, and the run is the same from there on. If no others do, and somebody other than these clients could
go on, it is no standstill; and if nobody could, the losses were not left out.
"""

from __future__ import annotations

from typing import Any

from machines.verification.abstract.state import LOST
from machines.verification.search.moves import GlobalState, Search, Transition
from machines.verification.search.system import ProcessInstance

LATER = "a connection whose loss nobody would hear yet is lost later"
DIED = f"{LOST}died"


class LateLosses:
    """The clients of a search, and who hears of the loss of each."""

    def __init__(self, actors: list[ProcessInstance]) -> None:
        # Of each actor: who hears its loss and is not of its company (actor, its seat there, the queue).
        self.hearers: list[tuple[tuple[int, int, int], ...]] = []
        self.company: list[frozenset[int]] = []  # itself, and those that only it speaks to
        for at, actor in enumerate(actors):
            company = {at}
            outside: list[tuple[int, int, int]] = []
            for (other, theirs), (outgoing, _) in zip(actor.peers, actor.queues, strict=True):
                if actor.group >= 0 and all(peer == at for peer, _ in actors[other].peers):
                    company.add(other)
                else:
                    outside.append((other, theirs, outgoing))
            self.hearers.append(tuple(outside))
            self.company.append(frozenset(company))
        self.looked_at: set[Any] = set()

    def left_out(self, graph: Search, config: GlobalState, moves: list[Transition]) -> list[Transition]:
        """Return the moves of a state without the losses that may as well come later."""
        later: list[Transition] = []
        gone: set[int] = set()
        needed = {queue for move in moves for queue in move.needs}
        for move in moves:
            if move.given == ("die",) and not self._is_heard(graph, config, move.actor, needed):
                later.append(move)
                gone |= self.company[move.actor]
        if not later or not any(_goes_on(move) and move.actor not in gone for move in moves):
            return moves
        kept = [move for move in later if self._is_new(graph, config, move)]
        if len(kept) == len(later):
            return moves
        graph.used.add(LATER)
        out = {id(move) for move in later} - {id(move) for move in kept}
        return [move for move in moves if id(move) not in out]

    def _is_heard(self, graph: Search, config: GlobalState, at: int, needed: set[int]) -> bool:
        """Whether somebody outside would take the loss of an actor now, could be told of it, or asks for it."""
        locals_, queues, _ = config
        for other, theirs, outgoing in self.hearers[at]:
            queue = queues[outgoing]
            local = locals_[other]
            if queue is None or local < 0:
                continue
            if outgoing in needed:
                return True
            if queue.tokens:
                if theirs in graph.unasked(other, local)[2]:
                    return True
            elif graph.reads(other, local, theirs, DIED):
                return True
        return False

    def _is_new(self, graph: Search, config: GlobalState, move: Transition) -> bool:
        """Whether a client was never lost yet in what it is in, with what waits for it and of it."""
        of = (move.actor, graph.state_of(config, graph.cast.actors[move.actor].group))
        if of in self.looked_at:
            return False
        self.looked_at.add(of)
        return True


def _goes_on(move: Transition) -> bool:
    """Whether a state with this move is no standstill, be it one in which something went wrong."""
    return move.fair or move.given[0] == "ring"

"""Whole games behind a network that delays: what a spec that is proved must stand, whatever is late.

Each way of each connection has a delay of its own, in virtual time: none, always the same, or another each time; what
is sent on it arrives in order. Players take their time too. Everybody keeps to the protocol, so nobody may be sent what
it does not expect, no session may fail, and nobody may wait for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from random import Random
from typing import Any

from machines.effects import Ask, Drop, Ended, Send
from machines.engine.session import Program
from machines.model import Spec
from runtime.simulation.instrumentation import SessionFault
from runtime.simulation.judged_game import JudgedActor, JudgedGame

DELAYS = (0.0, 0.01, 0.3, 0.9, 1.5, 4.0, 9.0, 15.0, 40.0, 100.0)  # seconds
SLOWEST = (0.01, 0.3, 0.3, 1.5, 4.0, 9.0, 15.0, 100.0)  # delay of a game: where all are long, few games go far
PAUSES = (0.2, 3.0, 6.0, 20.0)  # that a player thinks, seconds
THOUGHTFUL = (0.0, 0.02, 0.1, 0.4)  # of its questions that a player thinks about
BREACHES = ("unexpected", "unknown", "malformed")  # reasons of `invalid` that no delay excuses


class Witness:
    """Looks on at a game, and notes what a proof rules out."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def fault(self, stage: JudgedGame, actor: JudgedActor, fault: SessionFault) -> None:
        """A message came that is not expected."""
        if fault.event == ".invalid" and fault.reason in BREACHES and not fault.own:
            last = "; ".join(stage.trace())
            self.found.append(f"{actor.name}: {fault.reason} in {fault.machine}.{fault.state}, after {last}")

    def property_broken(self, stage: JudgedGame, actor: JudgedActor, text: str) -> None:
        """A property does not hold."""
        self.found.append(f"{actor.name}: {text}")

    def ended(self, stage: JudgedGame, actor: JudgedActor, ended: Ended) -> None:
        """A session that others share failed, or any did in an expression."""
        shared = actor.session.program.accepts and not actor.session.program.per_connection
        if ended.failed is not None and (shared or actor.session.broke is not None):
            self.found.append(f"{actor.name} failed: {ended.failed}")


class DelayedGame(JudgedGame):
    """A game whose messages and answers take their time, drawn from a number."""

    def __init__(self, spec: Spec, programs: Mapping[str, Program], audience: Witness, *, seed: int) -> None:
        self._chance = Random(seed)
        self._on_way: list[tuple[float, int, Any]] = []
        self._count = 0
        self._last: dict[tuple[str, int], float] = {}  # when what was sent last on a way arrives
        self._pace: dict[tuple[str, int], list[float]] = {}
        slowest = self._chance.choice(SLOWEST)
        self._delays = [delay for delay in DELAYS if delay <= slowest]
        self._thoughtful = self._chance.choice(THOUGHTFUL)
        super().__init__(spec, programs, audience, seed=seed)

    def arrive(self) -> bool:
        """Let what is due arrive, before anybody new comes."""
        if self._on_way and self._on_way[0][0] <= self.now:
            heappop(self._on_way)[2]()
            return True
        return super().arrive()

    def next_moment(self) -> float | None:
        """See `Simulation.next_moment`."""
        moments = [super().next_moment(), self._on_way[0][0] if self._on_way else None]
        return min((moment for moment in moments if moment is not None), default=None)

    def check_progress(self, step: int) -> None:
        """Nothing: what is on its way is not seen by who looks whether all stands as before."""

    def cross(self, actor: JudgedActor, seat: int, data: bytes, message: str) -> None:
        """Put bytes on their way."""
        self._put(actor, seat, lambda: JudgedGame.cross(self, actor, seat, data, message))

    def cut(self, actor: JudgedActor, seat: int, why: str) -> None:
        """Put the end of a connection on its way."""
        self._put(actor, seat, lambda: JudgedGame.cut(self, actor, seat, why))

    def decide(self, actor: JudgedActor, ask: Ask) -> None:
        """Let a player think; if the question is moot by then, it has no answer to give."""
        if self._chance.random() >= self._thoughtful:
            super().decide(actor, ask)
            return

        def thought() -> None:
            if ask.number in actor.session.questions and actor.ended is None:
                JudgedGame.decide(self, actor, ask)

        self._at(self.now + self._chance.choice(PAUSES), thought)

    def stands_still(self) -> list[str]:
        """Return who waits for ever, now that nothing moves any more."""
        return [
            f"{actor.name} waits for ever in {actor.session.where()}"
            for actor in self.actors
            if actor.ended is None and actor.seat is not None and not actor.blame and not actor.questions
        ]

    def _put(self, actor: JudgedActor, seat: int, arrives: Any) -> None:
        way = actor.name, seat
        if way not in self._pace:
            constant = self._chance.choice(self._delays)
            self._pace[way] = self._chance.choice([[0.0], [0.0], [constant], self._delays])
        due = max(self._last.get(way, 0.0), self.now + self._chance.choice(self._pace[way]))
        self._last[way] = due
        self._at(due, arrives)

    def _at(self, due: float, happens: Any) -> None:
        self._count += 1
        heappush(self._on_way, (due, self._count, happens))


__all__ = ["DelayedGame", "Drop", "Send", "Witness"]

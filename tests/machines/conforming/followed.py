"""Games in memory, in virtual time, in which each program is followed from outside: only what crosses is seen."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from machines.conforming.following import GARBAGE, Follower
from machines.conforming.role_knowledge import RoleKnowledge
from machines.effects import Drop, Effect, Ended
from machines.engine.session import Program
from machines.model import Spec
from runtime.simulation.campaign import Campaign
from runtime.simulation.fault_injection import InjectedFault
from runtime.simulation.judged_game import JudgedActor, JudgedGame
from runtime.simulation.network import EndlessError
from runtime.simulation.oracle import Oracle
from runtime.simulation.scenarios import GameScenario

SEATS = 4


class FollowedSimulation(JudgedGame):
    """A game whose programs are followed; ``followers`` by the name of the actor."""

    def __init__(self, *given: Any, knowledge: Mapping[str, RoleKnowledge], **named: Any) -> None:
        self.knowledge = knowledge
        self.followers: dict[str, Follower] = {}
        super().__init__(*given, **named)

    def follower(self, actor: JudgedActor) -> Follower:
        key = f"{actor.name} {id(actor)}"
        if key not in self.followers:
            self.followers[key] = Follower(self.knowledge[actor.role])
            self.followers[key].start(self.now)
        return self.followers[key]

    def _link(self, actor: JudgedActor, at: int, other: JudgedActor, there: int) -> None:
        super()._link(actor, at, other, there)
        self.follower(actor)
        if other.session.program.accepts and not other.session.program.per_connection:
            self.follower(other).connected(there, self.now)

    def cross(self, actor: JudgedActor, seat: int, data: bytes, message: str) -> None:
        if seat in actor.links:
            other, there = actor.links[seat]
            names = self.follower(actor).said(seat, data, self.now)
            reader = self.knowledge[actor.role].reader
            if not names:  # nobody follows it any more
                names = [tokens or (GARBAGE,) for tokens in (reader.tokens(data.strip()),)]
            for tokens in names:
                self.follower(other).told(there, tokens, self.now)
        super().cross(actor, seat, data, message)

    def cut(self, actor: JudgedActor, seat: int, why: str) -> None:
        if seat in actor.links:
            other, there = actor.links[seat]
            self.follower(actor).ended(seat, self.now)
            self.follower(other).hung_up(there, self.now)
            super().cut(actor, seat, why)
            self.follower(other).ended(there, self.now)  # whoever runs a session closes what is lost

    def take_in(self, actor: JudgedActor, effects: list[Effect]) -> None:
        super().take_in(actor, effects)
        if any(isinstance(effect, Ended) for effect in effects):  # whoever runs a session closes all that is left
            self.queue.extend((actor, Drop(seat, "over")) for seat in list(actor.links))

    def play(self) -> None:
        super().play()
        for actor in self.actors if not self.deed_done else ():  # such games are given up before their end
            self.follower(actor).idle(self.now + 1e5, 1.0)


class FollowedCampaign:
    """All games of a spec, each program in them followed."""

    def __init__(self, spec: Spec, rules: Mapping[str, ModuleType], seats: int = SEATS) -> None:
        self.campaign = Campaign(spec, rules)
        self.programs = {role: Program(spec, role, rules) for role in spec.roles}
        self.knowledge = {role: RoleKnowledge(program, rules, seats) for role, program in self.programs.items()}

    def play(self, scene: GameScenario, seed: int, deed: InjectedFault | None = None) -> FollowedSimulation:
        judge = Oracle(scene, seed, counted=False)
        game = FollowedSimulation(
            self.campaign.spec, self.programs, judge, seed=seed, deed=deed, knowledge=self.knowledge
        )
        self.campaign.invite(game, scene, seed)
        with suppress(EndlessError):
            game.play()
        return game


__all__ = ["Effect", "FollowedCampaign", "FollowedSimulation"]

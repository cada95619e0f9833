"""What is wrong with a game. A600 to A603: its pages are in `runtime.simulation.manual`.

Nobody who has the blame is owed anything, and nothing is held against who met them. What is left is the protocol's own
fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from machines.effects import Ended
from machines.engine import routing
from machines.problems import Place, Problem
from runtime.simulation.instrumentation import SessionFault
from runtime.simulation.judged_game import AFTER_MAX, JudgedActor, JudgedGame
from runtime.simulation.scenarios import GameScenario

_RULES: Final = ("illegal", "limit")  # what only the rules of a game can say of a message
_WHEN: Final = {".timeout": "is late", ".closed": "is gone"}


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing wrong in a game: its code, what happened, where in the file, in which game, and its last messages."""

    code: str
    text: str
    place: Place | None
    scene: str
    seed: int
    trace: tuple[str, ...]
    endless: bool = False

    def problem(self, otherwise: Place) -> Problem:
        """Return it as a problem of its spec; ``otherwise`` is the place of one that has none."""
        return Problem(self.place or otherwise, self.code, f"{self.text}, when {self.scene} (seed {self.seed})")


class Oracle:
    """Looks on at one game. ``counted`` says whether all who belong to a game of the spec are there in it."""

    def __init__(self, scene: GameScenario, seed: int, *, counted: bool) -> None:
        self.scene = scene
        self.seed = seed
        self.counted = counted
        self.found: list[Failure] = []
        self.left: list[tuple[str, Failure]] = []  # with its role, whose own peer has gone, which it does not answer

    def fault(self, stage: JudgedGame, actor: JudgedActor, fault: SessionFault) -> None:
        """Say whether a session that met a fault holds it against somebody who did nothing wrong."""
        if actor.blame or self._server_to_blame(stage):
            return
        if fault.own:
            self._own_player(stage, actor, fault)
            return
        other = actor.met.get(fault.seat) if fault.seat is not None else None
        if other is None or other.blame:
            return
        if fault.reason in _RULES and not other.vouched:
            stage.accuse(other, "nobody vouches for what its player says")
            return
        if fault.event == ".timeout" and (fault.sign_up or not fault.punished or self._somebody_to_blame(stage)):
            return  # they may wait for somebody who owes them nothing
        if fault.event == ".timeout" and not (self.counted or actor.last_word.get(fault.seat or 0)):
            return  # or for others, who may never come: nobody owes it an answer
        if fault.event == ".closed" and not self._is_a_loss(stage, actor, fault):
            return
        what = _WHEN.get(fault.event) or f"says what is {fault.reason}"
        answer = "" if fault.answered else ", which nothing answers"
        where = f"{actor.role} in {fault.machine}.{fault.state}"
        text = f"{other.role} does nothing wrong, but {what} for {where}{answer}"
        if fault.event == ".closed" and not fault.answered and other.session.program.per_connection:
            self.left.append((actor.role, self._trouble(stage, "A602", text, fault.place)))
        else:
            self._tell(stage, "A602", text, fault.place)

    def _is_a_loss(self, stage: JudgedGame, actor: JudgedActor, fault: SessionFault) -> bool:
        """Whether it matters that a peer has gone: others play on, and the branch for a breach is taken."""
        if not fault.punished or self._somebody_to_blame(stage) or actor.session.program.per_connection:
            return False
        return fault.answered or actor.ended is not None  # else it left while it signed up

    def property_broken(self, stage: JudgedGame, actor: JudgedActor, text: str) -> None:
        """Say so, if all others keep to the protocol."""
        if not actor.blame:
            self._tell(stage, "A603", f"{actor.role}: {text}", _property_place(stage, text))

    def ended(self, stage: JudgedGame, actor: JudgedActor, ended: Ended) -> None:
        """Say whether a session that failed had a right to."""
        if ended.failed is None or actor.blame or (actor.seat is not None and self._server_to_blame(stage)):
            return
        faults = actor.session.faults
        if actor.session.broke is None and faults and not faults[-1].answered:
            if not actor.session.program.accepts or actor.session.program.per_connection:
                return  # only its own session: whether that is right was asked when the fault came
            other = actor.met.get(faults[-1].seat) if faults[-1].seat is not None else None
            if other is not None and not other.blame:
                return
        self._tell(stage, "A600", f"{actor.role} fails: {ended.failed}", actor.session.broke)

    def finish(self, stage: JudgedGame) -> None:
        """Look at who is left when nothing moves any more."""
        if self._server_to_blame(stage) or self.scene.lonely or stage.after_deed > AFTER_MAX:
            return
        # Who relies on it fails when the session that it has for itself has ended, unless others come to a better end.
        fine = {actor.role for actor in stage.actors if actor.ended is not None and actor.ended.failed is None}
        self.found += [trouble for role, trouble in self.left if role in fine]
        for actor in stage.actors:
            if actor.ended is not None or actor.blame or actor.seat is None or actor.questions:
                continue
            if not any(other.blame for other, _ in actor.links.values()):
                waits = next(routing.leaves(actor.session), None)
                place = actor.session.place_of(waits) if waits is not None else None
                self._tell(stage, "A601", f"{actor.role} never ends: it waits in {actor.session.where()}", place)

    def endless(self, stage: JudgedGame, why: str) -> None:
        """Say that the game goes on and on, for sure."""
        text = f"the game does not end: {why}"
        self.found.append(self._trouble(stage, "A601", text, stage.place(), endless=True))

    def _own_player(self, stage: JudgedGame, actor: JudgedActor, fault: SessionFault) -> None:
        if fault.event != ".invalid":
            return
        if actor.vouched:
            text = f"{actor.role} refuses in {fault.machine}.{fault.state} what its own player answers: {fault.reason}"
            self._tell(stage, "A602", text, fault.place)
        else:
            stage.accuse(actor, "its player's answer was refused")

    def _server_to_blame(self, stage: JudgedGame) -> bool:
        return any(actor.blame and actor.seat is None for actor in stage.actors)

    def _somebody_to_blame(self, stage: JudgedGame) -> bool:
        amiss = self.scene.lonely or self.scene.deed is not None
        return amiss or any(actor.blame for actor in stage.actors)

    def _tell(self, stage: JudgedGame, code: str, text: str, place: Place | None) -> None:
        self.found.append(self._trouble(stage, code, text, place))

    def _trouble(
        self, stage: JudgedGame, code: str, text: str, place: Place | None, *, endless: bool = False
    ) -> Failure:
        return Failure(code, text, place, self.scene.name, self.seed, stage.trace(), endless)


def _property_place(stage: JudgedGame, text: str) -> Place | None:
    return next((one.place for one in stage.spec.properties if f"{one.name!r}" in text), None)


def once(troubles: Sequence[Failure]) -> list[Failure]:
    """Return each kind of trouble once, as it was first met: the same code at the same place, or of the same words."""
    found: dict[object, Failure] = {}
    for trouble in troubles:
        found.setdefault((trouble.code, trouble.place or trouble.text), trouble)
    return list(found.values())

"""All roles of a spec in memory: bytes cross at once, time passes when nothing else moves, players decide at
once unless who extends it lets them think.

A `Simulation` plays one game. An *actor* is one program in it with its session; a client's actors have its seat. What
players are, who comes when, and what is noted of a game is for those who extend it: `runtime.simulation.judged_game`
and `runtime.simulation.local_games`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, Self, TypeVar

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Send
from machines.engine import routing
from machines.engine.session import Program, Session
from machines.model import Spec

CROSSINGS_MAX: Final = 30_000  # steps that follow on one another without any time passing
ANSWERS_MAX: Final = 5_000  # of one player in a game; the longest game of a shipped spec asks for 800
RINGS_MAX: Final = 1_500  # moments of a game at which a clock rings
SECONDS_MAX: Final = 1e6  # of a game, a week and a half: no limit of a protocol is longer


@dataclass(eq=False)
class Actor:
    """One program of a game. ``seat`` counts the clients, None for a role that stands for all; ``links`` are by seat.

    ``met`` has whom it is or was linked with, ``questions`` what its player was not asked yet.
    """

    name: str
    role: str
    session: Session
    seat: int | None
    links: dict[int, tuple[Self, int]] = field(default_factory=dict)
    met: dict[int, Self] = field(default_factory=dict)
    questions: list[Ask] = field(default_factory=list)
    answers: int = 0

    @property
    def ended(self) -> Ended | None:
        """How its session ended; None if it has not."""
        return self.session.ended


AnyActor = TypeVar("AnyActor", bound=Actor)


class EndlessError(Exception):
    """A game does not come to an end; the text says what goes on. Unless it is ``sure`` it might, further on."""

    def __init__(self, text: str, *, sure: bool = False) -> None:
        self.sure = sure
        super().__init__(text)


class Simulation(ABC, Generic[AnyActor]):
    """One game: who plays, what is on its way, what time it is.

    ``programs`` has every role compiled. Each bound of a game is ``longer`` times as high.
    """

    def __init__(self, spec: Spec, programs: Mapping[str, Program], *, longer: int = 1) -> None:
        self.spec = spec
        self.programs = programs
        self.unended = ""  # why it was given up before its end, if it was
        self.now = 0.0
        self.actors: list[AnyActor] = []
        self.standing: dict[str, AnyActor] = {}  # those that stand for all, by role
        self.queue: deque[tuple[AnyActor, Effect]] = deque()  # what is on its way: `Send` and `Drop`
        self.longer = longer
        self._turn = 0  # the first of the actors that may be asked next

    # -- for those who extend it -------------------------------------------------------------------------------------

    @abstractmethod
    def make_actor(self, role: str, name: str, seat: int | None, owner: AnyActor | None) -> AnyActor:
        """Return a new actor. ``owner`` is the client that has one of its own of this role; None for all others."""

    @abstractmethod
    def decide(self, actor: AnyActor, ask: Ask) -> None:
        """Put a question to an actor's player, and hand its answer to the session."""

    def arrive(self) -> bool:
        """Let the next client in whose time has come; return whether there was one."""
        return False

    def next_moment(self) -> float | None:
        """Return when something happens that no session's clock rings for; None if nothing does."""
        return None

    def may_answer(self, actor: AnyActor, ask: Ask) -> bool:
        """Whether an actor's player has thought about a question for as long as it thinks."""
        return True

    def rang(self, *, heard: bool) -> None:
        """Do what is due once clocks have rung; ``heard`` says whether a session took it for an event."""

    def is_over(self) -> bool:
        """Whether nothing more is to be played."""
        return False

    def check_progress(self, step: int) -> None:
        """Raise EndlessError if the game cannot go on; ``step`` counts from 0 whenever time has passed."""

    def steps_told(self) -> str:
        """Return what a game that goes on and on was last seen to do, in brackets behind a blank; empty if unknown."""
        return ""

    # -- who plays ---------------------------------------------------------------------------------------------------

    def open_standing(self) -> None:
        """Start every role that stands for all."""
        for role in self.spec.listeners():
            if role in self.programs and not self.programs[role].per_connection:
                self.standing[role] = self.open(role, role, None)

    def open(self, role: str, name: str, seat: int | None, caller: tuple[AnyActor, int] | None = None) -> AnyActor:
        """Start a role, and every role that it has one of its own of; ``caller`` connects to it with its seat."""
        program = self.programs[role]
        actor = self.make_actor(role, name, seat, caller[0] if caller is not None else None)
        self.actors.append(actor)
        for at, target in enumerate(program.connects):
            if self.programs[target].per_connection:
                self.open(target, f"{target} of {name}", seat, (actor, at))
            else:
                self._connect(actor, at, self.standing[target])
        if caller is not None:
            other, there = caller
            self._link(actor, len(program.connects), other, there)
        self.take_in(actor, actor.session.start(self.now))
        return actor

    def _connect(self, actor: AnyActor, at: int, other: AnyActor) -> None:
        self._link(actor, at, other, len(other.session.seats))
        _, effects = other.session.connect(self.now)
        self.take_in(other, effects)

    def _link(self, actor: AnyActor, at: int, other: AnyActor, there: int) -> None:
        actor.links[at], other.links[there] = (other, there), (actor, at)
        actor.met[at], other.met[there] = other, actor

    # -- a game ------------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play until nothing moves any more, or all are over.

        Raises:
            EndlessError: it goes on and on.
        """
        self._settle()
        for _ in range(RINGS_MAX * self.longer):
            if self.is_over():
                return
            running = [actor for actor in self.actors if actor.ended is None]
            due = min((actor.session.deadline for actor in running if actor.session.deadline is not None), default=None)
            moment = self.next_moment()
            if moment is not None:
                due = min(moment, due if due is not None else SECONDS_MAX)
            if due is None or due > SECONDS_MAX:
                return
            self.now = max(self.now, due)
            heard = False
            for actor in running:
                own = actor.session.deadline
                if own is not None and own <= self.now:
                    heard = self.ring(actor) or heard
            self._settle()
            self.rang(heard=heard)
            self._settle()
        self.unended = self.unended or f"a clock rang {RINGS_MAX * self.longer} times, {self.whereabouts()}"

    def ring(self, actor: AnyActor) -> bool:
        """Let an actor's clock ring; return whether its session took it for an event."""
        self.take_in(actor, actor.session.tick(self.now))
        return bool(actor.session.transitions)

    def _settle(self) -> None:
        for step in range(CROSSINGS_MAX * self.longer):
            if self.is_over():
                return
            self.check_progress(step)
            if self.queue:
                actor, effect = self.queue.popleft()
                if isinstance(effect, Send):
                    self.cross(actor, effect.peer, effect.data, effect.message)
                elif isinstance(effect, Drop):
                    self.cut(actor, effect.peer, effect.why)
            elif not self.arrive() and not self._ask_next():
                return
        steps = f"{CROSSINGS_MAX * self.longer} steps followed on one another while no time passed"
        raise EndlessError(f"{steps}{self.steps_told()}, {self.whereabouts()}")

    def _ask_next(self) -> bool:
        """Let a player decide who is asked something, each in turn; return whether one was."""
        count = len(self.actors)
        for step in range(count):
            at = (self._turn + step) % count
            actor = self.actors[at]
            if not actor.questions or actor.ended is not None or not self.may_answer(actor, actor.questions[0]):
                continue
            self._turn = at + 1
            ask = actor.questions.pop(0)
            if actor.answers >= ANSWERS_MAX * self.longer:
                asked = f"{actor.name} was asked {ANSWERS_MAX * self.longer} times, at last {ask.question}"
                raise EndlessError(f"{asked}, {self.whereabouts()}")
            actor.answers += 1
            self.decide(actor, ask)
            return True
        return False

    # -- what crosses ------------------------------------------------------------------------------------------------

    def cross(self, actor: AnyActor, seat: int, data: bytes, message: str) -> None:
        """Hand bytes over to whom an actor is linked with."""
        if seat in actor.links:
            other, there = actor.links[seat]
            if other.ended is None:
                self.take_in(other, other.session.receive(there, data, self.now))

    def cut(self, actor: AnyActor, seat: int, why: str) -> None:
        """End a link; both sides lose it."""
        if seat in actor.links:
            other, there = actor.links.pop(seat)
            other.links.pop(there, None)
            for one, at in ((other, there), (actor, seat)):
                if one.ended is None and at < len(one.session.seats):
                    self.take_in(one, one.session.lose(at, self.now))

    def take_in(self, actor: AnyActor, effects: list[Effect]) -> None:
        """Do what a session wants done. Notes, and that reading stops, are nothing here: all is read in its time."""
        for effect in effects:
            match effect:
                case Send():
                    self.send(actor, effect)
                case Drop():
                    self.drop(actor, effect)
                case Ask():
                    actor.questions.append(effect)
                case Cancel(number):
                    actor.questions = [ask for ask in actor.questions if ask.number != number]
                case Ended():
                    actor.questions.clear()
                case _:
                    pass

    def send(self, actor: AnyActor, effect: Send) -> None:
        """Put a message on its way."""
        self.queue.append((actor, effect))

    def drop(self, actor: AnyActor, effect: Drop) -> None:
        """Put the end of a link on its way, behind all that was sent there before."""
        self.queue.append((actor, effect))

    # -- where it stands ---------------------------------------------------------------------------------------------

    def host(self) -> AnyActor | None:
        """Return who stands for the game among those that have not ended: of those that others connect to, the last."""
        running = [actor for actor in self.actors if actor.ended is None]
        hosts = [actor for actor in running if actor.session.program.accepts]
        return next(reversed(hosts or running), None)

    def whereabouts(self) -> str:
        """Say where who stands for the game is, for people."""
        host = self.host()
        frame = next(routing.leaves(host.session), None) if host is not None else None
        if host is None or frame is None:
            return "and all have ended"
        return f"{host.role} is in {frame.table.name}.{frame.node.name}"

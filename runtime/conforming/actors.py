"""Our side of a case: real sessions of all other roles. Bytes between them cross at once; what goes to the stranger
is handed on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Received, Send, Violation
from machines.engine.session import Program, Session
from machines.model import Spec

STEPS_MAX: Final = 30_000  # that follow on one another without anything from outside


class OwnDecider(Protocol):
    """Who decides for a session of ours."""

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Take note of a message."""

    def decide(self, ask: Ask) -> tuple[Any, bool] | None:
        """Return an answer, and whether it is within the rules; None for silence."""


Casting = Callable[[str, str, int, int], OwnDecider]  # of a role, a name, a seat and a seed


@dataclass(eq=False)
class OwnActor:
    """A session of ours. ``links`` lead to other sessions of ours, ``foreign`` are the seats of the stranger."""

    name: str
    role: str
    session: Session
    number: int
    decider: OwnDecider | None = None
    links: dict[int, tuple[OwnActor, int]] = field(default_factory=dict)
    foreign: dict[int, int] = field(default_factory=dict)  # our seat -> the stranger's link
    questions: list[Ask] = field(default_factory=list)
    vouched: bool = True

    def is_signing_up(self, seat: int) -> bool:
        """Whether a seat has connected and is not let in yet."""
        root = self.session.root
        return root is not None and root.accepting is not None and seat in root.accepting.pending


class Ensemble:
    """All sessions of ours in a case.

    ``send`` and ``close`` are called with the number of a link of the stranger: what goes to it. ``noted`` sees each
    effect of a session, with the input that led to it, for a journal.
    """

    def __init__(
        self,
        spec: Spec,
        programs: Mapping[str, Program],
        casting: Casting,
        seed: int,
        *,
        send: Callable[[int, str, bytes], None],
        close: Callable[[int], None],
        noted: Callable[..., None],
    ) -> None:
        self.spec = spec
        self.programs = programs
        self.actors: list[OwnActor] = []
        self.standing: dict[str, OwnActor] = {}
        self.violations: list[tuple[OwnActor, Violation]] = []
        self._casting = casting
        self._seed = seed
        self._send = send
        self._close = close
        self._noted = noted
        self._queue: deque[tuple[OwnActor, Effect]] = deque()

    def open(self, role: str, name: str, seat: int | None, now: float) -> OwnActor:
        """Make a session; it is not started yet."""
        program = self.programs[role]
        number = len(self.actors)
        my = {} if program.accepts else {"name": name}
        seed = self._seed if program.accepts and not program.per_connection else _seeded(self._seed, name, role)
        session = Session(program, seed=seed, my=my, watch=True)
        actor = OwnActor(name, role, session, number)
        if seat is not None:
            actor.decider = self._casting(role, name, seat, seed)
        self.actors.append(actor)
        if program.accepts and not program.per_connection:
            self.standing[role] = actor
        return actor

    def start(self, actor: OwnActor, now: float) -> None:
        """Start a session whose connections are all there."""
        session = actor.session
        self._input(actor, "start", now, session.start(now), seed=session.seed, my=dict(session.my))

    def join(self, role: str, name: str, seat: int, now: float) -> OwnActor:
        """Let a client of ours come, with all sessions that it has of its own."""
        actor = self.open(role, name, seat, now)
        for at, target in enumerate(self.programs[role].connects):
            self.reach(actor, at, target, seat, now)
        self.start(actor, now)
        return actor

    def reach(self, actor: OwnActor, at: int, target: str, seat: int, now: float) -> None:
        """Connect a session's seat to a role of ours: to the one session that stands there, else to one of its own."""
        host = self.standing.get(target)
        if host is None:
            own = self.open(target, f"{target} of {actor.name}", seat, now)
            there = len(own.session.program.connects)
            actor.links[at], own.links[there] = (own, there), (actor, at)
            self.start(own, now)
        elif host.session.ended is None:
            there = len(host.session.seats)
            actor.links[at], host.links[there] = (host, there), (actor, at)
            self.accept(host, now)

    def accept(self, host: OwnActor, now: float) -> int:
        """Let a connection come to a session; return its seat."""
        seat, effects = host.session.connect(now)
        self._input(host, "connect", now, effects, peer=seat)
        return seat

    def receive(self, actor: OwnActor, seat: int, chunk: bytes, now: float) -> None:
        """Hand bytes to a session."""
        if actor.session.ended is None:
            self._input(actor, "bytes", now, actor.session.receive(seat, chunk, now), peer=seat, data=chunk)

    def lose(self, actor: OwnActor, seat: int, now: float) -> None:
        """Tell a session that a connection has ended."""
        if actor.session.ended is None and seat < len(actor.session.seats):
            self._input(actor, "lost", now, actor.session.lose(seat, now), peer=seat)

    def tick(self, now: float) -> None:
        """Let clocks ring that are due."""
        for actor in self.actors:
            due = actor.session.deadline
            if due is not None and due <= now:
                self._input(actor, "tick", now, actor.session.tick(now))

    def deadline(self) -> float | None:
        """Return when a clock rings next."""
        return min((one.session.deadline for one in self.actors if one.session.deadline is not None), default=None)

    def settle(self, now: float) -> None:
        """Let bytes cross and players decide until nothing moves."""
        for _ in range(STEPS_MAX):
            if self._queue:
                actor, effect = self._queue.popleft()
                if isinstance(effect, Send):
                    self._cross(actor, effect, now)
                elif isinstance(effect, Drop):
                    self._cut(actor, effect.peer, now)
            elif not self._decide(now):
                return

    def _decide(self, now: float) -> bool:
        for actor in self.actors:
            if actor.questions and actor.session.ended is None and actor.decider is not None:
                ask = actor.questions.pop(0)
                decided = actor.decider.decide(ask)
                if decided is not None:
                    answer, vouched = decided
                    actor.vouched = actor.vouched and vouched
                    effects = actor.session.answer(ask.number, answer, now)
                    self._input(actor, "answer", now, effects, number=ask.number, value=answer)
                return True
        return False

    def _cross(self, actor: OwnActor, effect: Send, now: float) -> None:
        if effect.peer in actor.foreign:
            self._send(actor.foreign[effect.peer], effect.message, effect.data)
        elif effect.peer in actor.links:
            other, there = actor.links[effect.peer]
            self.receive(other, there, effect.data, now)

    def _cut(self, actor: OwnActor, seat: int, now: float) -> None:
        if seat in actor.foreign:
            self._close(actor.foreign[seat])
        elif seat in actor.links:
            other, there = actor.links.pop(seat)
            other.links.pop(there, None)
            self.lose(other, there, now)
            self.lose(actor, seat, now)

    def _input(self, actor: OwnActor, kind: str, now: float, effects: list[Effect], **what: Any) -> None:
        self._noted(actor, kind, now, effects, **what)
        for effect in effects:
            match effect:
                case Send() | Drop():
                    self._queue.append((actor, effect))
                case Ask():
                    actor.questions.append(effect)
                case Cancel(number):
                    actor.questions = [ask for ask in actor.questions if ask.number != number]
                case Received(_, message, fields):
                    if actor.decider is not None:
                        actor.decider.heard(message, fields)
                case Violation():
                    self.violations.append((actor, effect))
                case Ended():
                    actor.questions.clear()
                    self._queue.extend((actor, Drop(seat, "over")) for seat in (*actor.links, *actor.foreign))
                case _:
                    pass


def _seeded(seed: int, name: str, role: str) -> int:
    return Random(f"{seed} {name} {role}").getrandbits(62)

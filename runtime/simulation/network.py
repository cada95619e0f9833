"""All roles of a spec in memory: bytes cross at once, time passes when nothing else moves, players decide at once.

A `Simulation` plays one game. An *actor* is one program in it with its session. One of them may do an
`InjectedFault` against the protocol; whoever has done something of that kind is responsible from then on, and is
owed nothing any more.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final, Protocol

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Received, Send
from machines.engine import routing
from machines.engine.session import Program
from machines.model import Spec
from machines.problems import Place
from machines.verification.temporal import Monitor
from runtime.players.seeds import derived_seed
from runtime.simulation.cycle_detection import AnswerCoverage, Kept, digest, draws, kept, standing
from runtime.simulation.fault_injection import InjectedFault, done
from runtime.simulation.instrumentation import InstrumentedSession, SessionFault
from runtime.simulation.scenarios import counted_doors
from runtime.terminal_text import escape_control_characters

CROSSINGS_MAX: Final = 30_000  # steps that follow on one another without any time passing
AFTER_MAX: Final = 150  # messages of a game once its deed is done: what comes of that has come by then
ANSWERS_MAX: Final = 5_000  # of one player in a game; the longest game of a shipped spec asks for 800
TRIED_FROM: Final = 100  # answers of a player after which it is noted what was tried: most games have ended by then
RINGS_MAX: Final = 1_500  # moments of a game at which a clock rings
LOOKS: Final = 1_000  # steps without time after which it is looked whether the game stands as before: 4, 16, ... times
SECONDS_MAX: Final = 1e6  # of a game, a week and a half: no limit of a protocol is longer
TAIL: Final = 8  # messages that a trace has
SHOWN_MAX: Final = 100  # characters of a message that a trace shows

Happening = tuple[float, str, str, str, bytes]  # (when, who, to whom, message, its bytes); without a message: a remark


Sent = tuple[float, str, str, str]  # (when, to whom, message, a hash of its bytes)


class Decider(Protocol):
    """Who decides for an actor."""

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """Take note of a message the actor received."""

    def decide(self, ask: Ask) -> tuple[Any, bool] | None:
        """Return an answer and whether it is vouched for, that is, within the rules of the game; None for silence."""

    @property
    def tired(self) -> bool:
        """Whether it is silent only because it was asked so often, and no answer ended its part."""


@dataclass(eq=False)
class Actor:
    """One program of a game. ``seat`` counts the clients, None for a role that stands for all; ``links`` are by seat.

    ``blame`` says what it did against the protocol, empty if nothing. ``sent`` are its messages.
    """

    name: str
    role: str
    session: InstrumentedSession
    seat: int | None
    decider: Decider | None = None
    links: dict[int, tuple[Actor, int]] = field(default_factory=dict)
    met: dict[int, Actor] = field(default_factory=dict)
    questions: list[Ask] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    monitor: Monitor | None = None
    blame: str = ""
    vouched: bool = True
    answers: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    said: int = 0  # of the message of the deed, so far
    mute: bool = False
    babbles: bool = False
    spoken: list[Send] = field(default_factory=list)
    last_word: dict[int, bool] = field(default_factory=dict)  # by seat: whether it was the last to speak there
    judged: int = 0  # faults of its session that were looked at

    def can_do(self, deed: InjectedFault) -> bool:
        """Whether it had an occasion for a deed."""
        if not deed.is_by(self.role, self.seat):
            return False
        if deed.kind == "dumb":
            return self.asked[deed.message] >= deed.nth
        return sum(one.message == deed.message for one in self.spoken) >= deed.nth

    @property
    def ended(self) -> Ended | None:
        """How its session ended; None if it has not."""
        return self.session.ended


class SimulationObserver(Protocol):
    """Who looks on at a game, and judges it."""

    def fault(self, stage: Simulation, actor: Actor, fault: SessionFault) -> None:
        """A session met a fault."""

    def property_broken(self, stage: Simulation, actor: Actor, text: str) -> None:
        """A property of the spec does not hold."""

    def ended(self, stage: Simulation, actor: Actor, ended: Ended) -> None:
        """A session is over."""


class EndlessError(Exception):
    """A game does not come to an end; the text says what goes on. Unless it is ``sure`` it might, further on."""

    def __init__(self, text: str, *, sure: bool = False) -> None:
        self.sure = sure
        super().__init__(text)


class Simulation:
    """One game: who plays, what is on its way, what time it is.

    ``programs`` has every role compiled. ``script`` is all that whoever does the ``deed`` says in the game without it.
    Each bound of a game is ``longer`` times as high. With ``tried`` it is noted what players answered from which state.
    """

    def __init__(
        self,
        spec: Spec,
        programs: Mapping[str, Program],
        audience: SimulationObserver,
        *,
        seed: int,
        deed: InjectedFault | None = None,
        script: Sequence[Send] = (),
        longer: int = 1,
        tried: AnswerCoverage | None = None,
    ) -> None:
        self.spec = spec
        self.programs = programs
        self.audience = audience
        self.seed = seed
        self.deed = deed
        self._script = script  # what whoever does the deed would say if it did none
        self.deed_done = False
        self.after_deed = 0  # messages since then
        self.unended = ""  # why it was given up before its end, if it was
        self.seated = False  # whether a door with counted seats was left with all who belong to a game
        self._longer = longer
        self._tried = tried
        self._decided = 0  # answers of players
        self._read: dict[str, Kept] = {}  # by role
        self.now = 0.0
        self.actors: list[Actor] = []
        self.tail: deque[Happening] = deque(maxlen=TAIL)
        self._standing: dict[str, Actor] = {}
        self._counts: dict[str, int] = {}
        self._turn = 0  # the first of the actors that may be asked next
        self._queue: deque[tuple[Actor, Effect]] = deque()
        self._held: list[tuple[Actor, Send]] = []
        self._coming: deque[tuple[float, str, str, int, Decider]] = deque()  # clients, by when they come
        self._late: list[tuple[str, str, int, Decider]] = []  # those who come once the doors are shut
        for role in spec.listeners():
            if not programs[role].per_connection:
                self._standing[role] = self._open(role, role, None, None)

    # -- who plays ---------------------------------------------------------------------------------------------------

    def invite(self, role: str, name: str, seat: int, decider: Decider, *, at: float = 0.0, late: bool = False) -> None:
        """Let a client come when it is ``at``; with ``late`` it comes once the doors are shut."""
        if late:
            self._late.append((role, name, seat, decider))
        else:
            self._coming.append((at, role, name, seat, decider))

    def _join(self, role: str, name: str, seat: int, decider: Decider) -> None:
        """Start a client, and every role that it has one of its own of; nothing if whom it connects to is over."""
        targets = [self._standing[target] for target in self.programs[role].connects if target in self._standing]
        if all(target.ended is None for target in targets):
            self._open(role, name, seat, decider)

    def _arrive(self) -> bool:
        """Let the next client in whose time has come; return whether there was one."""
        if self._coming and self._coming[0][0] <= self.now:
            self._join(*self._coming.popleft()[1:])
            return True
        if self._late and not self._coming and not any(_has_door(one) for one in self._standing.values()):
            self._join(*self._late.pop(0))
            return True
        return False

    def _open(
        self,
        role: str,
        name: str,
        seat: int | None,
        decider: Decider | None,
        caller: tuple[Actor, int] | None = None,
    ) -> Actor:
        program = self.programs[role]
        number = self._counts.get(role, 0)
        self._counts[role] = number + 1
        my = {} if program.accepts else {"name": name}
        seed = self.seed if program.accepts and not number else derived_seed(self.seed, name)
        session = InstrumentedSession(program, seed=seed, my=my)
        actor = Actor(name, role, session, seat, decider)
        monitor = Monitor(program.spec, role)
        actor.monitor = monitor if monitor.properties else None
        self.actors.append(actor)
        for at, target in enumerate(program.connects):
            if self.programs[target].per_connection:
                own = decider if _asks(self.spec, target) else None
                self._open(target, f"{target} of {name}", seat, own, (actor, at))
            else:
                self._connect(actor, at, self._standing[target])
        if caller is not None:
            other, there = caller
            self._link(actor, len(program.connects), other, there)
        self._take_in(actor, session.start(self.now))
        return actor

    def _connect(self, actor: Actor, at: int, other: Actor) -> None:
        self._link(actor, at, other, len(other.session.seats))
        _, effects = other.session.connect(self.now)
        self._take_in(other, effects)

    def _link(self, actor: Actor, at: int, other: Actor, there: int) -> None:
        actor.links[at], other.links[there] = (other, there), (actor, at)
        actor.met[at], other.met[there] = other, actor

    # -- a game ------------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play until nothing moves any more, or all are over.

        Raises:
            EndlessError: it goes on and on.
        """
        self._settle()
        for _ in range(RINGS_MAX * self._longer):
            if self._is_cut_short():
                return
            running = [actor for actor in self.actors if actor.ended is None]
            due = min((actor.session.deadline for actor in running if actor.session.deadline is not None), default=None)
            if self._coming:
                due = min(self._coming[0][0], due if due is not None else SECONDS_MAX)
            if due is None or due > SECONDS_MAX:
                return
            self.now = max(self.now, due)
            rang = False
            for actor in running:
                own = actor.session.deadline
                if own is not None and own <= self.now:
                    self._take_in(actor, actor.session.tick(self.now))
                    rang = rang or (bool(actor.session.took) and not actor.mute)
            self._settle()
            if rang and self._held:
                held, self._held = self._held, []
                for actor, effect in held:
                    self._cross(actor, effect.peer, effect.data, effect.message)
                self._settle()
        self.unended = self.unended or f"a clock rang {RINGS_MAX * self._longer} times, {self.whereabouts()}"

    def _is_cut_short(self) -> bool:
        """Whether the deed of the game was done so long ago that no more will come of it."""
        return self.after_deed > AFTER_MAX

    def _settle(self) -> None:
        look, before, decided = LOOKS, b"", 0
        for step in range(CROSSINGS_MAX * self._longer):
            if self._is_cut_short():
                return
            if step == look:
                look, before, decided = 4 * look, self._stands(), self._decided
            elif before and decided == self._decided and 4 * (step - LOOKS) < look and before == self._stands():
                names = self._names()
                raise EndlessError(f"all stands as before, no time passed and no player was asked: {names}", sure=True)
            if self._queue:
                actor, effect = self._queue.popleft()
                self._carry(actor, effect)
            elif not self._arrive() and not self._answer():
                return
        steps = f"{CROSSINGS_MAX * self._longer} steps followed on one another while no time passed"
        raise EndlessError(f"{steps} ({self._names()}), {self.whereabouts()}")

    def _names(self) -> str:
        return ", ".join(dict.fromkeys(message or who for _, who, _, message, _ in self.tail))

    def _stands(self) -> bytes:
        """Return how all stands, as a hash; empty if that is never twice the same."""
        if self._draws:
            return b""
        coming = (self._turn, len(self._coming), len(self._late), len(self._held))
        queue = [(actor.name, repr(effect)) for actor, effect in self._queue]
        asked = [(actor.name, [(one.question, one.arguments) for one in actor.questions]) for actor in self.actors]
        stand = [standing(actor.session, self.now, self._kept(actor)) for actor in self.actors]
        return digest((coming, queue, asked, stand))

    def _kept(self, actor: Actor) -> Kept:
        if actor.role not in self._read:
            self._read[actor.role] = kept(actor.session.program.spec, actor.role)
        return self._read[actor.role]

    @cached_property
    def _doors(self) -> frozenset[tuple[str, str]]:
        return frozenset(counted_doors(self.spec))

    @cached_property
    def _draws(self) -> bool:
        return any(draws(spec) for spec in {id(one.spec): one.spec for one in self.programs.values()}.values())

    def host(self) -> Actor | None:
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

    def place(self) -> Place | None:
        """Return the place of the state in which who stands for the game is."""
        host = self.host()
        frame = next(routing.leaves(host.session), None) if host is not None else None
        return host.session.place_of(frame) if host is not None and frame is not None else None

    def _answer(self) -> bool:
        """Let a player decide who is asked something, each in turn; return whether one was."""
        for actor in (*self.actors[self._turn :], *self.actors[: self._turn]):
            if not actor.questions or actor.ended is not None:
                continue
            self._turn = self.actors.index(actor) + 1
            ask = actor.questions.pop(0)
            if actor.answers >= ANSWERS_MAX * self._longer:
                asked = f"{actor.name} was asked {ANSWERS_MAX * self._longer} times, at last {ask.question}"
                raise EndlessError(f"{asked}, {self.whereabouts()}")
            actor.answers += 1
            actor.asked[ask.question] += 1
            dumb = actor.mute or self._is_dumb(actor, ask)
            decided = actor.decider.decide(ask) if actor.decider is not None and not dumb else None
            if decided is None:
                if actor.decider is not None and actor.decider.tired and ask.seconds is not None and not self.unended:
                    self._give_up(actor, ask)
                actor.blame = actor.blame or f"its player never answers {ask.question}"
                return True
            answer, vouched = decided
            self._decided += 1
            if self._tried is not None and actor.answers > TRIED_FROM and not self.unended and not self._draws:
                self._tried.note(self._stands_for(actor, ask), ask, answer)
            for one in self.actors if not vouched else ():
                one.vouched = one.vouched and one is not actor and (one.seat is None or one.seat != actor.seat)
            self._take_in(actor, actor.session.answer(ask.number, answer, self.now))
            return True
        return False

    def _stands_for(self, actor: Actor, ask: Ask) -> bytes:
        return digest((actor.name, ask.question, ask.arguments, self._stands()))

    def _give_up(self, actor: Actor, ask: Ask) -> None:
        """Note that a player fell silent only because it was asked so often.

        Raises:
            EndlessError: whatever players answer, the game comes back to where it was.
        """
        if self._tried is not None and self._tried.is_round():
            raise EndlessError(f"whatever its players answer it comes back to where it was: {self._names()}", sure=True)
        times = f"{actor.answers - 1} answers of the player of {actor.name} did not end it"
        self.unended = f"{times}, the next would be {ask.question}; {self.whereabouts()}"

    def _is_dumb(self, actor: Actor, ask: Ask) -> bool:
        """Whether it is the deed of this game that the question is never answered."""
        deed = self.deed
        if (
            deed is None
            or deed.kind != "dumb"
            or deed.message != ask.question
            or not deed.is_by(actor.role, actor.seat)
        ):
            return False
        actor.said += 1
        self.deed_done = self.deed_done or actor.said >= deed.nth
        return actor.said >= deed.nth

    def _carry(self, actor: Actor, effect: Effect) -> None:
        if isinstance(effect, Send):
            self._cross(actor, effect.peer, effect.data, effect.message)
        elif isinstance(effect, Drop):
            self._cut(actor, effect.peer, effect.why)

    def _cross(self, actor: Actor, seat: int, data: bytes, message: str) -> None:
        if seat in actor.links:
            other, there = actor.links[seat]
            actor.last_word[seat], other.last_word[there] = True, False
            self.tail.append((self.now, actor.name, other.name, message, data))
            if other.ended is None:
                self._take_in(other, other.session.receive(there, data, self.now))

    def _cut(self, actor: Actor, seat: int, why: str) -> None:
        if seat not in actor.links:
            return
        other, there = actor.links.pop(seat)
        other.links.pop(there, None)
        self.tail.append((self.now, actor.name, other.name, "", why.encode()))
        for one, at in ((other, there), (actor, seat)):
            if one.ended is None and at < len(one.session.seats):
                self._take_in(one, one.session.lose(at, self.now))

    def _take_in(self, actor: Actor, effects: list[Effect]) -> None:
        """Do what a session wants done, and let those who look on see what happened."""
        for fault in actor.session.faults[actor.judged :]:
            actor.judged += 1
            self.audience.fault(self, actor, fault)
        if not self.seated and actor.seat is None and self._doors:
            took = actor.session.took
            self.seated = any(event == ".then" and (machine, state) in self._doors for machine, state, event, _ in took)
        if actor.monitor is not None:
            for text in actor.monitor.fed(actor.session.took, effects):
                self.audience.property_broken(self, actor, text)
        for effect in effects:
            match effect:
                case Send():
                    self._send(actor, effect)
                case Drop():
                    if not actor.mute:
                        self._queue.append((actor, effect))
                case Ask():
                    actor.questions.append(effect)
                case Cancel(number):
                    actor.questions = [ask for ask in actor.questions if ask.number != number]
                case Received(_, message, fields):
                    if actor.decider is not None:
                        actor.decider.heard(message, fields)
                case Ended():
                    actor.questions.clear()
                    self.audience.ended(self, actor, effect)
                case _:  # notes, and reading that stops: here nothing is read before its time
                    pass

    def _send(self, actor: Actor, effect: Send) -> None:
        to = actor.met[effect.peer]
        actor.sent.append((self.now, to.name, effect.message, blake2b(effect.data, digest_size=4).hexdigest()))
        self.after_deed += self.deed_done
        if actor.mute:
            return
        deed = self.deed
        if actor.babbles and deed is not None:
            self._inject_fault(actor, effect, deed)
            return
        actor.spoken.append(effect)
        if deed is None or self.deed_done or not deed.is_of(actor.role, actor.seat, effect.message):
            if self._held and self._held[0][0] is actor:
                self._held.append((actor, effect))
            else:
                self._queue.append((actor, effect))
            return
        actor.said += 1
        if actor.said < deed.nth:
            self._queue.append((actor, effect))
            return
        self.deed_done = True
        self.accuse(actor, str(deed))
        self._inject_fault(actor, effect, deed)

    def _inject_fault(self, actor: Actor, effect: Send, deed: InjectedFault) -> None:
        match deed.kind:
            case "silent":
                actor.mute = True
            case "gone":
                self._queue.extend((actor, Drop(seat, "its program died")) for seat in list(actor.links))
                actor.mute = True
            case "slow":
                self._held.append((actor, effect))
            case "ahead":
                self._queue.append((actor, effect))
                self._queue.extend((actor, one) for one in self._script[len(actor.spoken) :][:1])
            case _:
                actor.babbles = deed.kind == "babble"
                said = done(deed, self.programs[actor.role], self.programs[actor.met[effect.peer].role], effect)
                if said is None:
                    self.deed_done = False
                    actor.blame = ""
                    self._queue.append((actor, effect))
                else:
                    self._queue.extend((actor, one) for one in said)

    def accuse(self, actor: Actor, why: str) -> None:
        """Give an actor the blame, and those that stand for it alone: from now on nobody owes them anything."""
        for one in self.actors:
            if one is actor or (actor.seat is not None and one.seat == actor.seat and one.decider is not None):
                one.blame = one.blame or why

    # -- for people --------------------------------------------------------------------------------------------------

    def trace(self) -> tuple[str, ...]:
        """Return the last messages of the game, a line each."""
        return tuple(map(_told, self.tail))


def _asks(spec: Spec, role: str) -> bool:
    """Whether a role asks a player: where each client has one of its own of it, it is that client's player."""
    machines = spec.roles[role].machines.values()
    return any(state.ask is not None for machine in machines for state in machine.states.values())


def _has_door(actor: Actor) -> bool:
    """Whether a session still counts who takes a seat."""
    return actor.ended is None and any(
        frame.accepting is not None and frame.node.accept is not None and frame.node.accept.seats is not None
        for frame in routing.frames(actor.session)
    )


def _told(one: Happening) -> str:
    when, who, to, message, data = one
    text = escape_control_characters(
        data[: SHOWN_MAX * 4].decode("utf-8", "replace").strip().replace("\r\n", " ").replace("\n", " ")
    )
    if not message:
        return f"at {when:g} s: {who} closes the connection of {to} ({text})"
    cut = text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
    return f"at {when:g} s: {who} -> {to}  {message}  {cut}".rstrip()

"""A game that is judged: somebody looks on, one actor may do an `InjectedFault` against the protocol, and what
players answered is remembered, to tell a game without an end.

Whoever has done something against the protocol is responsible from then on, and is owed nothing any more.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final, Protocol

from machines.effects import Ask, Drop, Effect, Ended, Received, Send
from machines.engine import routing
from machines.engine.session import Program
from machines.model import Spec
from machines.problems import Place
from machines.verification.temporal import Monitor
from runtime.players.seeds import derived_seed
from runtime.process.terminal_text import escape_control_characters
from runtime.simulation.cycle_detection import AnswerCoverage, Kept, digest, draws, kept, standing
from runtime.simulation.fault_injection import InjectedFault, done
from runtime.simulation.instrumentation import InstrumentedSession, SessionFault
from runtime.simulation.network import Actor, EndlessError, Simulation
from runtime.simulation.scenarios import counted_doors

AFTER_MAX: Final = 150  # messages of a game once its deed is done: what comes of that has come by then
TRIED_FROM: Final = 100  # answers of a player after which it is noted what was tried: most games have ended by then
LOOKS: Final = 1_000  # steps without time after which it is looked whether the game stands as before: 4, 16, ... times
TAIL: Final = 8  # messages that a trace has
THOUGHT: Final = 30.0  # seconds
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
class JudgedActor(Actor):
    """An actor with what is known of it. ``blame`` says what it did against the protocol, empty if nothing.

    ``sent`` are its messages.
    """

    session: InstrumentedSession
    decider: Decider | None = None
    sent: list[Sent] = field(default_factory=list)
    monitor: Monitor | None = None
    blame: str = ""
    vouched: bool = True
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


class SimulationObserver(Protocol):
    """Who looks on at a game, and judges it."""

    def fault(self, stage: JudgedGame, actor: JudgedActor, fault: SessionFault) -> None:
        """A session met a fault."""

    def property_broken(self, stage: JudgedGame, actor: JudgedActor, text: str) -> None:
        """A property of the spec does not hold."""

    def ended(self, stage: JudgedGame, actor: JudgedActor, ended: Ended) -> None:
        """A session is over."""


class JudgedGame(Simulation[JudgedActor]):
    """One game, judged by its ``audience``.

    ``programs`` has every role compiled. ``script`` is all that whoever does the ``deed`` says in the game without it.
    Each bound of a game is ``longer`` times as high. With ``tried`` it is noted what players answered from which state.
    Players think for ``slow`` of the time that they have, 1 for all of it; where that has no limit, of THOUGHT seconds.
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
        slow: float = 0.0,
    ) -> None:
        super().__init__(spec, programs, longer=longer)
        self.audience = audience
        self.seed = seed
        self.deed = deed
        self._script = script  # what whoever does the deed would say if it did none
        self.deed_done = False
        self.after_deed = 0  # messages since then
        self.seated = False  # whether a sign-up with counted seats was left with all who belong to a game
        self._tried = tried
        self._slow = slow
        self._due: dict[tuple[JudgedActor, int], float] = {}  # when a question that was put is answered
        self.taken: set[tuple[str, tuple[str, str, str, str]]] = set()  # of each role: machine, state, event, to where
        self._decided = 0  # answers of players
        self._looks = (LOOKS, b"", 0)  # at which step it is looked again, how all stood then, and after which answers
        self._read: dict[str, Kept] = {}  # by role
        self.tail: deque[Happening] = deque(maxlen=TAIL)
        self._counts: Counter[str] = Counter()
        self._held: list[tuple[JudgedActor, Send]] = []
        self._deciders: dict[tuple[str, int | None], Decider] = {}  # of clients, by role and seat
        self._coming: deque[tuple[float, str, str, int]] = deque()  # clients, by when they come
        self._late: list[tuple[str, str, int]] = []  # those who come once the sign-ups are shut
        self.open_standing()

    # -- who plays ---------------------------------------------------------------------------------------------------

    def invite(self, role: str, name: str, seat: int, decider: Decider, *, at: float = 0.0, late: bool = False) -> None:
        """Let a client come when it is ``at``; with ``late`` it comes once the sign-ups are shut."""
        self._deciders[role, seat] = decider
        if late:
            self._late.append((role, name, seat))
        else:
            self._coming.append((at, role, name, seat))

    def _join(self, role: str, name: str, seat: int) -> None:
        """Start a client, and every role that it has one of its own of; nothing if whom it connects to is over."""
        targets = [self.standing[target] for target in self.programs[role].connects if target in self.standing]
        if all(target.ended is None for target in targets):
            self.open(role, name, seat)

    def arrive(self) -> bool:
        """See `Simulation.arrive`."""
        if self._coming and self._coming[0][0] <= self.now:
            self._join(*self._coming.popleft()[1:])
            return True
        if self._late and not self._coming and not any(_has_sign_up(one) for one in self.standing.values()):
            self._join(*self._late.pop(0))
            return True
        return False

    def next_moment(self) -> float | None:
        """Return when the next client comes, or the next player has thought enough."""
        answers = [self._due[one, ask.number] for one in self.actors for ask in one.questions[:1]] if self._slow else []
        return min([*answers, *([self._coming[0][0]] if self._coming else [])], default=None)

    def may_answer(self, actor: JudgedActor, ask: Ask) -> bool:
        """See `Simulation.may_answer`."""
        if not self._slow:
            return True
        has = min(THOUGHT if ask.seconds is None else ask.seconds, THOUGHT)
        return self.now >= self._due.setdefault((actor, ask.number), self.now + self._slow * has)

    def make_actor(self, role: str, name: str, seat: int | None, owner: JudgedActor | None) -> JudgedActor:
        """See `Simulation.make_actor`; the player of a client decides for its own roles too, if they ask anything."""
        program = self.programs[role]
        first, self._counts[role] = not self._counts[role], self._counts[role] + 1
        my = {} if program.accepts else {"name": name}
        seed = self.seed if program.accepts and first else derived_seed(self.seed, name)
        session = InstrumentedSession(program, seed=seed, my=my)
        actor = JudgedActor(name, role, session, seat)
        if owner is None:
            actor.decider = self._deciders.get((role, seat))
        elif _asks(self.spec, role):
            actor.decider = owner.decider
        monitor = Monitor(program.spec, role)
        actor.monitor = monitor if monitor.properties else None
        return actor

    # -- a game ------------------------------------------------------------------------------------------------------

    def is_over(self) -> bool:
        """Whether the deed of the game was done so long ago that no more will come of it."""
        return self.after_deed > AFTER_MAX

    def ring(self, actor: JudgedActor) -> bool:
        """See `Simulation.ring`; nothing is heard of one who is silent."""
        return super().ring(actor) and not actor.mute

    def rang(self, *, heard: bool) -> None:
        """Let come what was slow."""
        if heard and self._held:
            held, self._held = self._held, []
            for actor, effect in held:
                self.cross(actor, effect.peer, effect.data, effect.message)

    def check_progress(self, step: int) -> None:
        """Raise EndlessError if all stands as before, and no player was asked in between."""
        if not step:
            self._looks = (LOOKS, b"", 0)
        look, before, decided = self._looks
        if step == look:
            self._looks = (4 * look, self._stands(), self._decided)
        elif before and decided == self._decided and 4 * (step - LOOKS) < look and before == self._stands():
            names = self._names()
            raise EndlessError(f"all stands as before, no time passed and no player was asked: {names}", sure=True)

    def steps_told(self) -> str:
        """See `Simulation.steps_told`."""
        return f" ({self._names()})"

    def _names(self) -> str:
        return ", ".join(dict.fromkeys(message or who for _, who, _, message, _ in self.tail))

    def _stands(self) -> bytes:
        """Return how all stands, as a hash; empty if that is never twice the same."""
        if self._draws:
            return b""
        coming = (self._turn, len(self._coming), len(self._late), len(self._held))
        queue = [(actor.name, repr(effect)) for actor, effect in self.queue]
        asked = [(actor.name, [(one.question, one.arguments) for one in actor.questions]) for actor in self.actors]
        stand = [standing(actor.session, self.now, self._kept(actor)) for actor in self.actors]
        return digest((coming, queue, asked, stand))

    def _kept(self, actor: JudgedActor) -> Kept:
        if actor.role not in self._read:
            self._read[actor.role] = kept(actor.session.program.spec, actor.role)
        return self._read[actor.role]

    @cached_property
    def _doors(self) -> frozenset[tuple[str, str]]:
        return frozenset(counted_doors(self.spec))

    @cached_property
    def _draws(self) -> bool:
        return any(draws(spec) for spec in {id(one.spec): one.spec for one in self.programs.values()}.values())

    def place(self) -> Place | None:
        """Return the place of the state in which who stands for the game is."""
        host = self.host()
        frame = next(routing.leaves(host.session), None) if host is not None else None
        return host.session.place_of(frame) if host is not None and frame is not None else None

    def decide(self, actor: JudgedActor, ask: Ask) -> None:
        """See `Simulation.decide`."""
        actor.asked[ask.question] += 1
        dumb = actor.mute or self._is_dumb(actor, ask)
        decided = actor.decider.decide(ask) if actor.decider is not None and not dumb else None
        if decided is None:
            if actor.decider is not None and actor.decider.tired and ask.seconds is not None and not self.unended:
                self._give_up(actor, ask)
            actor.blame = actor.blame or f"its player never answers {ask.question}"
            return
        answer, vouched = decided
        self._decided += 1
        if self._tried is not None and actor.answers > TRIED_FROM and not self.unended and not self._draws:
            self._tried.note(self._stands_for(actor, ask), ask, answer)
        for one in self.actors if not vouched else ():
            one.vouched = one.vouched and one is not actor and (one.seat is None or one.seat != actor.seat)
        self.take_in(actor, actor.session.answer(ask.number, answer, self.now))

    def _stands_for(self, actor: JudgedActor, ask: Ask) -> bytes:
        return digest((actor.name, ask.question, ask.arguments, self._stands()))

    def _give_up(self, actor: JudgedActor, ask: Ask) -> None:
        """Note that a player fell silent only because it was asked so often.

        Raises:
            EndlessError: whatever players answer, the game comes back to where it was.
        """
        if self._tried is not None and self._tried.is_round():
            raise EndlessError(f"whatever its players answer it comes back to where it was: {self._names()}", sure=True)
        times = f"{actor.answers - 1} answers of the player of {actor.name} did not end it"
        self.unended = f"{times}, the next would be {ask.question}; {self.whereabouts()}"

    def _is_dumb(self, actor: JudgedActor, ask: Ask) -> bool:
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

    def cross(self, actor: JudgedActor, seat: int, data: bytes, message: str) -> None:
        """See `Simulation.cross`."""
        if seat in actor.links:
            other, there = actor.links[seat]
            actor.last_word[seat], other.last_word[there] = True, False
            self.tail.append((self.now, actor.name, other.name, message, data))
        super().cross(actor, seat, data, message)

    def cut(self, actor: JudgedActor, seat: int, why: str) -> None:
        """See `Simulation.cut`."""
        if seat in actor.links:
            self.tail.append((self.now, actor.name, actor.links[seat][0].name, "", why.encode()))
        super().cut(actor, seat, why)

    def take_in(self, actor: JudgedActor, effects: list[Effect]) -> None:
        """Do what a session wants done, and let those who look on see what happened."""
        for fault in actor.session.faults[actor.judged :]:
            actor.judged += 1
            self.audience.fault(self, actor, fault)
        for _, machine, _, state, event, destination in actor.session.transitions:
            self.taken.add((actor.role, (machine, state, event, destination)))
        if not self.seated and actor.seat is None and self._doors:
            took = actor.session.took
            self.seated = any(event == ".then" and (machine, state) in self._doors for machine, state, event, _ in took)
        if actor.monitor is not None:
            for text in actor.monitor.fed(actor.session.took, effects):
                self.audience.property_broken(self, actor, text)
        super().take_in(actor, effects)
        for effect in effects:
            match effect:
                case Received(_, message, fields):
                    if actor.decider is not None:
                        actor.decider.heard(message, fields)
                case Ended():
                    self.audience.ended(self, actor, effect)
                case _:
                    pass

    def drop(self, actor: JudgedActor, effect: Drop) -> None:
        """See `Simulation.drop`."""
        if not actor.mute:
            super().drop(actor, effect)

    def send(self, actor: JudgedActor, effect: Send) -> None:
        """See `Simulation.send`."""
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
                self.queue.append((actor, effect))
            return
        actor.said += 1
        if actor.said < deed.nth:
            self.queue.append((actor, effect))
            return
        self.deed_done = True
        self.accuse(actor, str(deed))
        self._inject_fault(actor, effect, deed)

    def _inject_fault(self, actor: JudgedActor, effect: Send, deed: InjectedFault) -> None:
        match deed.kind:
            case "silent":
                actor.mute = True
            case "gone":
                self.queue.extend((actor, Drop(seat, "its program died")) for seat in list(actor.links))
                actor.mute = True
            case "slow":
                self._held.append((actor, effect))
            case "ahead":
                self.queue.append((actor, effect))
                self.queue.extend((actor, one) for one in self._script[len(actor.spoken) :][:1])
            case _:
                actor.babbles = deed.kind == "babble"
                said = done(deed, self.programs[actor.role], self.programs[actor.met[effect.peer].role], effect)
                if said is None:
                    self.deed_done = False
                    actor.blame = ""
                    self.queue.append((actor, effect))
                else:
                    self.queue.extend((actor, one) for one in said)

    def accuse(self, actor: JudgedActor, why: str) -> None:
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


def _has_sign_up(actor: JudgedActor) -> bool:
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

"""A trace done again by the real sessions, with the real rules: then it is confirmed, no longer only possible.

The exploration does not know the data, so a trace says only which message a player decides for. What is in it comes
from a strategy of the game, or from samples of the message's shape; several attempts are made, each from the start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from types import ModuleType
from typing import Any

from machines import model
from machines.analysis.traversal import all_steps, machine_expressions
from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Received, SecureLink, Send
from machines.engine import routing
from machines.engine.compiler import Program
from machines.engine.session import Session
from machines.expressions.unparse import show, walk
from machines.model import Spec
from machines.verification.abstract.budget import Budget
from machines.verification.counterexamples.shrinking import needed
from machines.verification.verdict import Finding, RecordedSession, TraceStep, Verdict

ATTEMPTS_MAX = 20
NOT_REPLAYED = "the budget was spent before each finding was replayed by sessions: those that were not say so"
SAMPLES_MAX = 40
_NAMES = ("ann", "bob", "cyd", "dan")  # of the clients, by their numbers, where they are to differ
TICKS_MAX = 8  # clocks of a session that may ring before the one that the trace has
Decide = Callable[[str, Ask, int], Any]  # (role, question, attempt) -> answer, or None if it has none to give


class _Spurious(Exception):  # noqa: N818 (the trace goes one way, the sessions another)
    """The sessions did not do what the trace says."""


def _is_refused(effect: Effect, step: TraceStep) -> bool:
    """Whether an effect tells that a message was not what it might be."""
    reasons = ("unexpected", "unknown", "malformed", "early", "illegal", "limit")
    return isinstance(effect, Note) and effect.text.startswith(reasons)


def _is_misread(effect: Effect, step: TraceStep) -> bool:
    return isinstance(effect, Received) and effect.message != step.message and step.taken in ("", effect.message)


def _is_taken(effect: Effect, step: TraceStep) -> bool:
    return isinstance(effect, Received) and effect.message == step.message


def _fails(effect: Effect, step: TraceStep) -> bool:
    return isinstance(effect, Ended) and effect.failed is not None


def _ends(effect: Effect, step: TraceStep) -> bool:
    """Whether a session ended: one that uses what has no value fails, one that only hands it on is over."""
    return isinstance(effect, Ended)


# What shows in the last step of a trace that it came to the fault; of other faults it shows in where everybody is.
_SHOWN_BY: dict[str, Callable[[Effect, TraceStep], bool]] = {
    "A501": _is_refused,
    "A502": _is_refused,
    "A503": _is_misread,
    "A509": _is_taken,
    "A301": _ends,
    "A302": _fails,
    "A334": _is_misread,
}
# What is sent where a trace has a peer send what is no message, one in each attempt: no wire takes all of them.
_NONSENSE: Sequence[bytes] = (b'{"\x01":[]}\n', b"]\n", b"\xff\r\n", b"\x01", b"\x00\x00\x00\x01]")

_NONSENSE_NAME = "(nonsense)"


@dataclass(slots=True)
class _Actor:
    role: str
    session: Session
    now: float = 0.0
    seats: dict[str, int] = field(default_factory=dict)  # the seat of each peer, by its name
    names: dict[int, str] = field(default_factory=dict)
    questions: list[Ask] = field(default_factory=list)
    my: Mapping[str, Any] = field(default_factory=dict)
    inputs: list[tuple[str, float, Any, Any, Mapping[str, Any]]] = field(default_factory=list)

    def fed(self, kind: str, effects: list[Effect], **more: Any) -> list[Effect]:
        """Note what the session was given, and return what it did."""
        self.inputs.append((kind, self.now, self.session.took, tuple(effects), more))
        return effects


def confirmed(
    verdict: Verdict,
    spec: Spec,
    rules: Mapping[str, ModuleType],
    decide: Decide,
    specs: Mapping[str, Spec] | None = None,
    budget: Budget | None = None,
) -> Verdict:
    """Return a verdict with each finding that has a trace marked: whether a replay did as it says.

    A finding for whose replay nothing is left of the ``budget`` says so, and so does the verdict.
    """
    left = budget or Budget()
    of = {role: (specs or {}).get(role, spec) for role in spec.roles}
    programs = {role: Program(version, role, rules) for role, version in of.items()}
    found = []
    for finding in verdict.findings:
        ways = (finding, *(replace(finding, trace=trace) for trace in finding.others)) if finding.trace else ()
        real = next((way for way in ways if left.lasts() and replayed(way, spec, programs, decide, left)), None)
        if real is not None and left.lasts():
            real = _shrunk(real, spec, programs, decide)
            real = _recorded(real, spec, programs, decide)
        cut = real is None and not left.lasts()
        found.append(replace(real or finding, confirmed=real is not None, cut=cut) if ways else finding)
    beyond = (*verdict.beyond, NOT_REPLAYED) if any(one.cut for one in found) else verdict.beyond
    return replace(verdict, findings=tuple(found), beyond=beyond)


def _shrunk(finding: Finding, spec: Spec, programs: Mapping[str, Program], decide: Decide) -> Finding:
    """Return a finding without the steps that do not lead to it, if the sessions do what is left of its trace too."""
    if finding.code not in _SHOWN_BY:
        return finding  # it shows in where everybody is: no step is in vain
    shorter = replace(finding, trace=needed([[step] for step in finding.trace]))
    if len(shorter.trace) < len(finding.trace) and replayed(shorter, spec, programs, decide):
        return shorter
    return finding


def replayed(
    finding: Finding, spec: Spec, programs: Mapping[str, Program], decide: Decide, budget: Budget | None = None
) -> bool:
    """Whether the sessions do, step by step, what the trace of a finding says, in one of `ATTEMPTS_MAX` attempts."""
    done = _replay(finding, spec, programs, decide, ATTEMPTS_MAX, exact=False, budget=budget)
    return done is not None


def _recorded(finding: Finding, spec: Spec, programs: Mapping[str, Program], decide: Decide) -> Finding:
    """Return a finding with what each session was given in the replay that did as the trace says, and did."""
    done = _replay(finding, spec, programs, decide, ATTEMPTS_MAX, exact=False)
    if done is None:
        return finding
    sessions = tuple(
        RecordedSession(name, actor.role, done.attempt, actor.my, tuple(actor.inputs))
        for name, actor in done.actors.items()
        if actor.inputs
    )
    stands = {name: tuple(done.where(name)) for name, actor in done.actors.items() if actor.inputs}
    return replace(finding, sessions=sessions, deeds=tuple(done.deeds), stands=stands)


def last_read(
    finding: Finding,
    spec: Spec,
    programs: Mapping[str, Program],
    decide: Decide,
    attempts: int = ATTEMPTS_MAX,
    *,
    exact: bool = False,
) -> bytes | None:
    """Return the bytes that were read last when the sessions did what `replayed` asks; None if they never did.

    If it is to be ``exact``, they sent what the trace says too, no more and no less; clients have names of their own
    in every other attempt then.
    """
    done = _replay(finding, spec, programs, decide, attempts, exact=exact)
    return done.read if done is not None else None


def _replay(
    finding: Finding,
    spec: Spec,
    programs: Mapping[str, Program],
    decide: Decide,
    attempts: int,
    *,
    exact: bool,
    budget: Budget | None = None,
) -> _Replay | None:
    """Return the first attempt in which the sessions did what the trace says, None if they never did in time."""
    for attempt in range(attempts):
        if budget is not None and not budget.lasts():
            return None
        replay = _Replay(spec, programs, decide, attempt, finding, exact=exact)
        try:
            replay.run()
        except _Spurious:
            continue
        return replay
    return None


def mine(program: Program, *, so: bool) -> dict[str, Any]:
    """Return what a client knows of itself: a name, and of all else that it says of itself what its message takes.

    What it asks of itself, as in ``if: my.shy``, is ``so``.
    """
    found: dict[str, Any] = {"name": "ann"}
    for machine in program.role.machines.values():
        for call in (
            call for step in all_steps(machine) if isinstance(step, model.SendMessages) for call in step.messages
        ):
            shape = program.shapes[call.path]
            for at, argument in enumerate(call.arguments or ()):
                if isinstance(argument, model.Attribute) and show(argument.of) == "my":
                    fields = shape.read(shape.example())
                    if fields is not None:
                        found.setdefault(argument.name, fields[at])
        for expression in machine_expressions(machine, program.spec.messages):
            for part in walk(expression):
                if isinstance(part, model.Attribute) and show(part.of) == "my":
                    found.setdefault(part.name, so)
    return found


class _Replay:
    """One attempt."""

    def __init__(
        self,
        spec: Spec,
        programs: Mapping[str, Program],
        decide: Decide,
        attempt: int,
        finding: Finding,
        *,
        exact: bool = False,
    ) -> None:
        self.exact = exact
        self.spec = spec
        self.programs = programs
        self.decide = decide
        self.attempt = attempt
        self.chance = Random(attempt)
        self.finding = finding
        self.effects: list[Effect] = []  # of the present step
        self.shows: Callable[[Effect, TraceStep], bool] | None = (
            None  # what tells in it, if it is the last, of the fault
        )
        self.sent: list[tuple[str, str, str]] = []  # in it: by whom, to whom, which message
        self.read = b""  # last
        self.deeds: list[tuple[Any, ...]] = []  # see `Finding.deeds`
        self.known: dict[str, dict[str, Any]] = {}
        self.actors: dict[str, _Actor] = {}
        # On the way, by sender and receiver: the message and its bytes; None as bytes: the connection is closed.
        self.wire: dict[tuple[str, str], deque[tuple[str, bytes | None]]] = {}
        self.plain: set[tuple[str, str]] = set()  # who is to speak TLS with whom, and does not know yet
        self.ahead: dict[tuple[str, str], list[str]] = {}  # what had come before what was read first
        for role in spec.roles:
            if not programs[role].per_connection and role in spec.listeners():
                self._begin(role, role)

    def run(self) -> None:
        """Do every step. Raises _Elsewhere if one can not be done, or leads elsewhere."""
        trace = self.finding.trace
        for at, step in enumerate(trace, start=1):
            self.effects, self.sent = [], []
            self.shows = _SHOWN_BY.get(self.finding.code) if at == len(trace) else None
            getattr(self, f"_{step.kind}")(step)
            if self.shows is not None:
                if not self._is_shown(step):
                    raise _Spurious
            elif step.kind != "dies" and self.where(step.who) != sorted(step.where.split(", ")):
                raise _Spurious
            elif self.exact and step.kind not in ("rings", "misbehaves"):
                sent = sorted((to, message) for who, to, message in self.sent if who == step.who)
                if sent != sorted(step.sent):
                    raise _Spurious

    def _is_shown(self, step: TraceStep) -> bool:
        return self.shows is not None and any(self.shows(effect, step) for effect in self.effects)

    def _begin(self, name: str, role: str) -> _Actor:
        my = self.mine(role, name)
        session = Session(self.programs[role], seed=self.attempt, my=my, watch=True)
        actor = self.actors[name] = _Actor(role, session, my=my)
        if not self.programs[role].connects and not self.programs[role].per_connection:
            self._carry(name, self._started(actor))
        return actor

    def _started(self, actor: _Actor) -> list[Effect]:
        return actor.fed("start", actor.session.start(actor.now), seed=self.attempt, my=actor.my)

    def mine(self, role: str, who: str) -> dict[str, Any]:
        """Return what a client knows of itself in this attempt."""
        if role not in self.known:
            self.known[role] = mine(self.programs[role], so=(self.attempt // (1 + self.exact)) % 2 == 1)
        number = who.rpartition(" ")[2]
        if self.exact and self.attempt % 2 == 0 and number.isdigit():
            return self.known[role] | {"name": _NAMES[int(number) % len(_NAMES) - 1]}
        return self.known[role]

    def where(self, name: str) -> list[str]:
        """Return where a session is: the states of its machines, or how it has ended."""
        session = self.actors[name].session
        if session.ended is not None:
            return ["failed" if session.ended.failed is not None else "over"]
        return sorted(f"{frame.table.name}.{frame.node.name}" for frame in routing.leaves(session))

    # -- steps -------------------------------------------------------------------------------------------------------

    def _connects(self, step: TraceStep) -> None:
        if step.peer:
            actor = self.actors[step.who]
            seat, effects = actor.session.connect(actor.now)
            self._link(step.who, step.peer, seat)
            self._carry(step.who, actor.fed("connect", effects, peer=seat))
            return
        role, _, whose = step.who.partition(" of ")
        if role not in self.spec.roles:
            role = next(one for one in self.spec.roles if step.who == one or step.who.startswith(f"{one} "))
        actor = self.actors.get(step.who) or self._begin(step.who, role)
        program = self.programs[role]
        for seat, target in enumerate(program.connects):
            name = target if target in self.actors else f"{target} of {step.who}"
            self._link(step.who, name, seat)
        if program.per_connection:
            self._link(step.who, whose, len(program.connects))
        else:
            self.deeds.append(("connect", role, step.who))
        self._carry(step.who, self._started(actor))

    def _link(self, name: str, peer: str, seat: int) -> None:
        if name not in self.actors:
            raise _Spurious
        self.actors[name].seats[peer] = seat
        self.actors[name].names[seat] = peer

    def _reads(self, step: TraceStep) -> None:
        actor = self.actors[step.who]
        ahead = self.ahead.setdefault((step.peer, step.who), [])
        if step.message in ahead:  # it has come, and is read by now
            ahead.remove(step.message)
            return
        coming = self.wire.get((step.peer, step.who), deque())
        seat = actor.seats[step.peer]
        while coming:
            message, data = coming.popleft()
            self.deeds.append(("deliver", step.peer, step.who))
            if data is None:
                self._carry(step.who, actor.fed("lost", actor.session.lose(seat, actor.now), peer=seat))
            else:
                self.read = data
                effects = actor.session.receive(seat, data, actor.now)
                self._carry(step.who, actor.fed("bytes", effects, peer=seat, data=data))
            if message in (step.message, _NONSENSE_NAME):
                return
            ahead.append(message)  # it is kept, and what was to be read overtakes it
        raise _Spurious

    def _decides(self, step: TraceStep) -> None:
        actor = self.actors[step.who]
        if not actor.questions:
            raise _Spurious
        ask = actor.questions.pop(0)
        answer = self.decide(actor.role, ask, self.attempt)
        if answer is None or answer[0] != step.message:
            shape = self.programs[actor.role].shapes[step.message]
            answer = self.chance.choice(list(islice(shape.samples(), SAMPLES_MAX)))
        self.deeds.append(("answer", step.who, step.message, answer))
        effects = actor.session.answer(ask.number, answer, actor.now)
        self._carry(step.who, actor.fed("answer", effects, number=ask.number, value=answer))

    def _rings(self, step: TraceStep) -> None:
        actor = self.actors[step.who]
        wanted = sorted(step.where.split(", "))
        before = actor.session.where()
        for _ in range(TICKS_MAX):
            due = actor.session.deadline
            if due is None:
                raise _Spurious
            actor.now = max(actor.now, due)
            effects = actor.fed("tick", actor.session.tick(actor.now))
            if actor.session.took or effects:
                self.deeds.append(("ring", step.who))
            self._carry(step.who, effects)
            if self._is_shown(step):
                return
            if self.where(step.who) == wanted and (actor.session.took or actor.session.where() != before):
                return

    def _dies(self, step: TraceStep) -> None:
        self.deeds.append(("lose", step.who))
        for seat in self.actors[step.who].names:
            self._close(step.who, seat)

    def _misbehaves(self, step: TraceStep) -> None:
        nonsense = _NONSENSE[self.attempt % len(_NONSENSE)]
        for to, _ in step.sent:
            self.deeds.append(("raw", step.who, to, nonsense))
            self.wire.setdefault((step.who, to), deque()).append((_NONSENSE_NAME, nonsense))

    # -- effects -----------------------------------------------------------------------------------------------------

    def _carry(self, name: str, effects: list[Effect]) -> None:
        actor = self.actors[name]
        self.effects.extend(effects)
        for effect in effects:
            match effect:
                case Send(seat, data, message):
                    self._to(name, seat, message, data)
                    self.sent.append((name, actor.names.get(seat, ""), message))
                case SecureLink(seat):
                    self._secure(name, actor.names[seat])
                case Drop(seat):
                    self._close(name, seat)
                case Ask():
                    actor.questions.append(effect)
                case Cancel(number):
                    actor.questions = [ask for ask in actor.questions if ask.number != number]

    def _to(self, name: str, seat: int, message: str, data: bytes | None) -> None:
        peer = self.actors[name].names.get(seat)
        if peer is not None and (data is None or (name, peer) not in self.plain):
            self.wire.setdefault((name, peer), deque()).append((message, data))

    def _secure(self, name: str, peer: str) -> None:
        """Speak TLS: with who does already, or with who does not yet, then all that comes plain is thrown away."""
        if (name, peer) in self.plain:
            self.plain.remove((name, peer))
        else:
            self.plain.add((peer, name))
            coming = self.wire.get((peer, name), deque())
            self.wire[peer, name] = deque(item for item in coming if item[1] is None)

    def _close(self, name: str, seat: int) -> None:
        self._to(name, seat, "", None)

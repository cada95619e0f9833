"""What an exploration finds and says: steps of a trace, findings with the shortest one, and the verdict.

| code | says |
|---|---|
| A500 | deadlock: nothing can happen any more, but somebody waits |
| A501 | unspecified reception: a peer that keeps to the protocol sends what the other may not get |
| A502 | timeout race: a message comes too late, because a clock rang while it was under way |
| A503 | message confusion: a message is taken for another |
| A504 | orphan message: a message is sent, and never read in any run |
| A505 | missing end: a client is left without an end |
| A506 | runtime failure: a session fails, whatever the data |
| A507 | livelock: from here no way leads to the end |
| A508 | property violation: a property of the spec does not hold |
| A509 | stale answer: a late answer is taken for the answer to a question that its sender had not read |
| A510 | dead branch: no run takes it, though nothing is wrong |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from machines.problems import Place, Problem

PROVED: Final = "proved"
REFUTED: Final = "refuted"
POSSIBLE: Final = "possible"
UNDETERMINED: Final = "undetermined"
State = Literal["proved", "refuted", "possible", "undetermined"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a trace: who does what, what it sends because of that, and where it is then.

    ``kind`` is one of: connects, reads, decides, rings, dies, misbehaves. ``peer`` is whose message was read, or who
    connects; ``message`` what was read or decided, ``taken`` what it is read as, if as another. ``sent`` are
    (receiver, message); ``closed`` whose connections it closes.
    """

    who: str
    kind: Literal["connects", "reads", "decides", "rings", "dies", "misbehaves"]
    peer: str
    message: str
    does: str
    sent: tuple[tuple[str, str], ...]
    closed: tuple[str, ...]
    where: str
    taken: str = ""

    def __str__(self) -> str:
        text = f"{self.who}: {self.does}"
        if self.sent:
            text += "; sends " + ", ".join(f"{message} to {to}" for to, message in _gathered(self.sent))
        if self.closed:
            text += f"; closes {', '.join(self.closed)}"
        return f"{text}; then {self.where}"


def _gathered(sent: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for to, message in sent:
        if found and found[-1][1] == message:
            found[-1] = (f"{found[-1][0]} and {to}", message)
        else:
            found.append((to, message))
    return found


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """What a real session was given in the replay that confirmed a finding, and did: enough to make its journal.

    ``inputs`` are (kind, seconds, transitions taken, effects, what else belongs to the kind), as a journal has them.
    """

    who: str
    role: str
    seed: int
    my: Mapping[str, Any]
    inputs: tuple[tuple[str, float, Any, Any, Mapping[str, Any]], ...]


Replay = Literal["none", "same", "other", "unfinished"]
_SURE: dict[Replay, str] = {
    "none": "possible",
    "same": "confirmed by a replay",
    "other": "possible: a replay went another way",
    "unfinished": "possible: the budget was spent before a replay did so",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a protocol, with the shortest trace to it.

    ``confirmed`` is None until the trace has been replayed against the real sessions
    (`machines.verification.counterexamples.replay`); then it says whether they did as the trace has it. ``cut`` says
    that they did not, and that the budget was spent before they had been given it as often as they should.

    Of a replay that did, ``deeds`` are what it did to whom, in turn: (connect, role, who), (deliver, from whom, to
    whom) of what is next on that way, (answer, who, message, the answer), (ring, who), (lose, who), (raw, who, to whom,
    bytes); ``stands`` has where everybody was then.
    """

    code: str
    text: str
    clients: int
    trace: tuple[TraceStep, ...]
    hint: str = ""
    place: Place | None = None
    confirmed: bool | None = field(default=None, compare=False)
    cut: bool = field(default=False, compare=False)
    others: tuple[tuple[TraceStep, ...], ...] = field(default=(), compare=False, repr=False)  # other ways to it
    sessions: tuple[RecordedSession, ...] = field(default=(), compare=False, repr=False)  # of that replay
    deeds: tuple[tuple[Any, ...], ...] = field(default=(), compare=False, repr=False)
    stands: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_possible(self) -> bool:
        """Whether it is only possible: the real sessions did not do as its trace has it, in any attempt made."""
        return self.confirmed is False

    def problem(self, otherwise: Place) -> Problem:
        """Return the finding as a problem of its spec; ``otherwise`` is the place of one that has none."""
        return Problem(self.place or otherwise, self.code, self.text, self.hint)

    @property
    def sure(self) -> str:
        """How many clients it takes, and whether a replay did the same."""
        many = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return f"{many}; {_SURE[self.replay]}" if self.trace else many

    @property
    def replay(self) -> Replay:
        """What a replay came to: the same, another way, or unfinished as the budget was spent; or there was none."""
        if self.cut:
            return "unfinished"
        return "none" if self.confirmed is None else "same" if self.confirmed else "other"

    def lines(self) -> list[str]:
        """Return the finding for people, its trace numbered."""
        where = f"{self.place}: " if self.place is not None else ""
        head = f"{where}{'possible: ' if self.is_possible else ''}{self.code} {self.text} ({self.sure})"
        told = [head] + ([f"    {self.hint}"] if self.hint else [])
        return told + [f"    {at:>3} {step}" for at, step in enumerate(self.trace, start=1)]


def _es(many: tuple[object, ...]) -> str:
    return "" if len(many) == 1 else "es"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an exploration came to.

    ``clients`` are the numbers of clients that were tried, ``queue`` how many messages may wait for one peer, and
    ``states`` how many there were for each number of clients. ``beyond`` says why nothing is known beyond a
    bound; it is empty if the bounds were never met. ``assumed`` is what the proof rests on. ``reduced`` names the
    reductions by which not every state had to be looked at. ``rests_on`` names what was not looked at in every
    way that it may be, and ``settings`` those that were given another value than the spec has, with it. ``any_number``
    says why what holds with these numbers of clients holds with any, empty if it need not. ``dead`` are branches for
    events that no run takes: nothing is wrong by that, but what they wait for never comes. ``foreign`` are the roles
    that programs of others play: anything that they may send was tried.
    """

    clients: tuple[int, ...]
    queue: int
    states: tuple[int, ...]
    findings: tuple[Finding, ...] = ()
    beyond: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    any_number: str = ""
    dead: tuple[Finding, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """Refuted if something was found, possible if no replay did any of it; proved only if no bound was met."""
        if self.findings:
            return POSSIBLE if all(one.is_possible for one in self.findings) else REFUTED
        return UNDETERMINED if self.beyond else PROVED

    def short(self) -> list[str]:
        """Return the verdict in a line, and a line for each thing that is not known; how many notes there are."""
        first = self.summary()[0]
        if self.notes:
            first += f"; {len(self.notes)} note{'' if len(self.notes) == 1 else 's'}: --why"
        return [first, *[f"unknown: {text}" for text in self.beyond]]

    def summary(self) -> list[str]:
        """Return the verdict in a line, and how it was reduced, what is not known and what it assumes, a line each."""
        *some, last = map(str, self.clients)
        many = f"{', '.join(some)} and {last} clients" if some else f"{last} client{'s' if last != '1' else ''}"
        many = f"with {many}" if self.state != PROVED or not self.any_number else "for any number of clients"
        if self.foreign:
            many = f"against anything {' or '.join(self.foreign)} may send, {many}"
        bound = f"{many} and at most {self.queue} messages waiting for a peer"
        if self.settings:
            bound += f", with {', '.join(self.settings)}"
        dead = f"; but no run takes {len(self.dead)} branch{_es(self.dead)} (A510)" if self.dead else ""
        return [
            f"{self.state} {bound}: {sum(self.states)} states{dead}",
            *([f"reduced: {'; '.join(self.reduced)}"] if self.reduced else []),
            *[f"unknown: {text}" for text in self.beyond],
            *[f"assumed: {text}" for text in self.assumed],
            *[f"note: {text}" for text in self.notes],
        ]

    def lines(self) -> list[str]:
        """Return the verdict for people: what was found, with its traces, and `summary`."""
        return [line for finding in self.findings for line in finding.lines()] + self.summary()

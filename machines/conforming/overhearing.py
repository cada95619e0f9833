"""All that crosses between a listening program and those that connect to it: who deviates first from its role, and how.

Each program has a `Follower`: the listener one for all its links, or one for each where its role runs so; each link has
one for whoever connected, of every role that may. What cannot be followed, since it has peers elsewhere, is told so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Final

from machines.analysis.call_graph import kind
from machines.conforming.deviations import Deviation
from machines.conforming.following import GARBAGE, Follower
from machines.conforming.role_knowledge import RoleKnowledge
from machines.engine.compiler import Program
from machines.model import Constant, Name, Role, Spec
from machines.verification.abstract.state import Token
from machines.verification.verify import unsupported_features

SEATS_FIRST: Final = 4  # of a listener; more are made when they come


@dataclass(frozen=True, slots=True)
class Accusation:
    """A program deviated: its role, the number of the link (of a listener, that on which it showed), and how."""

    role: str
    link: int
    deviation: Deviation


@dataclass(slots=True)
class OverheardLink:
    """One connection. ``callers`` follow who connected, one for each role it may be; ``seat`` is the listener's."""

    number: int
    callers: dict[str, Follower]
    listener: Follower | None
    seat: int
    heard: list[str] = field(default_factory=list)


class Overhearing:
    """Judges both sides of a listening role's connections. Times are seconds of one clock.

    ``accusations`` come in the order in which they showed; ``hurried`` are those that only clocks make. ``unjudged``
    says of each role that is not followed why.
    """

    def __init__(self, spec: Spec, listener: str, rules: Mapping[str, ModuleType]) -> None:
        self.spec = spec
        self.role = listener
        self.accusations: list[Accusation] = []
        self.hurried: list[Accusation] = []
        self.unjudged: dict[str, str] = {}
        self.links: dict[int, OverheardLink] = {}
        self._silent: set[int] = set()  # the followers, by id, whose silence was told of
        self._times: dict[int, int] = {}  # what was told of each follower's clocks
        self.programs = {role: Program(spec, role, rules) for role in (listener, *callers_of(spec, listener))}
        self.per_connection = self.programs[listener].per_connection
        self.known: dict[str, RoleKnowledge] = {}
        for role in self.programs:
            why = why_not_followed(spec, role, alone=role == listener)
            if why:
                self.unjudged[role] = why
            self.known[role] = RoleKnowledge(
                self.programs[role], rules, SEATS_FIRST if role == listener and not self.per_connection else 1
            )
        self._shared: Follower | None = None

    def opened(self, number: int, now: float) -> None:
        """A program has connected, and is connected to the listener."""
        callers = {role: self._started(role, now) for role in self.programs if role != self.role}
        listener, seat = self._listener(now)
        self.links[number] = OverheardLink(number, callers, listener, seat)

    def _started(self, role: str, now: float) -> Follower:
        follower = Follower(self.known[role])
        if role in self.unjudged:
            follower.lost_track = self.unjudged[role]
        follower.start(now)
        return follower

    def _listener(self, now: float) -> tuple[Follower, int]:
        if self.per_connection:
            return self._started(self.role, now), len(self.programs[self.role].connects)
        if self._shared is None:
            self._shared = self._started(self.role, now)
        seat = len(self.links) + len(self.programs[self.role].connects)
        self._shared.make_room(seat + 1)
        self._shared.connected(seat, now)
        return self._shared, seat

    def caller_said(self, number: int, chunk: bytes, now: float) -> list[tuple[Token, ...]]:
        """Bytes went to the listener; return the messages recognised, each in all that it may be."""
        link = self.links[number]
        found: list[tuple[Token, ...]] = []
        for follower in link.callers.values():
            found = follower.said(0, chunk, now) or found
        self._look(link, now)
        if link.listener is not None:
            self._tell(link.listener, link.seat, found, next(iter(link.callers.values())), now)
        return found

    def listener_said(self, number: int, chunk: bytes, now: float) -> list[tuple[Token, ...]]:
        """Bytes went from the listener to who connected; as `caller_said`."""
        link = self.links[number]
        if link.listener is None:
            return []
        found = link.listener.said(link.seat, chunk, now)
        self._look(link, now)
        for follower in link.callers.values():
            self._tell(follower, 0, found, link.listener, now)
        return found

    @staticmethod
    def _tell(hearer: Follower, seat: int, found: Sequence[tuple[Token, ...]], speaker: Follower, now: float) -> None:
        for tokens in found:
            hearer.told(seat, tokens, now)
        if not speaker.judges and speaker.knowledge.program.frames:
            hearer.lost_track = hearer.lost_track or "what it is told can be cut only by who follows the other side"

    def caller_ended(self, number: int, now: float) -> None:
        """Who connected has ended the connection."""
        link = self.links[number]
        for follower in link.callers.values():
            follower.ended(0, now)
        self._look(link, now)
        if link.listener is not None:
            link.listener.hung_up(link.seat, now)

    def listener_ended(self, number: int, now: float) -> None:
        """The listener has ended a connection."""
        link = self.links[number]
        if link.listener is not None:
            link.listener.ended(link.seat, now)
        self._look(link, now)
        for follower in link.callers.values():
            follower.hung_up(0, now)

    def idle(self, now: float, grace: float) -> None:
        """Time has passed: whoever may not be silent so long is told of, once, as what only clocks refuse."""
        for link in self.links.values():
            for role, follower in (*link.callers.items(), (self.role, link.listener)):
                if follower is not None and id(follower) not in self._silent:
                    found = follower.overdue(now, grace)
                    if found is not None:
                        self._silent.add(id(follower))
                        self.hurried.append(Accusation(role, link.number, found))

    def is_judged(self, number: int) -> bool:
        """Whether anything is still said of the programs of a link."""
        link = self.links[number]
        followers = [*link.callers.values(), *([link.listener] if link.listener is not None else [])]
        return any(follower.judges for follower in followers)

    def _look(self, link: OverheardLink, now: float) -> None:
        """Note who has deviated. Whoever speaks with them is judged no more, for all that follows is consequence."""
        deviated = [(role, one.deviation) for role, one in link.callers.items() if one.deviation is not None]
        if deviated and len(deviated) == len(link.callers):
            role, found = max(deviated, key=lambda pair: pair[1].when)
            self._accuse(role, link, found)
            if link.listener is not None:
                link.listener.lost_track = link.listener.lost_track or f"a {role} that it talks to has deviated"
        elif link.listener is not None and link.listener.deviation is not None:
            self._accuse(self.role, link, link.listener.deviation)
            for follower in link.callers.values():
                follower.lost_track = follower.lost_track or f"the {self.role} it talks to has deviated"
        for role, one in (*link.callers.items(), (self.role, link.listener)):
            if one is not None and len(link.callers) == 1:
                for late in one.late[self._times.get(id(one), 0) :]:
                    self.hurried.append(Accusation(role, link.number, late))
                self._times[id(one)] = len(one.late)

    def _accuse(self, role: str, link: OverheardLink, found: Deviation) -> None:
        if all(one.deviation is not found for one in self.accusations):
            self.accusations.append(Accusation(role, link.number, found))


def callers_of(spec: Spec, role: str) -> tuple[str, ...]:
    """Return the roles that connect to a role."""
    return tuple(caller for caller, targets in spec.connects.items() if role in targets)


def why_not_followed(spec: Spec, role: str, *, alone: bool = False) -> str:
    """Return why a role cannot be followed, empty if it can; with ``alone`` where only its callers are seen."""
    for text in unsupported_features(spec):
        if text.startswith(f"{role}:"):
            return text
    targets = spec.connects.get(role, ())
    if alone and targets:
        return f"{role} connects to {', '.join(targets)} too, which is not seen here"
    if not alone and len(targets) > 1:
        return f"{role} connects to {', '.join(targets)}, and only one of them is seen here"
    if not alone and callers_of(spec, role):
        return f"others connect to {role}, which is not seen here"
    if runs_side_by_side(spec, spec.roles[role]):
        return f"machines of {role} run side by side (parallel)"
    return ""


def runs_side_by_side(spec: Spec, role: Role) -> bool:
    """Whether a role may run more than one machine of a loop at a time."""
    for machine in role.machines.values():
        for state in machine.states.values():
            if state.each is not None and state.each.parallel is not None and kind(state) == "call":
                match state.each.parallel:
                    case Constant(1):
                        pass
                    case Name(name) if name in spec.settings and spec.settings[name].value == 1:
                        pass
                    case _:
                        return True
    return False


__all__ = ["GARBAGE", "Accusation", "Overhearing", "why_not_followed"]

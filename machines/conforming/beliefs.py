"""What a program may be in, seen from outside: its local state, what lies unread before it, what it said unseen.

A *belief* is one way in which a program that keeps to its role may stand. What it does by itself, to read, to decide,
to let a clock ring, nobody sees; so it is assumed in every way. A trail is what is known of how a belief was come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from machines.verification.abstract.process import Input, Process, Successor
from machines.verification.abstract.state import ABSENT, Closed, Sent, Token

CONNECT = ".connect"  # first thing unread of a peer that has connected and may not have been let in yet
SHUT = ".shut"  # what is seen of a connection that the program closes
SLACK_SECONDS, SLACK_SHARE = 0.25, 0.05  # a clock may ring so much before its time: no two clocks go alike

Unread = tuple[Token | str, ...]
Unseen = tuple[Token | str, ...]


class Belief(NamedTuple):
    """One way to stand. ``unread``, ``unseen`` and ``at`` (how far its bytes were read) have an entry a seat."""

    local: int
    unread: tuple[Unread, ...]
    unseen: tuple[Unseen, ...]
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hurry:
    """A clock that would have had to ring before its time: after ``seconds`` in ``state``, but only ``passed`` were.

    ``clock`` is its kind, as `AbstractTimer` has it.
    """

    state: str
    clock: str
    seconds: float
    passed: float


@dataclass(frozen=True, slots=True)
class Trail:
    """How a belief came about. ``since`` is the earliest moment at which each of its states was entered.

    ``hurry`` is None if all clocks that it needs had time to ring, else the first that had not; ``hurries`` is how
    many had not. ``labels`` are branches, by their id, and states that it has come through for certain.
    """

    since: Mapping[str, float] = field(default_factory=dict)
    hurry: Hurry | None = None
    labels: frozenset[Any] = frozenset()
    hurries: int = 0

    def ringing(self, label: str) -> Trail:
        """Return the same, come to by the ringing of a clock."""
        return Trail(self.since, self.hurry, self.labels | {label}, self.hurries)


def merged(one: Trail | None, other: Trail) -> Trail:
    """Return what is known of a belief that was come to in two ways."""
    if one is None or one == other:
        return other
    if one.hurries != other.hurries:
        return one if one.hurries < other.hurries else other
    since = {state: min(when, other.since.get(state, when)) for state, when in one.since.items()}
    return Trail(since, one.hurry, one.labels & other.labels, one.hurries)


def early(seconds: float) -> float:
    """Return how long before its time a clock of so many seconds may ring."""
    return max(SLACK_SECONDS, SLACK_SHARE * seconds)


class Steps:
    """What a belief may become by itself.

    Of a seat in ``deaf`` nobody hears what is said any more, only whether it is closed; of one in ``left`` nothing.
    """

    def __init__(self, process: Process, seconds: dict[tuple[int, Any], float | None]) -> None:
        self.process = process
        self.deaf: set[int] = set()
        self.left: set[int] = set()
        self._seconds = seconds  # shared by all who follow the role

    def move_to(self, process: Process, seconds: dict[tuple[int, Any], float | None]) -> None:
        """Go on with another process of the role, that has more seats."""
        self.process, self._seconds = process, seconds

    def seconds(self, local: int, timer: Any) -> float | None:
        """See `Process.seconds`; looked up once."""
        key = (local, timer)
        if key not in self._seconds:
            self._seconds[key] = self.process.seconds(local, timer)
        return self._seconds[key]

    def reads(self, belief: Belief) -> Iterator[tuple[int, Belief, Successor]]:
        """Yield what it may become by reading: the seat, the belief, the step."""
        for seat, unread in enumerate(belief.unread):
            if unread:
                first = unread[0]
                given: Input = ("connect", seat) if first == CONNECT else ("read", seat, first)
                for way in self.process.after(belief.local, given):
                    rest = (*belief.unread[:seat], unread[1:], *belief.unread[seat + 1 :])
                    yield seat, self._then(belief, way, rest), way

    def decisions(self, belief: Belief) -> Iterator[tuple[Belief, Successor]]:
        """Yield what it may become by an answer of its player."""
        for at, message in self.process.rest(belief.local).questions:
            for way in self.process.after(belief.local, ("answer", at, message)):
                yield self._then(belief, way, belief.unread), way

    def rings(self, belief: Belief) -> Iterator[tuple[Any, Belief, Successor]]:
        """Yield what it may become by a clock: the clock too."""
        for timer in self.process.rest(belief.local).timers:
            if self.seconds(belief.local, timer) != inf:
                for way in self.process.after(belief.local, ("ring", timer)):
                    yield timer, self._then(belief, way, belief.unread), way

    def settled(self, beliefs: Iterable[Belief], most: int) -> list[Belief]:
        """Return the beliefs in which all that was given is read; no more than ``most`` are looked at."""
        found: list[Belief] = []
        todo = list(beliefs)
        seen: set[Belief] = set()
        while todo and len(seen) < most:
            belief = todo.pop()
            if belief in seen:
                continue
            seen.add(belief)
            after = [one for _, one, _ in self.reads(belief)]
            if not after:
                found.append(belief)
            todo += after
        return found

    def _then(self, belief: Belief, way: Successor, unread: tuple[Unread, ...]) -> Belief:
        over = self.process.rest(way.local).over is not None
        if not way.outcome.out and not over:
            return Belief(way.local, unread, belief.unseen, belief.at)
        unseen = list(belief.unseen)
        left = list(unread)
        for effect in way.outcome.out:
            seat = effect.seat
            if isinstance(effect, Closed):
                left[seat] = ()
            if seat in self.left or (unseen[seat] and unseen[seat][-1] == SHUT):
                continue
            if isinstance(effect, Sent):
                if seat not in self.deaf:
                    unseen[seat] = (*unseen[seat], effect.token)
            else:
                unseen[seat] = (*unseen[seat], SHUT)
        if over:  # it owes the end of every connection that is left
            for seat, status in enumerate(self.process.locals[way.local][1]):
                if status != ABSENT and seat not in self.left and SHUT not in unseen[seat]:
                    unseen[seat] = (*unseen[seat], SHUT)
        return Belief(way.local, tuple(left), tuple(unseen), belief.at)

    def started(self, way: Successor) -> Belief:
        """Return the belief with which a program begins."""
        none: tuple[Any, ...] = ((),) * self.process.seats
        return self._then(Belief(-1, none, none, (0,) * self.process.seats), way, none)

    def heard(self, belief: Belief) -> Belief:
        """Return a belief without what nobody hears any more."""
        unseen = tuple(
            () if seat in self.left else tuple(item for item in one if item == SHUT) if seat in self.deaf else one
            for seat, one in enumerate(belief.unseen)
        )
        return belief._replace(unseen=unseen)


class Patience:
    """How long beliefs may rest at most before something is seen of them, whatever they do by themselves.

    What is found is kept, so one is made for each moment.
    """

    DEPTH_MAX = 200

    def __init__(self, steps: Steps, spare: float) -> None:
        """``spare`` is by how much any clock may be ahead of ours."""
        self.steps = steps
        self._spare = spare
        self._known: dict[tuple[int, tuple[Unread, ...], tuple[Unseen, ...]], float] = {}
        self._above: set[Belief] = set()

    def of(self, belief: Belief, since: Mapping[str, float]) -> float:
        """Return the seconds from now on. ``since`` says for how long each of its states may have been entered."""
        return self._of(belief, since)

    def _after(self, belief: Belief) -> float:
        """Return the seconds from when a belief is come to."""
        key = belief[:3]
        if key not in self._known:
            self._known[key] = self._of(belief, {})
        return self._known[key]

    def _of(self, belief: Belief, since: Mapping[str, float]) -> float:
        if any(belief.unseen):
            return 0.0
        if belief in self._above or len(self._above) > self.DEPTH_MAX:
            return inf
        rest = self.steps.process.rest(belief.local)
        if rest.over is not None:
            return inf
        decided = [after for after, _ in self.steps.decisions(belief)]
        reads = [after for _, after, _ in self.steps.reads(belief)]
        rung = [(timer, after) for timer, after, _ in self.steps.rings(belief)]
        limits = {timer: self._limit(belief.local, timer) for timer, _ in rung}
        if decided:
            wait = min((limits[timer] for timer in limits), default=inf)
            after = [*decided, *reads, *(one for _, one in rung)]
        elif reads:
            wait = 0.0
            after = [*reads, *(one for timer, one in rung if self._rang(timer, limits[timer], since))]
        elif rung:
            wait = min(limits.values())
            after = [one for _, one in rung]
        else:
            return inf
        if wait == inf:
            return inf
        longest = 0.0
        self._above.add(belief)
        for one in after:
            longest = max(longest, self._after(one))
            if longest == inf:
                break
        self._above.discard(belief)
        return wait + longest

    def _limit(self, local: int, timer: Any) -> float:
        found = self.steps.seconds(local, timer)
        return inf if found is None else found

    def _rang(self, timer: Any, seconds: float, since: Mapping[str, float]) -> bool:
        """Whether a clock may have rung before what lies there is read."""
        return seconds - early(seconds) <= since.get(timer.state, 0.0) + self._spare

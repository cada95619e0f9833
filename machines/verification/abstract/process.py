"""One role's side of the exploration: its local states, numbered, and what each input makes of each, computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

from machines.analysis.reachable_calls import SIGN_UP
from machines.model import Branch
from machines.verification.abstract.alike import Alike
from machines.verification.abstract.budget import BoundExceeded, Budget
from machines.verification.abstract.domain import (
    AbstractError,
    ChoiceSequence,
    Fields,
    Infeasible,
    PeerRef,
    Unknown,
    every_way,
    moved,
    seats_in,
)
from machines.verification.abstract.inputs import AbstractInterpreter
from machines.verification.abstract.role_info import RoleOutline
from machines.verification.abstract.seat_order import meet, ranks
from machines.verification.abstract.state import (
    ABSENT,
    DROPPED,
    DROPPED_TOLD,
    TOLD,
    AbstractTimer,
    Effect,
    Local,
    Observation,
    Outcome,
    SilentCycle,
    Token,
)

NOT_STARTED, DEAD = -1, -2
WAYS_MAX = 4_000  # of one step: more doubts at once than a step of a protocol for people has
Input = tuple[Any, ...]  # ("start",) ("connect", seat) ("read", seat, token) ("answer", at, message) ("ring", timer)
# ("overtake", seat, token) is to read an urgent message before others that wait.


class Successor(NamedTuple):
    """What an input may lead to: the number of the local state, and the rest of its `Outcome`."""

    local: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class LocalState:
    """A local state at rest: what may happen to it besides what its peers send."""

    where: str
    over: str | None
    questions: tuple[tuple[int, str], ...]
    timers: tuple[AbstractTimer, ...]
    awaited: frozenset[int]
    door: bool
    states: frozenset[str]  # machine.state of every call
    closed: frozenset[int]  # seats from which nothing is taken any more
    mentioned: frozenset[int]  # seats that some call knows of
    only: int  # the one seat that is awaited, where nobody else is heard; -1 if it is not so
    opens: bool  # whether it may take a connection yet
    seated: frozenset[int]  # who sits where a sign-up is open that awaits nobody: lost, its seat is free at once


class Process:
    """A role with so many seats."""

    walk: type[AbstractInterpreter] = AbstractInterpreter  # how it takes a step

    def __init__(self, outline: RoleOutline, alike: Alike, seats: int) -> None:
        self.budget = Budget()
        self.outline = outline
        self.alike = alike
        self.seats = seats
        self.locals: list[Local] = []
        self.number_of: dict[Local, int] = {}
        self.over: set[int] = {DEAD}  # local states in which it is over
        self.steps: dict[tuple[int, Input], tuple[Successor, ...]] = {}
        self.ways: dict[tuple[int, Input], tuple[Successor, ...]] = {}
        self.rests: dict[int, LocalState] = {}
        self.normal: dict[int, tuple[int, tuple[int, ...]]] = {}
        self.renamed: dict[tuple[int, tuple[int, ...]], int] = {}
        self.ranked: dict[int, tuple[int, ...]] = {}
        self.left: dict[tuple[int, tuple[int, ...]], int] = {}  # see `without`
        self.taken: set[int] = set()  # id of each branch that was ever taken
        self.entered: set[str] = set()  # machine.state of each state that was ever entered
        self.swallowed: set[str] = set()  # messages that a frame would take, see `AbstractInterpreter`
        self.rounds: set[str] = set()
        self.contracts: set[str] = set()

    def number(self, local: Local) -> int:
        """Return the number of a local state; a new one gets the next."""
        found = self.number_of.get(local)
        if found is None:
            found = self.number_of[local] = len(self.locals)
            self.locals.append(local)
            if local[0][0] == ".over":
                self.over.add(found)
        return found

    def after(self, local: int, given: Input) -> tuple[Successor, ...]:
        """Return what an input may lead to; nothing if a message is not taken now.

        Raises:
            TooMuch: there are more than WAYS_MAX ways.
        """
        found = self.steps.get((local, given))
        if found is None:
            same, seats = self.normalised(local)
            if same == local:
                found = self._after(local, given)
            else:
                ways = self.after(same, (given[0], seats[given[1]], *given[2:]) if given[0] in _OF_SEAT else given)
                found = self._back(ways, seats)
            self.steps[local, given] = found
        return found

    def normalised(self, local: int) -> tuple[int, tuple[int, ...]]:
        """Return the local state with its peers renamed in the order in which it speaks of them, and how they were.

        Peers are alike, so one of all states that differ only in who is who is enough to be computed.
        """
        if local < 0:
            return local, ()
        found = self.normal.get(local)
        if found is None:
            root, statuses, *_ = self.locals[local]
            fixed = len(self.outline.connects)
            met: dict[int, None] = dict.fromkeys(range(fixed))
            if root[0] != ".over" and self.seats > fixed + 1 and not meet(root, met):
                met = dict.fromkeys(range(self.seats))  # sign-ups under way are numbered by their seats
            rest = sorted((seat for seat in range(self.seats) if seat not in met), key=lambda seat: statuses[seat])
            order = (*met, *rest)
            seats = tuple(sorted(range(self.seats), key=order.__getitem__))
            found = self.normal[local] = (self.rename(local, seats), seats)
            self.normal[found[0]] = (found[0], tuple(range(self.seats)))
        return found

    def ranks(self, local: int) -> tuple[int, ...]:
        """Return the rank of each seat in a local state: see `machines.verification.abstract.seat_order.ranks`."""
        found = self.ranked.get(local)
        if found is None:
            fixed = len(self.outline.connects)
            found = (0,) * self.seats if local < 0 else ranks(self.locals[local], fixed)
            self.ranked[local] = found
        return found

    def _after(self, local: int, given: Input) -> tuple[Successor, ...]:
        """Go on from where ways meet until all of them rest. Ways that come to one point with the same are one."""
        found: dict[Any, Successor] = {}
        seen: set[Any] = set()
        todo = [_Way(None, way, way.outcome) for way in reversed(self._ways(local, given))]
        while todo:
            way = todo.pop()
            number, out = way.next.local, way.out
            # In which order different peers are sent to makes no difference to any of them.
            key = (number, out if len(out) < 2 else tuple(sorted(out, key=_seat)), way.hits, way.fault, way.gone)
            if len(self.locals[number]) == 2:
                if key not in found:
                    found[key] = way.joined()
                continue
            if key in seen:
                continue
            seen.add(key)
            self.budget.look()
            if len(seen) > WAYS_MAX:
                raise BoundExceeded(f"a step of {self.outline.name} has more than {WAYS_MAX} ways to go")
            for more in reversed(self._further(number)):
                then = more.outcome
                joined = out + then.out if then.out else out
                if way.has_been(more.local) and (joined is out or set(joined) == set(out)):
                    self.rounds.add(self._where(more.local))
                else:
                    todo.append(_Way(way, more, then._replace(out=joined)))
        return tuple(found.values())

    def _further(self, local: int) -> tuple[Successor, ...]:
        """Return what a paused step goes on to."""
        same, seats = self.normalised(local)
        ways = self._ways(same, ("go on",))
        if same == local:
            return ways
        known = self.ways.get((local, ("go on",)))
        if known is None:
            known = self.ways[local, ("go on",)] = self._back(ways, seats)
        return known

    def _back(self, ways: tuple[Successor, ...], seats: tuple[int, ...]) -> tuple[Successor, ...]:
        """Return what was computed for renamed peers, for the peers as they are."""
        back = tuple(sorted(range(self.seats), key=seats.__getitem__))
        return tuple(Successor(self.rename(way.local, back), _outcome(way.outcome, back)) for way in ways)

    def _ways(self, local: int, given: Input) -> tuple[Successor, ...]:
        """Return what an input leads to, up to where ways meet."""
        known = self.ways.get((local, given))
        if known is not None:
            return known
        before = self.locals[local] if local >= 0 else None
        found: dict[Any, Successor] = {}

        def one_way(oracle: ChoiceSequence) -> None:
            self.budget.look()
            walk = self.walk(self.outline, before, oracle, self.alike, self.seats)
            try:
                if not _do(walk, given):
                    return
                frozen = walk.freeze()
            except Infeasible:
                return
            except SilentCycle:
                self.rounds.add(walk.where())
                return
            finally:
                self.contracts |= walk.reckoner.used
                self.swallowed |= walk.swallowed
                walk.close()
            taken = tuple(walk.taken)
            self.taken.update(map(id, taken))
            self.entered.update(walk.entered)
            number = self.number(frozen)
            out, hits, entered = tuple(walk.out), tuple(walk.hits), tuple(walk.entered)
            outcome = Outcome(out, hits, taken, walk.wrong, walk.event, entered, walk.gone)
            found.setdefault((number, out, hits, outcome.fault, outcome.gone), Successor(number, outcome))

        if not every_way(one_way, WAYS_MAX):
            raise BoundExceeded(f"a step of {self.outline.name} has more than {WAYS_MAX} ways to go")
        known = self.ways[local, given] = tuple(found.values())
        return known

    def _where(self, local: int) -> str:
        call = self.locals[local][0]
        while call[8] is not None:
            call = call[8]
        return f"{call[0]}.{call[1]}"

    def rest(self, local: int) -> LocalState:
        """Return what a local state is, and what it may do by itself."""
        found = self.rests.get(local)
        if found is None:
            walk = self.walk(self.outline, self.locals[local], ChoiceSequence(), self.alike, self.seats)
            calls = tuple(walk.calls())
            questions, awaited = tuple(walk.questions()), walk.awaited()
            door = any(call.sign_ups is not None for call in calls)
            waits = walk.over is None and len(awaited) == 1 and not door
            waits = waits and not walk.heeds_connections()  # what it reads first, and who comes first, are two ways
            found = self.rests[local] = LocalState(
                walk.where(),
                walk.over,
                questions,
                tuple(walk.timers()),
                awaited,
                door,
                frozenset(f"{call.table.name}.{call.state}" for call in calls),
                frozenset(
                    at for at, status in enumerate(walk.seats) if status in (ABSENT, TOLD, DROPPED, DROPPED_TOLD)
                ),
                frozenset(
                    seat
                    for call in calls
                    for seat in (
                        *seats_in(*call.env, call.loop),
                        *call.hears,
                        *((call.seat,) if call.seat >= 0 else ()),
                    )
                ),
                next(iter(awaited)) if waits else -1,
                any(SIGN_UP in self.outline.asking.inside[call.table.name, call.state] for call in calls),
                frozenset(
                    seat
                    for call in calls
                    if call.node.accept is not None and call.node.awaits is None
                    for seat in call.hears
                ),
            )
            walk.close()
        return found

    def seconds(self, local: int, timer: AbstractTimer) -> float | None:
        """Return after how long a clock of a local state rings; None if only data can tell."""
        walk = self.walk(self.outline, self.locals[local], ChoiceSequence(), self.alike, self.seats)
        try:
            return walk.seconds(timer)
        except AbstractError:
            return None
        finally:
            walk.close()

    def without(self, local: int, kept: tuple[int, ...], fewer: Process) -> int:
        """Return the number that a local state has in a part with fewer seats, of which those kept are left.

        The others must not be mentioned in it.
        """
        if local < 0:
            return local
        key = (local, kept)
        found = self.left.get(key)
        if found is None:
            root, statuses, *_ = self.locals[local]
            of = {seat: at for at, seat in enumerate(kept)}
            left = (_renamed(root, of.__getitem__), tuple([statuses[seat] for seat in kept]))
            found = self.left[key] = fewer.number(left)
        return found

    def rename(self, local: int, seats: tuple[int, ...]) -> int:
        """Return the local state with its peers renamed: seat ``s`` becomes ``seats[s]``."""
        if local < 0:
            return local
        key = (local, seats)
        found = self.renamed.get(key)
        if found is None:
            root, statuses, *going = self.locals[local]
            placed = list(statuses)
            for seat, status in enumerate(statuses):
                placed[seats[seat]] = status
            seat_of = seats.__getitem__
            if going:
                going[1] = frozenset(moved(fact, seat_of) for fact in going[1])
            found = self.number((_renamed(root, seat_of), tuple(placed), *going))
            self.renamed[key] = found
        return found


def _do(walk: AbstractInterpreter, given: Input) -> bool:
    try:
        return _did(walk, given)
    except AbstractError as error:
        walk.fail(str(error))
        return True


def _did(walk: AbstractInterpreter, given: Input) -> bool:
    match given:
        case ("start",):
            walk.start()
        case ("go on",):
            walk.resume()
        case ("connect", seat):
            walk.connect(seat)
        case ("read", seat, token):
            return walk.receive(seat, token)
        case ("overtake", seat, token):
            return walk.overtake(seat, token)
        case ("answer", at, message):
            walk.answer(at, message)
        case ("ring", timer):
            walk.ring(timer)
    return True


_seat = attrgetter("seat")
_OF_SEAT = ("read", "overtake", "connect")


class _Way:
    """How a step has gone so far: ``next`` is its last part, ``before`` what led there; the rest is of all of it."""

    __slots__ = ("before", "fault", "gone", "hits", "next", "out")

    def __init__(self, before: _Way | None, next_: Successor, last: Outcome) -> None:
        """``last`` is the outcome of the last part, but for ``out``, which is that of all of it."""
        self.before = before
        self.next = next_
        self.out = last.out
        self.hits: tuple[Observation, ...] = before.hits + last.hits if before is not None else last.hits
        self.fault: str = (before.fault if before is not None else "") or last.fault
        self.gone: tuple[int, ...] = last.gone
        if before is not None and before.gone:
            self.gone = tuple(sorted({*before.gone, *last.gone}))

    def has_been(self, local: int) -> bool:
        """Whether it has come through a local state."""
        at: _Way | None = self
        while at is not None:
            if at.next.local == local:
                return True
            at = at.before
        return False

    def joined(self) -> Successor:
        """Return it as one part."""
        if self.before is None:
            return self.next
        outcomes = [self.next.outcome]
        at: _Way | None = self.before
        while at is not None:
            outcomes.append(at.next.outcome)
            at = at.before
        outcomes.reverse()
        taken = tuple([branch for one in outcomes for branch in one.taken])
        entered = tuple([state for one in outcomes for state in one.entered])
        event = outcomes[0].event
        return Successor(self.next.local, Outcome(self.out, self.hits, taken, self.fault, event, entered, self.gone))


def _outcome(outcome: Outcome, seats: tuple[int, ...]) -> Outcome:
    out = tuple([_moved_effect(effect, seats[effect.seat]) for effect in outcome.out])
    hits = tuple([replace(hit, seat=seats[hit.seat]) if hit.seat >= 0 else hit for hit in outcome.hits])
    gone = tuple(sorted(seats[seat] for seat in outcome.gone))
    return Outcome(out, hits, outcome.taken, outcome.fault, outcome.event, outcome.entered, gone)


def _moved_effect(effect: Effect, seat: int) -> Effect:
    return effect._replace(seat=seat)


def _renamed(frozen: Any, seat_of: Callable[[int], int]) -> Any:
    if frozen is None or frozen[0] == ".over":
        return frozen
    machine, state, env, hears, asked, told, fired, loop, child, sign_ups, parked, parked_for, beside, seat = frozen
    if beside is not None:
        lent, started, told_of = beside
        lent = tuple(map(seat_of, lent)) if lent is not None else None
        beside = lent, tuple([_renamed(one, seat_of) for one in started]), tuple(map(seat_of, told_of))
    return (
        machine, state, tuple([moved(value, seat_of) for value in env]), tuple(map(seat_of, hears)), asked, told, fired,
        (loop[0], moved(loop[1], seat_of), *loop[2:]) if loop is not None else None, _renamed(child, seat_of),
        _renamed_all(sign_ups, seat_of), _renamed_all(parked, seat_of), parked_for,
        beside, seat_of(seat) if seat >= 0 else seat,
    )  # fmt: skip


def _renamed_all(calls: Any, seat_of: Callable[[int], int]) -> Any:
    if calls is None:
        return None
    return tuple(sorted((_renamed(call, seat_of) for call in calls), key=lambda call: call[-1]))


__all__ = ["BoundExceeded", "Branch", "Fields", "LocalState", "PeerRef", "Process", "Token", "Unknown"]

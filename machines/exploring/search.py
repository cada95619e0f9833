"""Every run of a cast, breadth first, so that the first way to a fault is a shortest one.

A configuration is the local state of every actor and the messages on their way between each two. These reductions keep
the search small, and a verdict names those it used:

- What runs side by side is taken one after another: calls over different peers share nothing but their results.
- Clients are alike: configurations that differ only in which client is which count as one.
- Whoever waits for one peer only reads at once what has come: that it reads later makes no difference to anybody, since
  whatever else it may do, it may do before that message is sent.

What goes wrong without being a fault of the protocol (a connection is lost, a limit passes, a player's move is not
legal) may happen at any time; from then on the run is a *faulty* one. Some questions are put to the other runs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

from machines.exploring.calls import LOST, Closed, Sent
from machines.exploring.cast import Actor, Cast
from machines.exploring.parts import DEAD, NOT_STARTED, Input, Next, Part, TooMuch

ALIKE = "clients that are alike count as one"
AT_ONCE = "who waits for one peer only reads at once"
BY_ITSELF = "a client that nobody hears any more is looked at by itself"
ONE_LESS = "a client without a part any more is left to the search with one less"
REDUCTIONS = (ALIKE, AT_ONCE, BY_ITSELF, ONE_LESS)

Queue = tuple[Any, ...] | None  # None: nobody will read it any more
Config = tuple[tuple[int, ...], tuple[Queue, ...], bool]  # local states, queues, whether something went wrong


@dataclass(frozen=True, slots=True)
class Move:
    """An actor does something. ``others`` are moves that come with it: who connects also starts."""

    actor: int
    given: Input
    next: Next | None  # None: it dies
    others: tuple[Move, ...] = ()

    def all(self) -> Iterator[Move]:
        """Yield the move and those that come with it."""
        yield self
        yield from self.others


class Graph:
    """All configurations found, each with the first way to it."""

    def __init__(self, cast: Cast, queue: int, most: int, *, fewer: bool = False) -> None:
        self.cast = cast
        self.queue = queue
        self.most = most
        self.configs: list[Config] = []
        self.number_of: dict[Config, int] = {}
        self.same_as: dict[Config, int] = {}  # of configurations that another one stands for: its number
        self.parents: list[tuple[int, Move | None, tuple[int, ...]]] = []
        self.after: list[tuple[int, ...]] = []
        self.beyond: set[str] = set()
        self.used: set[str] = set()
        self.sent: set[tuple[str, str, str]] = set()  # (sender's role, message, receiver's role)
        self.read: set[tuple[str, str, str]] = set()
        self.unread: set[tuple[str, str]] = set()
        self.orders = _orders(cast)
        self.orders_by = {order.members: [order] for order in self.orders}
        self.bundles = _bundles(cast)
        self.bundled = [(group, *of_group) for group, of_group in self.bundles.items()]
        self.queue_numbers: dict[Queue, int] = {}
        self.companies = _companies(cast)
        self.alone: set[Any] = set()
        self.seen_roles: frozenset[str] = frozenset()  # those whose every step has to be seen
        self.fewer = fewer  # whether the same was searched with one client less
        self.of_fewer: set[int] = set()  # configurations that are left to that search
        self.refused = False  # whether a client that comes too late has been looked at
        self.no_moves = tuple(range(cast.groups))
        self.others: dict[int, Callable[[int], Iterable[Next]]] = {}  # what is done to an actor by who is not looked at

    # -- building ----------------------------------------------------------------------------------------------------

    def build(self, watch: Any) -> None:
        """Find every configuration; ``watch`` is shown each, and each move (see `machines.exploring.judging`)."""
        actors = self.cast.actors
        first: Config = ((NOT_STARTED,) * len(actors), ((),) * (2 * self.cast.links), False)
        try:
            for at, actor in enumerate(actors):
                if actor.group < 0:
                    first = self._only(first, Move(at, ("start",), self._started(at)))
            self._add(first, -1, None, self.no_moves)
            at = 0
            while at < len(self.configs):
                self._expand(at, watch)
                at += 1
                if len(self.configs) > self.most:
                    self.beyond.add(f"more than {self.most} configurations")
                    break
        except TooMuch as error:
            self.beyond.add(str(error))
        self.after.extend(() for _ in range(len(self.configs) - len(self.after)))

    def _started(self, at: int) -> Next:
        ways = self.cast.actors[at].part.after(-1, ("start",))
        if len(ways) != 1:
            raise TooMuch(f"{self.cast.actors[at].name} may start in {len(ways)} ways")
        return ways[0]

    def _only(self, config: Config, move: Move) -> Config:
        return self.done(config, move)

    def _add(self, config: Config, parent: int, move: Move | None, order: tuple[int, ...]) -> int:
        found = self.number_of.get(config)
        if found is None:
            found = self.number_of[config] = len(self.configs)
            self.configs.append(config)
            self.parents.append((parent, move, order))
        return found

    def _expand(self, at: int, watch: Any) -> None:
        config = self.configs[at]
        if self.fewer and self._is_of_fewer(config):
            self.of_fewer.add(at)
            self.used.add(ONE_LESS)
            self.after.append(())
            return
        moves = self._lonely(config) or self._eager(config)
        if moves is None:
            limit = self.queue
            for index, queue in enumerate(config[1]):
                if queue is not None and len(queue) > limit and sum(type(one) is tuple for one in queue) > limit:
                    self.beyond.add(f"more than {limit} messages wait for {self._reader(index)}")
                    self.after.append(())
                    return
            moves = list(self._moves(config))
        found = []
        for move in moves:
            raw = self._alone(self.done(config, move))
            known = self.number_of.get(raw, -1)
            if known < 0:
                known = self.same_as.get(raw, -1)
            if known < 0:
                after, order = self.sorted(raw)
                number = self._add(after, at, move, order)
                if after is not raw:
                    self.same_as[raw] = number
            else:
                number = known
            found.append(number)
            watch.moved(self, at, number, move)
        self.after.append(tuple(dict.fromkeys(found)))
        watch.seen(self, at, moves)

    def _is_of_fewer(self, config: Config) -> bool:
        """Whether one of the clients that are alike plays no part any more: as if there were one less."""
        locals_, queues, _ = config
        if any(actor.group < 0 and self._is_over(locals_[at], at) for at, actor in enumerate(self.cast.actors)):
            return False  # how they all come to their ends is asked of so many as there are
        for actors, theirs in self.bundles.values():
            if all(locals_[at] == NOT_STARTED for at in actors):
                if self._is_refused(locals_, actors[0]):
                    if self.refused:
                        return True
                    self.refused = True
                continue
            if any(queues[queue] for queue in theirs) or not all(self._is_over(locals_[at], at) for at in actors):
                continue
            if not any(self._knows(locals_, at) for at in actors):
                return True
        return False

    def _knows(self, locals_: tuple[int, ...], at: int) -> bool:
        """Whether a shared actor knows of the peer that an actor is to it."""
        for other, theirs in self.cast.actors[at].peers:
            shared = self.cast.actors[other]
            if shared.group < 0 and locals_[other] >= 0 and theirs in shared.part.rest(locals_[other]).mentioned:
                return True
        return False

    def _is_refused(self, locals_: tuple[int, ...], at: int) -> bool:
        """Whether a client that connects now is closed at once, and nothing else happens."""
        for other, theirs in self.cast.actors[at].peers:
            shared = self.cast.actors[other]
            if shared.group >= 0 or locals_[other] < 0 or self._is_over(locals_[other], other):
                continue
            ways = shared.part.after(locals_[other], ("connect", theirs))
            if any(way.outcome.out != (Closed(theirs, "door"),) or way.outcome.hits for way in ways):
                return False
        return True

    def _reader(self, index: int) -> str:
        for actor in self.cast.actors:
            for _, incoming in actor.queues:
                if incoming == index:
                    return actor.role
        return "a peer"

    # -- moves -------------------------------------------------------------------------------------------------------

    def _eager(self, config: Config) -> list[Move] | None:
        """Return the moves of an actor that waits for one peer only, and has something from it; None if none does."""
        locals_, queues, _ = config
        for at, actor in enumerate(self.cast.actors):
            local = locals_[at]
            if local < 0 or actor.role in self.seen_roles:
                continue
            seat = actor.part.rest(local).only
            if seat < 0:
                continue
            queue = queues[actor.queues[seat][1]]
            if queue:
                ways = actor.part.after(local, ("read", seat, queue[0]))
                if ways:
                    self.used.add(AT_ONCE)
                    return [Move(at, ("read", seat, queue[0]), way) for way in ways]
        return None

    def _lonely(self, config: Config) -> list[Move]:
        """Return the moves of a client that is looked at alone: see `_alone`."""
        if config[2] and not self.seen_roles:
            for actors, _, shared in self.companies:
                if not any(config[1][queue] is not None for queue in shared):
                    moves = list(self._moves(config, frozenset(actors)))
                    if moves:
                        return moves
        return []

    def _moves(self, config: Config, only: frozenset[int] | None = None) -> Iterator[Move]:
        locals_, queues, _ = config
        connected = set()
        for at, actor in enumerate(self.cast.actors):
            if only is not None and at not in only:
                continue
            local = locals_[at]
            if local == NOT_STARTED:
                if actor.group not in connected and self._is_first_of(actor, at):
                    connected.add(actor.group)
                    yield from self._connections(config, at)
                continue
            if local == DEAD:
                continue
            if at in self.others:
                for way in self.others[at](local):
                    yield Move(at, ("others",), way)
            part = actor.part
            rest = part.rest(local)
            if rest.over is not None:
                continue
            for seat, (_, incoming) in enumerate(actor.queues):
                queue = queues[incoming]
                if queue and seat not in rest.closed:
                    given: Input = ("read", seat, queue[0])
                    for way in part.after(local, given):
                        yield Move(at, given, way)
            for question, message in rest.questions:
                given = ("answer", question, message)
                for way in part.after(local, given):
                    yield Move(at, given, way)
            for timer in rest.timers:
                given = ("ring", timer)
                for way in part.after(local, given):
                    if actor.group >= 0 and any(hit.kind == "unanswered" for hit in way.outcome.hits):
                        continue  # it ends as if it died
                    yield Move(at, given, way)
            if actor.group >= 0:
                yield Move(at, ("die",), None)

    def _is_first_of(self, actor: Actor, at: int) -> bool:
        return not any(other.group == actor.group for other in self.cast.actors[:at])

    def _connections(self, config: Config, at: int) -> Iterator[Move]:
        """Yield the ways in which a client connects: its own roles start, those it shares admit it, it starts."""
        group = self.cast.actors[at].group
        members = [index for index, actor in enumerate(self.cast.actors) if actor.group == group]
        asked: list[list[Move]] = []
        for index in reversed(members):
            actor = self.cast.actors[index]
            for seat, (other, theirs) in enumerate(actor.peers):
                shared = self.cast.actors[other]
                local = config[0][other]
                is_asked = shared.group < 0 and seat < len(actor.part.outline.connects)
                if is_asked and local >= 0 and shared.part.rest(local).over is None:
                    ways = shared.part.after(local, ("connect", theirs))
                    asked.append([Move(other, ("connect", theirs), way) for way in ways])
            asked.append([Move(index, ("start",), way) for way in actor.part.after(-1, ("start",))])
        for combined in _every_one_of(asked):
            yield Move(at, ("connects",), None, tuple(combined))

    def done(self, config: Config, move: Move) -> Config:
        """Return the configuration after a move."""
        locals_ = list(config[0])
        queues = list(config[1])
        faulty = config[2]
        if move.given == ("die",):
            faulty = True
            locals_[move.actor] = DEAD
            actor = self.cast.actors[move.actor]
            for outgoing, incoming in actor.queues:
                _append(queues, outgoing, f"{LOST}died")
                queues[incoming] = None
            return tuple(locals_), tuple(queues), faulty
        for one in move.all():
            if one.next is not None:
                faulty = self._apply(locals_, queues, one, faulty) or faulty
        if move.given == ("connects",):
            group = self.cast.actors[move.actor].group
            for actor in self.cast.actors:
                if actor.group != group:
                    continue
                for seat, (other, _) in enumerate(actor.peers):
                    outgoing, incoming = actor.queues[seat]
                    if self._is_over(locals_[other], other):  # nobody is there: the connection is closed at once
                        _append(queues, incoming, f"{LOST}door")
                        queues[outgoing] = None
        return tuple(locals_), tuple(queues), faulty

    def _is_over(self, local: int, at: int) -> bool:
        return local == DEAD or (local >= 0 and self.cast.actors[at].part.rest(local).over is not None)

    def _apply(self, locals_: list[int], queues: list[Queue], move: Move, faulty: bool) -> bool:
        assert move.next is not None, "it leads somewhere"
        actor = self.cast.actors[move.actor]
        outcome = move.next.outcome
        locals_[move.actor] = move.next.local
        if move.given[0] == "read":
            incoming = actor.queues[move.given[1]][1]
            queue = queues[incoming]
            assert queue, "there is something to read"
            queues[incoming] = queue[1:]
            if type(queue[0]) is tuple and outcome.event.startswith("reads"):
                self.read.add((self._peer(actor, move.given[1]), queue[0][0], actor.role))
        for effect in outcome.out:
            outgoing, incoming = actor.queues[effect.seat]
            if type(effect) is Sent:
                _append(queues, outgoing, effect.token)
                self.sent.add((actor.role, effect.token[0], self._peer(actor, effect.seat)))
            elif type(effect) is Closed:
                _append(queues, outgoing, f"{LOST}{effect.why}")
                self._drain(queues, incoming, actor, faulty)
        if actor.part.rest(move.next.local).over is not None:
            for _, incoming in actor.queues:
                self._drain(queues, incoming, actor, faulty)
        timer = move.given[1] if move.given[0] == "ring" else None
        return bool(outcome.fault) or (timer is not None and not timer.meant)

    def _peer(self, actor: Actor, seat: int) -> str:
        return self.cast.actors[actor.peers[seat][0]].role

    def _drain(self, queues: list[Queue], index: int, reader: Actor, faulty: bool) -> None:
        for one in queues[index] or ():
            if type(one) is tuple and not faulty:
                self.unread.add((one[0], reader.role))
        queues[index] = None

    def _alone(self, config: Config) -> Config:
        """Take a client out that nobody shared hears or speaks to any more, unless it is the first in that state.

        What it does from then on is its own affair, so it is looked at once. Only in runs in which something went
        wrong: of the others it is asked how the clients come to their ends together.
        """
        if not config[2] or self.seen_roles:
            return config
        queues = config[1]
        for actors, theirs, shared in self.companies:
            for queue in shared:
                if queues[queue] is not None:
                    break
            else:
                config = self._once(config, actors, theirs)
        return config

    def _once(self, config: Config, actors: tuple[int, ...], theirs: tuple[int, ...]) -> Config:
        """Take a client out that is by itself now, unless it is the first in that state."""
        locals_, queues, _ = config
        state = (tuple([locals_[at] for at in actors]), tuple([queues[queue] for queue in theirs]))
        if all(local in (DEAD, NOT_STARTED) for local in state[0]):
            return config
        key = (self.cast.actors[actors[0]].role, state)
        if key not in self.alone:
            self.alone.add(key)
            return config
        self.used.add(BY_ITSELF)
        placed, left = list(locals_), list(queues)
        for at in actors:
            placed[at] = DEAD
        for queue in theirs:
            left[queue] = None
        return tuple(placed), tuple(left), True

    # -- alike -------------------------------------------------------------------------------------------------------

    def sorted(self, config: Config) -> tuple[Config, tuple[int, ...]]:
        """Return the configuration that stands for all that differ only in which client is which, and the order."""
        if len(self.orders) <= 1:
            return config, self.no_moves
        self.used.add(ALIKE)
        locals_, queues, faulty = config
        number = self.queue_numbers
        keys = []
        for group, actors, theirs in self.bundled:
            key = [locals_[at] for at in actors]
            for at in theirs:
                queue = queues[at]
                key.append(number[queue] if queue in number else number.setdefault(queue, len(number)))
            keys.append((key, group))
        keys.sort()
        if all(one[0] != other[0] for one, other in pairwise(keys)):
            orders = self.orders_by[tuple([group for _, group in keys])]
        else:
            wanted = [key for key, _ in keys]
            of = {group: key for key, group in keys}
            orders = [order for order in self.orders if [of[group] for group in order.members] == wanted]
        best: Any = None
        for order in orders:
            if order.is_same:
                placed = locals_
            else:
                placed = tuple([locals_[source] for source in order.actors])
                if order.shared:
                    changed = list(placed)
                    for at, part, seats in order.shared:
                        changed[at] = part.rename(locals_[order.actors[at]], seats)
                    placed = tuple(changed)
            if best is None or placed < best[0]:
                best = (placed, order)
        placed, order = best
        if order.is_same:
            return config, order.groups
        return (placed, tuple([queues[at] for at in order.queues]), faulty), order.groups

    # -- traces ------------------------------------------------------------------------------------------------------

    def moves_to(self, number: int) -> tuple[list[tuple[int, Move, list[int]]], list[int]]:
        """Return the moves that lead to a configuration, each with the configuration before and who is who there."""
        chain = []
        while number >= 0:
            parent, move, order = self.parents[number]
            chain.append((parent, move, order))
            number = parent
        who = list(range(self.cast.groups))
        found = []
        for parent, move, order in reversed(chain):
            if move is not None:
                found.append((parent, move, who))
                who = [who[group] for group in order]
        return found, who


def _append(queues: list[Queue], index: int, token: Any) -> None:
    queue = queues[index]
    if queue is not None and not (queue and type(queue[-1]) is str):
        queues[index] = (*queue, token)


def _every_one_of(choices: list[list[Move]]) -> Iterator[list[Move]]:
    if not choices:
        yield []
        return
    for first in choices[0]:
        for rest in _every_one_of(choices[1:]):
            yield [first, *rest]


@dataclass(frozen=True, slots=True)
class _Order:
    """Clients that are alike in another order: where each group, actor and queue is taken from.

    ``shared`` are the actors whose seats are others then: (actor, its part, what becomes of each seat). ``is_same`` if
    nothing moves.
    """

    members: tuple[int, ...]
    groups: tuple[int, ...]
    actors: tuple[int, ...]
    queues: tuple[int, ...]
    shared: tuple[tuple[int, Part, tuple[int, ...]], ...]
    is_same: bool


def _bundles(cast: Cast) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the actors and the queues of each client of those that are alike."""
    found = {}
    for group in cast.alike_groups[0] if cast.alike_groups else []:
        actors = [at for at, actor in enumerate(cast.actors) if actor.group == group]
        queues = [queue for at in actors for pair in cast.actors[at].queues for queue in pair]
        found[group] = (tuple(actors), tuple(dict.fromkeys(queues)))
    return found


def _companies(cast: Cast) -> list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Return of each client its actors, all its queues, and those in which it speaks to shared actors."""
    found = []
    for group in range(cast.groups):
        actors = tuple(at for at, actor in enumerate(cast.actors) if actor.group == group)
        queues = tuple(dict.fromkeys(queue for at in actors for pair in cast.actors[at].queues for queue in pair))
        shared = tuple(
            cast.actors[at].queues[seat][0]
            for at in actors
            for seat, (other, _) in enumerate(cast.actors[at].peers)
            if cast.actors[other].group < 0
        )
        found.append((actors, queues, shared))
    return found


def _orders(cast: Cast) -> list[_Order]:
    """Return every order of the clients that are alike."""
    found = []
    members = cast.alike_groups[0] if cast.alike_groups else []
    for order in permutations(members):
        groups = list(range(cast.groups))
        for place, group in zip(members, order, strict=True):
            groups[place] = group
        actor_of = list(range(len(cast.actors)))
        by_group = [
            [at for at, actor in enumerate(cast.actors) if actor.group == group] for group in range(cast.groups)
        ]
        for place in members:
            for here, there in zip(by_group[place], by_group[groups[place]], strict=True):
                actor_of[here] = there
        queue_of = list(range(2 * cast.links))
        shared: list[tuple[int, Part, tuple[int, ...]]] = []
        for at, actor in enumerate(cast.actors):
            source = cast.actors[actor_of[at]]
            if actor.group >= 0:
                for seat in range(len(actor.queues)):
                    for one, other in zip(actor.queues[seat], source.queues[seat], strict=True):
                        queue_of[one] = other
                continue
            # Seat s of a shared actor is of some client; it becomes the seat of the client that takes its place.
            becomes = list(range(len(actor.peers)))
            for seat, (peer, _) in enumerate(actor.peers):
                if cast.actors[peer].group in members:
                    new_peer = actor_of.index(peer)
                    becomes[seat] = next(s for s, (other, _) in enumerate(actor.peers) if other == new_peer)
            if becomes != list(range(len(becomes))):
                shared.append((at, actor.part, tuple(becomes)))
        same = tuple(groups) == tuple(range(cast.groups))
        found.append(_Order(order, tuple(groups), tuple(actor_of), tuple(queue_of), tuple(shared), same))
    return found

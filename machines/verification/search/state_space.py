"""Every run of a cast, breadth first, so that the first way to a fault is a shortest one.

A global state is the local state of every actor and the messages on their way between each two. These reductions keep
the search small, and a verdict names those it used:

- What runs side by side is taken one after another: calls over different peers share nothing but their results.
- Where something went wrong it does not count how a client came to its end.
- Clients are alike: global states that differ only in which client is which count as one.
- Whoever waits for one peer only, and has something from it, goes first: it reads, or its clock rings, or it is lost.
  What the others do meanwhile makes no difference to it. A shared actor that heeds who connects does not go first.
- A connection whose loss nobody would hear yet is lost later: see `late_losses`.
- A client that nobody hears or speaks to any more is looked at once in each of its states: the others go on alike.
- A client that has come to its end, with nothing on its way and nobody who knows of it, is left out where the search
  with one client less has been at just what is left. So is one that has not come, if whoever comes is closed at once
  and no door opens any more.

What goes wrong without being a fault of the protocol (a connection is lost, a limit passes, a player's move is not
legal) may happen at any time; from then on the run is a *faulty* one. Some questions are put to the other runs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from machines.verification.abstract.budget import BudgetSpent
from machines.verification.abstract.growth import what_grows
from machines.verification.abstract.process import DEAD, NOT_STARTED, BoundExceeded, Input, Successor
from machines.verification.abstract.state import LOST, Closed, Secured, Sent
from machines.verification.search.channels import Channel
from machines.verification.search.late_losses import LATER, LateLosses
from machines.verification.search.moves import GlobalState, Own, Queue, Transition
from machines.verification.search.one_less import is_covered
from machines.verification.search.symmetry import Orders, Projection, bundles, companies
from machines.verification.search.system import ProcessInstance, System

ALIKE = "clients that are alike count as one"
AT_ONCE = "who waits for one peer only reads at once"
BY_ITSELF = "a client that nobody hears any more is looked at by itself"
ONE_LESS = "a client without a part any more is left to the search with one less"
REDUCTIONS = (ALIKE, AT_ONCE, BY_ITSELF, ONE_LESS, LATER)

_POP, _PUT, _SHUT, _EMPTY, _TAKE, SECURE = range(6)  # what a move does to a queue
_ABSENT = (DEAD, NOT_STARTED)


# Where shared actors are while a client connects, and the moves that brought them there.
_Connecting = tuple[dict[int, int], tuple[Transition, ...]]


class StateSpace:
    """All global states found, each with the first way to it."""

    def __init__(self, cast: System, queue: int, most: int, *, fewer: StateSpace | None = None) -> None:
        self.cast = cast
        self.queue = queue
        self.most = most
        self.configs: list[GlobalState] = []
        self.number_of: dict[GlobalState, int] = {}
        self.same_as: dict[GlobalState, int] = {}  # of global states that another one stands for: its number
        self.parents: list[tuple[int, Transition | None, tuple[int, ...]]] = []
        self.after: list[tuple[int, ...]] = []
        self.by_loss: dict[int, set[int]] = {}  # of states: those after it that only a lost connection leads to
        self.beyond: set[str] = set()
        self.blocked: set[int] = set()  # states after which was not looked: there more messages wait than may
        self.full: set[str] = set()  # what `beyond` tells of them
        self.used: set[str] = set()
        self.sent: set[tuple[str, str, str]] = set()  # (sender's role, message, receiver's role)
        self.read: set[tuple[str, str, str]] = set()
        self.unread: set[tuple[str, str]] = set()
        self.orders = Orders(cast)
        self.bundles = bundles(cast)
        self.bundled = [(group, itemgetter(*of), itemgetter(*theirs)) for group, (of, theirs) in self.bundles.items()]
        self.keys: dict[Any, list[int]] = {}  # by what a client is in, and what waits for it and of it
        self.empty = Channel()
        self.queue_numbers: dict[Queue, int] = {}
        self.own_moves: list[dict[int, Own]] = [{} for _ in cast.actors]  # by local state
        self.readings: dict[
            tuple[int, int, int, Any], tuple[Transition, ...]
        ] = {}  # by actor, local state, seat, and token
        self.shared = [(at, actor.part) for at, actor in enumerate(cast.actors) if actor.group < 0]
        self.incoming = [tuple([incoming for _, incoming in actor.queues]) for actor in cast.actors]
        self.only: list[dict[int, int]] = [{} for _ in cast.actors]  # by local state: see `Rest.only`
        self.ends = [(at, actor.part.over) for at, actor in enumerate(cast.actors) if actor.group >= 0]
        self.companies = companies(cast)
        self.company_of = [(itemgetter(*actors), itemgetter(*theirs)) for actors, theirs, _ in self.companies]
        self.alone: set[Any] = set()
        self.seen_roles: frozenset[str] = frozenset()  # those whose every step has to be seen
        self.fewer = fewer  # the same, searched with one client less
        gone_of = [actors for actors, _ in self.bundles.values()] if fewer is not None else []
        self.without = [Projection(cast, gone, fewer.cast) for gone in gone_of if fewer is not None]
        self.of_fewer: set[int] = set()  # global states that are left to that search
        # Roles of which a client is left without an end, here or there, though it may be that no other came to one.
        self.without_end: set[str] = set(fewer.without_end) if fewer is not None else set()
        self.urgent = frozenset(name for of in cast.of.values() for name, one in of.messages.items() if one.urgent)
        self.late_losses = LateLosses(cast.actors)
        self.asks_gone = any(actor.part.outline.asks_gone for actor in cast.actors)
        self.is_asked_more = bool(cast.spec.properties)  # then it may matter when a connection is lost
        self.refused = False  # whether a client that comes too late has been looked at
        self.no_moves = tuple(range(cast.groups))
        # What is done to an actor by who is not looked at; messages to who reads no more, though nothing went wrong.
        self.others: dict[int, Callable[[int], Iterable[Successor]]] = {}
        self.missed: set[str] = set()

    # -- building ----------------------------------------------------------------------------------------------------

    def build(self, watch: Any) -> None:
        """Find every global state; ``watch`` is shown each, and each move that is loud (see `Transition`).

        One that has ``every_move`` is shown all moves. See `machines.verification.error_states`.
        """
        actors = self.cast.actors
        first: GlobalState = ((NOT_STARTED,) * len(actors), (self.empty,) * (2 * self.cast.links), False)
        try:
            for at, actor in enumerate(actors):
                if actor.group < 0:
                    first = self.done(first, self._move(at, ("start",), self._started(at)))
            self._add(first, -1, None, self.no_moves)
        except BoundExceeded as error:
            self.beyond.add(str(error))
        self._go_on(watch)

    def deepen(self, watch: Any, queue: int) -> None:
        """Go on where more messages wait for a peer than might, now that so many more may."""
        self.queue = queue
        blocked, self.blocked = self.blocked, set()
        self.beyond -= self.full
        self.full = set()
        self._go_on(watch, sorted(blocked))

    @property
    def needs_deeper(self) -> bool:
        """Whether nothing but the bound of waiting messages keeps it from knowing all states."""
        return bool(self.blocked) and self.beyond == self.full

    def _go_on(self, watch: Any, again: Iterable[int] = ()) -> None:
        look = self.cast.budget.look
        try:
            for at in again:
                look()
                self.after[at] = self._expand(at, watch)
            while len(self.after) < len(self.configs) and self.beyond <= self.full:
                look()
                self.after.append(self._expand(len(self.after), watch))
                if len(self.configs) > self.most:
                    self.beyond.add(f"more than {self.most} states")
        except BudgetSpent as error:
            self.beyond.add(f"{error}: {what_grows(self.cast.parts)}")
        except BoundExceeded as error:
            self.beyond.add(str(error))
        self.after.extend(() for _ in range(len(self.configs) - len(self.after)))

    def _started(self, at: int) -> Successor:
        ways = self.cast.actors[at].part.after(-1, ("start",))
        if len(ways) != 1:
            raise BoundExceeded(f"{self.cast.actors[at].name} may start in {len(ways)} ways")
        return ways[0]

    def _add(self, config: GlobalState, parent: int, move: Transition | None, order: tuple[int, ...]) -> int:
        found = self.number_of.get(config)
        if found is None:
            found = self.number_of[config] = len(self.configs)
            self.configs.append(config)
            self.parents.append((parent, move, order))
        return found

    def _expand(self, at: int, watch: Any) -> tuple[int, ...]:
        """Return the states that come after one."""
        config = self.configs[at]
        if self.fewer is not None and self._is_covered_by_smaller(self.fewer, config):
            self.of_fewer.add(at)
            self.used.add(ONE_LESS)
            return ()
        moves = self._isolated_moves(config) or self._ample_reads(config)
        if moves is None:
            limit = self.queue
            for index, queue in enumerate(config[1]):
                if queue is not None and queue.messages > limit:
                    self.blocked.add(at)
                    self.full.add(f"more than {limit} messages wait for {self._reader(index)}")
                    self.beyond |= self.full
                    return ()
            moves = self._not_too_early(config, self._moves(config))
        if self.asks_gone:
            moves = [move for move in moves if not move.needs or self._are_lost(config, move.needs)]
        found = []
        number_of, same_as = self.number_of, self.same_as
        every = getattr(watch, "every_move", False)
        for move in moves:
            raw = self.done(config, move)
            if raw[2] and not self.seen_roles:
                raw = self._drop_isolated(raw)
            number = number_of.get(raw, -1)
            if number < 0:
                number = same_as.get(raw, -1)
                if number < 0:
                    after, order = self.sorted(raw)
                    number = self._add(after, at, move, order)
                    if after is not raw:
                        same_as[raw] = number
            found.append(number)
            if every or move.loud:
                watch.moved(self, at, number, move)
        if not config[2]:
            lost = {number for number, move in zip(found, moves, strict=True) if move.forced}
            if lost:
                self.by_loss[at] = lost - {number for number, move in zip(found, moves, strict=True) if not move.forced}
        watch.seen(self, at, moves)
        return tuple(dict.fromkeys(found))

    def _not_too_early(self, config: GlobalState, moves: list[Transition]) -> list[Transition]:
        """Return moves without the losses of connections that may as well come later."""
        if self.is_asked_more or self.others:
            return moves
        return self.late_losses.left_out(self, config, moves)

    def _are_lost(self, config: GlobalState, needed: tuple[int, ...]) -> bool:
        """Whether the connections are lost that these queues belong to."""
        found = [config[1][at] for at in needed]
        return all(queue is None or queue.is_lost for queue in found)

    def _is_covered_by_smaller(self, fewer: StateSpace, config: GlobalState) -> bool:
        """Whether a client plays no part any more, and what is left without it was looked at: see `one_less`."""
        return is_covered(self, fewer, config)

    def has(self, config: GlobalState) -> bool:
        """Whether a global state, or one that differs only in which client is which, was found."""
        return config in self.number_of or config in self.same_as or self.sorted(config)[0] in self.number_of

    def _reader(self, index: int) -> str:
        for actor in self.cast.actors:
            for _, incoming in actor.queues:
                if incoming == index:
                    return actor.role
        return "a peer"

    # -- moves -------------------------------------------------------------------------------------------------------

    def _ample_reads(self, config: GlobalState) -> list[Transition] | None:
        """Return all moves of an actor that waits for one peer only, and has something from it; None if none does.

        Its clocks and its death are among them: who sent that message may have waited for one peer only as well, and
        so what this actor does before it reads would be seen nowhere.
        """
        locals_, queues, _ = config
        for at, local in enumerate(locals_):
            if local < 0:
                continue
            seat = self.only[at].get(local)
            if seat is None:
                actor = self.cast.actors[at]
                seat = -1 if actor.role in self.seen_roles else actor.part.rest(local).only
                self.only[at][local] = seat
            if seat < 0:
                continue
            queue = queues[self.incoming[at][seat]]
            if queue is not None and queue.tokens:
                moves = self.reads(at, local, seat, queue.first)
                own = self.unasked(at, local)[1]
                if any(move.needs for move in (*moves, *own)):
                    continue  # whether somebody else is lost before makes a difference
                if moves and not (
                    len(own) > 1
                    and self._may_say_ever_more(
                        queues, at, queue, [move for move in own if move.next and move.next.local == local]
                    )
                ):
                    self.used.add(AT_ONCE)
                    if not self.is_asked_more and any(map(self._is_silent, moves)):
                        own = tuple([move for move in own if move.given != ("die",)])
                    return [*moves, *own]
        return None

    def _may_say_ever_more(self, queues: tuple[Queue, ...], at: int, unread: Channel, again: list[Transition]) -> bool:
        """Whether an actor that goes first may go on without end: more waits for a peer of it than may.

        Or more waits for itself, and by one of ``again``, which leave it as it was, it speaks without having read
        that: its peer may answer at once.
        """
        waiting = [queues[outgoing] for outgoing, _ in self.cast.actors[at].queues]
        if any(queue is not None and queue.messages > self.queue for queue in waiting):
            return True
        speaks = (work for move in again for work in move.works if work[0] == _PUT and type(work[2]) is tuple)
        return unread.messages > self.queue and next(speaks, None) is not None

    def _is_silent(self, read: Transition) -> bool:
        """Whether nobody sees that something is read: who is lost before is as good as lost behind it."""
        after = read.next
        return after is not None and not after.outcome.out and not self.is_over(after.local, read.actor)

    def _isolated_moves(self, config: GlobalState) -> list[Transition]:
        """Return the moves of a client that is looked at alone: see `_drop_isolated`."""
        if config[2] and not self.seen_roles:
            queues = config[1]
            for at, (actors, _, shared) in enumerate(self.companies):
                for queue in shared:
                    if queues[queue] is not None:
                        break
                else:
                    state = self.state_of(config, at)
                    if state not in self.alone and not any(queue and queue.messages > self.queue for queue in state[2]):
                        moves = self._moves(config, actors)
                        if moves:
                            self.alone.add(state)
                            return moves
        return []

    def state_of(self, config: GlobalState, company: int) -> Any:
        """Return what a client is in, and what waits for it and of it."""
        of_actors, of_queues = self.company_of[company]
        return self.cast.actors[self.companies[company][0][0]].role, of_actors(config[0]), of_queues(config[1])

    def _moves(self, config: GlobalState, only: tuple[int, ...] | None = None) -> list[Transition]:
        """Return every move of the actors, or of some of them."""
        locals_, queues, _ = config
        found: list[Transition] = []
        connected = set()
        for at in only if only is not None else range(len(locals_)):
            local = locals_[at]
            if local == NOT_STARTED:
                actor = self.cast.actors[at]
                if actor.group not in connected and self._is_first_of(actor, at):
                    connected.add(actor.group)
                    found.extend(self._connections(config, at))
                continue
            if local == DEAD:
                continue
            if at in self.others:
                found.extend(self._move(at, ("others",), way) for way in self.others[at](local))
            own = self.unasked(at, local)
            for seat, incoming in own[0]:
                queue = queues[incoming]
                if queue is not None and queue.tokens:
                    found.extend(self.reads(at, local, seat, queue.first) or self._past(at, local, seat, queue))
            found.extend(own[1])
        return found

    def _past(self, at: int, local: int, seat: int, queue: Channel) -> Iterator[Transition]:
        """Yield what an actor may read though it does not take the first thing that waits for it from a seat.

        An urgent message may have come just now, behind what it keeps. Who sits where a sign-up is open that awaits
        nobody, and is lost, leaves its seat at once: what it had sent is thrown away.
        """
        for token in dict.fromkeys(queue.tokens[1:]):
            if token[0] in self.urgent:
                yield from self.reads(at, local, seat, token, "overtake")
        if queue.is_lost and queue.messages and seat in self.unasked(at, local)[2]:
            yield from self.reads(at, local, seat, queue.tokens[-1])

    def reads(self, at: int, local: int, seat: int, token: Any, how: str = "read") -> tuple[Transition, ...]:
        """Return what an actor may make of something that waits for it from a seat; nothing if it does not take it."""
        key = (at, local, seat, token) if how == "read" else (at, local, seat, (how, token))
        found = self.readings.get(key)
        if found is None:
            given: Input = (how, seat, token)
            ways = self.cast.actors[at].part.after(local, given)
            found = self.readings[key] = tuple([self._move(at, given, way) for way in ways])
        return found

    def unasked(self, at: int, local: int) -> Own:
        """Return what `_own` says, which is worked out once."""
        own = self.own_moves[at].get(local)
        if own is None:
            own = self.own_moves[at][local] = self._own(at, local)
        return own

    def _own(self, at: int, local: int) -> Own:
        """Return the seats that an actor may read from, with their queues, the moves it makes unasked, who sits."""
        actor = self.cast.actors[at]
        part = actor.part
        rest = part.rest(local)
        if rest.over is not None:
            return (), (), frozenset()
        open_ = tuple((seat, incoming) for seat, (_, incoming) in enumerate(actor.queues) if seat not in rest.closed)
        found: list[Transition] = []
        may_stop = bool(rest.questions)  # its player, or a limit of its own, may end it
        for question, message in rest.questions:
            given: Input = ("answer", question, message)
            found.extend(self._move(at, given, way) for way in part.after(local, given))
        for timer in rest.timers:
            given = ("ring", timer)
            for way in part.after(local, given):
                if actor.group >= 0 and any(hit.kind == "unanswered" for hit in way.outcome.hits):
                    may_stop = True
                    continue  # it ends as if it died
                found.append(self._move(at, given, way))
        if actor.group >= 0:
            found.append(Transition(at, ("die",), None, fair=False, forced=not may_stop))
        return open_, tuple(found), rest.seated

    def _move(self, at: int, given: Input, way: Successor) -> Transition:
        """Return a move with all that follows from it."""
        actor = self.cast.actors[at]
        outcome = way.outcome
        works: list[tuple[int, int, Any]] = []
        if given[0] in ("read", "overtake"):
            incoming = actor.queues[given[1]][1]
            if given[0] == "overtake":
                works.append((_TAKE, incoming, given[2]))
            else:  # a loss is the last that comes, and what was sent before it may be read by nobody: see `_past`
                works.append((_POP if type(given[2]) is tuple else _EMPTY, incoming, actor.role))
            if type(given[2]) is tuple and outcome.event.startswith("reads"):
                self.read.add((self._peer(actor, given[1]), given[2][0], actor.role))
        for effect in outcome.out:
            outgoing, incoming = actor.queues[effect.seat]
            if type(effect) is Sent:
                works.append((_PUT, outgoing, effect.token))
                self.sent.add((actor.role, effect.token[0], self._peer(actor, effect.seat)))
            elif type(effect) is Secured:
                works.append((SECURE, outgoing, incoming))
            elif type(effect) is Closed:
                works.append((_PUT, outgoing, f"{LOST}{effect.why}"))
                works.append((_SHUT, incoming, actor.role))
        over = actor.part.rest(way.local).over
        if over is not None:
            works.extend((_SHUT, incoming, actor.role) for _, incoming in actor.queues)
        faulty = bool(outcome.fault) or (given[0] == "ring" and not given[1].meant)
        # Of a limit that is used up either there is another way as well, or whoever kept to its role has used it up.
        fair = not faulty or outcome.fault == "limit"
        loud = bool(outcome.hits) or over == ""
        needs = tuple([actor.queues[seat][1] for seat in outcome.gone])
        return Transition(at, given, way, (), tuple(works), faulty, fair=fair, loud=loud, needs=needs)

    def _is_first_of(self, actor: ProcessInstance, at: int) -> bool:
        return not any(other.group == actor.group for other in self.cast.actors[:at])

    def _connections(self, config: GlobalState, at: int) -> Iterator[Transition]:
        """Yield the ways in which a client connects: its own roles start, those it shares admit it, it starts."""
        group = self.cast.actors[at].group
        members = [index for index, actor in enumerate(self.cast.actors) if actor.group == group]
        ways: list[_Connecting] = [({}, ())]
        for index in reversed(members):
            for other, theirs in self._asked_by(index):
                ways = [longer for way in ways for longer in self._connected(config, way, other, theirs)]
            started = [self._move(index, ("start",), way) for way in self.cast.actors[index].part.after(-1, ("start",))]
            ways = [(after, (*moves, start)) for after, moves in ways for start in started]
        for _, moves in ways:
            yield Transition(
                at, ("connects",), None, moves,
                fair=all(one.fair for one in moves), loud=any(one.loud for one in moves),
                needs=tuple({queue for one in moves for queue in one.needs}),
            )  # fmt: skip

    def _asked_by(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the shared actors that an actor connects to, each with its seat there."""
        actor = self.cast.actors[at]
        for other, theirs in actor.peers[: len(actor.part.outline.connects)]:
            if self.cast.actors[other].group < 0:
                yield other, theirs

    def _connected(self, config: GlobalState, way: _Connecting, at: int, seat: int) -> Iterator[_Connecting]:
        """Yield how a shared actor may admit one more connection, from where those before it have brought it."""
        after, moves = way
        local = after.get(at, config[0][at])
        part = self.cast.actors[at].part
        if local < 0 or part.rest(local).over is not None:
            yield way
            return
        for admits in part.after(local, ("connect", seat)):
            yield {**after, at: admits.local}, (*moves, self._move(at, ("connect", seat), admits))

    def done(self, config: GlobalState, move: Transition) -> GlobalState:
        """Return the global state after a move."""
        locals_ = list(config[0])
        queues = list(config[1])
        faulty = config[2]
        if move.next is not None:
            faulty = self._apply(locals_, queues, move, faulty) or faulty
        elif move.others:
            for one in move.others:
                faulty = self._apply(locals_, queues, one, faulty) or faulty
            self._shut_out(locals_, queues, move)
        else:  # it dies
            faulty = True
            locals_[move.actor] = DEAD
            for outgoing, incoming in self.cast.actors[move.actor].queues:
                queue = queues[outgoing]
                if queue is not None:
                    queues[outgoing] = queue.then(f"{LOST}died")
                queues[incoming] = None
        return tuple(locals_), tuple(queues), faulty

    def _shut_out(self, locals_: list[int], queues: list[Queue], move: Transition) -> None:
        """Close the connections of a client that has just come to who is over: nobody is there any more."""
        group = self.cast.actors[move.actor].group
        for actor in self.cast.actors:
            if actor.group != group:
                continue
            for seat, (other, _) in enumerate(actor.peers):
                outgoing, incoming = actor.queues[seat]
                if self.is_over(locals_[other], other):
                    queue = queues[incoming]
                    if queue is not None:
                        queues[incoming] = queue.then(f"{LOST}door")
                    queues[outgoing] = None

    def is_over(self, local: int, at: int) -> bool:
        """Whether an actor has come to its end in a local state, or was lost."""
        return local in self.cast.actors[at].part.over

    def _apply(self, locals_: list[int], queues: list[Queue], move: Transition, faulty: bool) -> bool:
        assert move.next is not None, "it leads somewhere"
        locals_[move.actor] = move.next.local
        for what, at, about in move.works:
            queue = queues[at]
            if queue is None:
                if what == _PUT and type(about) is tuple and not faulty:
                    self.missed.add(about[0])
                continue
            if what == _PUT:
                queues[at] = queue.then(about)
            elif what == _POP:
                queues[at] = queue.rest
            elif what == _TAKE:
                queues[at] = queue.without(about)
            elif what == SECURE:
                self._secure(queues, at, queue, about)
            else:
                if not faulty and queue.messages:
                    self.unread.update((one[0], about) for one in queue.tokens if type(one) is tuple)
                queues[at] = queue.none if what == _EMPTY else None
        return move.faulty

    def _secure(self, queues: list[Queue], outgoing: int, out: Channel, incoming: int) -> None:
        """Speak TLS: with who does already, or with who does not yet, then all that comes plain is thrown away."""
        coming = queues[incoming]
        if out.plain:
            queues[outgoing] = out.none
        elif coming is not None:
            queues[incoming] = coming.secured

    def _peer(self, actor: ProcessInstance, seat: int) -> str:
        return self.cast.actors[actor.peers[seat][0]].role

    def _drop_isolated(self, config: GlobalState) -> GlobalState:
        """Take a client out that nobody shared hears or speaks to any more, once it was looked at in that state.

        What it does from then on is its own affair, so it is looked at once. Only in runs in which something went
        wrong: of the others it is asked how the clients come to their ends together.
        """
        locals_, queues, _ = config
        for at, over in self.ends:
            if locals_[at] >= 0 and locals_[at] in over:  # how it ended is asked where nothing went wrong
                locals_ = (*locals_[:at], DEAD, *locals_[at + 1 :])
        config = (locals_, queues, True)
        for at, (_, _, shared) in enumerate(self.companies):
            for queue in shared:
                if queues[queue] is not None:
                    break
            else:
                config = self._once(config, at)
        return config

    def _once(self, config: GlobalState, company: int) -> GlobalState:
        """Take a client out that is by itself now, if it was looked at in that state: see `_isolated_moves`."""
        locals_, queues, _ = config
        actors, theirs, _ = self.companies[company]
        for at in actors:
            if locals_[at] not in _ABSENT:
                break
        else:
            return config
        if self.state_of(config, company) not in self.alone:
            return config
        self.used.add(BY_ITSELF)
        placed, left = list(locals_), list(queues)
        for at in actors:
            placed[at] = DEAD
        for queue in theirs:
            left[queue] = None
        return tuple(placed), tuple(left), True

    # -- alike -------------------------------------------------------------------------------------------------------

    def sorted(self, config: GlobalState) -> tuple[GlobalState, tuple[int, ...]]:
        """Return the global state that stands for all that differ only in which client is which, and the order.

        Clients come in the order of what each is in. Of those that are in the same, who is spoken of first by whoever
        they share comes first; it may be either if nothing tells them apart. Whatever the order, the global state is
        one that differs only in which client is which: it costs time, not soundness, if two of these are not one.
        """
        if len(self.orders.members) <= 1:
            return config, self.no_moves
        self.used.add(ALIKE)
        locals_, queues, faulty = config
        number = self.queue_numbers
        keys = []
        for (group, of_actors, of_queues), ranks in zip(self.bundled, self.orders.ranks(locals_), strict=True):
            own, theirs = of_actors(locals_), of_queues(queues)
            key = self.keys.get((own, theirs))
            if key is None:
                numbers = [number.setdefault(queue, len(number)) for queue in theirs]
                key = self.keys[own, theirs] = [*(own if type(own) is tuple else (own,)), *numbers]
            keys.append((ranks, key, group))
        keys.sort()
        order = self.orders.order(tuple([group for _, _, group in keys]))
        if order.is_same:
            return config, order.groups
        placed = [locals_[source] for source in order.actors]
        for at, part, seats in order.shared:
            placed[at] = part.rename(locals_[order.actors[at]], seats)
        return (tuple(placed), tuple([queues[at] for at in order.queues]), faulty), order.groups

    # -- traces ------------------------------------------------------------------------------------------------------

    def moves_to(self, number: int) -> tuple[list[tuple[int, Transition, list[int]]], list[int]]:
        """Return the moves that lead to a global state, each with the global state before and who is who there."""
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

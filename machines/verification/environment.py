"""Clients who share nothing but data: then one of them alone, among others who change the data, stands for all.

Take a role that serves all clients and never rests but with its door open, as a store of keys does. What it rests in
has a part of each client's own (its connection, its places in lists) and a common part (the store). If what it makes
of a client's message, and what it answers, depends on the client's own part and the common part only, and nobody else
sees anything of it but through the common part, then so many clients can do together what each can do by itself while
the common part changes as any of them may change it. `EnvironmentAbstraction` searches that, and takes nothing for
granted: it puts all that one client's connection ever received to every state that the role can be in with so many of
them, and compares.

This is "one child at a time". Why nothing is missed: all that is told of a step is told of one client's connection; and
while a door is open, no run is stuck or at an end, since more clients may come. What it finds may need a change that no
other client makes just then; so where it finds anything the search of the whole has the word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from machines.verification.abstract.domain import UNSET, Fields, PeerRef, Unknown, Value, seats_in
from machines.verification.abstract.process import BoundExceeded, Input, Process, Successor
from machines.verification.abstract.role_info import PEERS
from machines.verification.abstract.state import Closed, Outcome, Sent
from machines.verification.error_states import ErrorDetector
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import System
from machines.verification.verdict import Finding

LOCALS_MAX = 2_000  # of the role with all its clients: beyond, the search of the whole is hardly dearer
ROUNDS_MAX = 8  # each finds changes that those before it did not make
Common = tuple[Any, ...]


class _Entangled(Exception):  # noqa: N818 (no fault: the clients have to be looked at together)
    """A client has to do with another one."""


class _Silent(ErrorDetector):
    """A judge that draws no traces: of its findings only counts whether there are any."""

    def tell(self, graph: StateSpace, code: str, text: str, *_: Any, key: tuple[str, ...], **__: Any) -> None:
        """Note that something was found."""
        self.found.setdefault(key, Finding(code, text, self.clients, ()))


@dataclass(frozen=True, slots=True)
class _Whole:
    """The parts of a local state: what is common, and what each seat has of its own."""

    common: Common
    own: tuple[tuple[Any, ...], ...]


class EnvironmentAbstraction:
    """One client of a spec among any number of others. ``cast`` has one client, and was explored to its end."""

    def __init__(self, cast: System, queue: int, most: int, space: type[StateSpace] = StateSpace) -> None:
        self.graph: StateSpace | None = None  # None: something was found, or a bound was met
        self.judge = _Silent(1)
        shared = [at for at, actor in enumerate(cast.actors) if actor.group < 0]
        self.part = cast.actors[shared[0]].part if len(shared) == 1 and cast.groups == 1 else None
        if self.part is None or self.part.seats != 1 or self.part.outline.connects:
            return
        self.role = cast.actors[shared[0]].role
        self.carried = self._carried(self.part)
        self.changes: dict[Common, dict[Common, None]] = {}
        try:
            for _ in range(ROUNDS_MAX):
                graph, judge = space(cast, queue, most), _Silent(1)
                graph.others = {shared[0]: self._by_others}
                graph.build(judge)
                graph.others = {}  # it is asked no more
                judge.finish(graph)
                if graph.beyond or judge.found:
                    return
                if not self._has_more():
                    self.graph, self.judge = graph, judge
                    return
        except (_Entangled, BoundExceeded):
            return

    def stands_for(self, many: System) -> bool:
        """Whether so many clients can do no more than this one among the others."""
        if self.graph is None or self.part is None or len(many.alike_groups) != 1:
            return False
        part = many.parts[self.role]
        if len(many.alike_groups[0]) != many.groups or part.seats != many.groups:
            return False
        try:
            self._look_at(self.part, part)
        except (_Entangled, BoundExceeded):
            return False
        return True

    # -- with one client ---------------------------------------------------------------------------------------------

    @staticmethod
    def _carried(part: Process) -> frozenset[int]:
        """Return which names of the role's calls ever hold clients."""
        found: set[int] = set()
        for root, *_ in part.locals:
            if root[0] != ".over":
                found.update(at for at, value in enumerate(root[2]) if seats_in(value))
        return frozenset(found)

    def _by_others(self, local: int) -> Iterator[Successor]:
        """Yield what others may make of a local state."""
        assert self.part is not None, "there is one"
        whole = self._whole(self.part, local)
        for common in self.changes.get(whole.common, ()):
            yield Successor(self._joined(common, whole.own[0]), Outcome((), (), (), "", "others change what is common"))

    def _has_more(self) -> bool:
        assert self.part is not None, "there is one"
        before = sum(map(len, self.changes.values()))
        for (local, given), ways in list(self.part.steps.items()):
            if given[0] in ("connect", "read", "overtake"):
                first = self._whole(self.part, local).common
                for way in ways:
                    then = self._whole(self.part, way.local).common
                    if then != first:
                        self.changes.setdefault(first, {}).setdefault(then)
        return sum(map(len, self.changes.values())) > before

    # -- with more ---------------------------------------------------------------------------------------------------

    def _look_at(self, one: Process, many: Process) -> None:
        heard: dict[int, list[Input]] = {}
        for local, given in one.steps:
            if given[0] in ("connect", "read", "overtake"):
                heard.setdefault(local, []).append(given)
        started = many.after(-1, ("start",))
        todo = [many.normalised(way.local)[0] for way in started]
        found = set(todo)
        while todo:
            local = todo.pop()
            rest = many.rest(local)
            if rest.over is not None or not rest.door or rest.timers or rest.questions:
                raise _Entangled
            whole = self._whole(many, local)
            for seat, own in enumerate(whole.own):
                of_one = self._joined(whole.common, own, known=True)
                if (seat in rest.closed) is not (0 in one.rest(of_one).closed):
                    raise _Entangled
                for given in heard.get(of_one, ()):
                    ways = many.after(local, (given[0], seat, *given[2:]))
                    told = set()
                    for way in ways:
                        then = self._whole(many, way.local)
                        self._is_foreseen(whole, then, seat)
                        told.add(_told(way, self._joined(then.common, then.own[seat], known=True), seat))
                        like, _ = many.normalised(way.local)  # clients are alike: one of all orders is enough
                        if like not in found:
                            found.add(like)
                            todo.append(like)
                    if told != {_told(way, way.local, 0) for way in one.after(of_one, given)}:
                        raise _Entangled
            if len(found) > LOCALS_MAX:
                raise _Entangled
        if self._carried(many) != self.carried or self._carried(one) != self.carried:
            raise _Entangled

    def _is_foreseen(self, before: _Whole, after: _Whole, seat: int) -> None:
        """Raise _Entangled if another client sees more of a step than the change of what is common."""
        for other, own in enumerate(before.own):
            if other != seat and after.own[other] != own:
                raise _Entangled
        if after.common != before.common and after.common not in self.changes.get(before.common, {}):
            raise _Entangled

    # -- taken apart and put together --------------------------------------------------------------------------------

    def _whole(self, part: Process, local: int) -> _Whole:
        root, statuses, *_ = part.locals[local]
        if root[0] == ".over":
            raise _Entangled
        machine, state, env, hears, asked, told_empty, fired, loop, child, *more, beside, whose = root
        sign_ups, parked, parked_for = more
        if loop is not None or child is not None or sign_ups or parked or beside is not None:
            raise _Entangled
        if any(at not in self.carried and seats_in(value) for at, value in enumerate(env)):
            raise _Entangled
        peers = part.outline.machines[machine].index.get(PEERS)
        if peers is not None and env[peers] is not UNSET and env[peers]:
            raise _Entangled  # what is known of clients is no list of them
        values = tuple([UNSET if at in self.carried else value for at, value in enumerate(env)])
        common = (machine, state, values, asked, told_empty, fired, sign_ups, parked, parked_for, whose)
        lists = [env[at] for at in sorted(self.carried)]
        own = tuple(
            (tuple([_drop_isolated(value, seat) for value in lists]), tuple(_kept(hears, seat)), status)
            for seat, status in enumerate(statuses)
        )
        return _Whole(common, own)

    def _joined(self, common: Common, own: tuple[Any, ...], *, known: bool = False) -> int:
        """Return the local state of the role with one client that is made of both parts.

        Raises:
            _Entangled: ``known``, and there is no such state yet.
        """
        assert self.part is not None, "there is one"
        machine, state, values, asked, told_empty, fired, sign_ups, parked, parked_for, whose = common
        lists, hears, status = own
        env = list(values)
        for at, value in zip(sorted(self.carried), lists, strict=True):
            env[at] = value
        root = (
            machine, state, tuple(env), hears, asked, told_empty, fired, None, None, sign_ups, parked, parked_for,
            None, whose,
        )  # fmt: skip
        frozen = (root, (status,))
        if known and frozen not in self.part.number_of:
            raise _Entangled
        return self.part.number(frozen)


def _told(way: Successor, local: int, seat: int) -> tuple[Any, ...]:
    """Return what a client sees of a step, and what is told of it."""
    outcome = way.outcome
    if any(effect.seat != seat for effect in outcome.out) or any(one != seat for one in outcome.gone):
        raise _Entangled
    out = tuple(
        (type(effect), effect.why if isinstance(effect, Closed) else effect.token if isinstance(effect, Sent) else None)
        for effect in outcome.out
    )
    hits = tuple((hit.kind, hit.text, hit.message, hit.state) for hit in outcome.hits)
    return local, out, hits, outcome.fault, outcome.event, bool(outcome.gone)


def _kept(seats: tuple[int, ...], seat: int) -> Iterator[int]:
    return (0 for one in seats if one == seat)


def _drop_isolated(value: Value, seat: int) -> Value:
    """Return a value without the other clients.

    Raises:
        _Entangled: it is one of them, or holds one by name.
    """
    which = type(value)
    if which is PeerRef:
        if value.seat != seat:
            raise _Entangled
        return PeerRef(0)
    if which is Unknown:
        return Unknown(value.term, tuple(_kept(value.peers, seat)), frozenset(_kept(tuple(value.marks), seat)))
    if which is Fields:
        return Fields(tuple((key, _drop_isolated(item, seat)) for key, item in value.items))
    if which is tuple:
        return tuple([_drop_isolated(item, seat) for item in value if type(item) is not PeerRef or item.seat == seat])
    return value


__all__ = ["EnvironmentAbstraction"]

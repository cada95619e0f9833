"""Properties of a spec, put to every run that is explored, and to a session that runs.

`PropertyDetector` asks them of a graph. `Monitor` asks those that speak of one role only of that role's running
session: it is told what the session took and sent, and says which property was broken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from machines.effects import Effect, Ended, Received, Send
from machines.model import Property, Spec, StatePredicate
from machines.verification.abstract.state import Sent
from machines.verification.error_states import ErrorDetector
from machines.verification.search.moves import Transition
from machines.verification.search.state_space import StateSpace

if TYPE_CHECKING:  # only a session that runs needs the engine
    from machines.engine.call_stack import TransitionRecord


def seen_roles(spec: Spec) -> frozenset[str]:
    """Return the roles whose every step has to be seen: those of situations that speak of more than one thing."""
    found: set[str] = set()
    for one in spec.properties:
        for situation in (one.what, *((one.when,) if one.when is not None else ())):
            alone = len(situation.places) + (situation.sends is not None) + (situation.reads is not None) < 2
            if not alone or one.kind != "never":
                found.update(role for role, _, _ in situation.places)
    return frozenset(found)


class PropertyDetector(ErrorDetector):
    """A judge that asks the properties too."""

    def __init__(self, clients: int, properties: tuple[Property, ...]) -> None:
        super().__init__(clients)
        self.properties = properties
        self.every_move = bool(properties)
        self.came: dict[str, set[int]] = {one.name: set() for one in properties}  # global states where `what` holds
        self.began: dict[str, set[int]] = {one.name: set() for one in properties}  # and where `when` does

    def moved(self, graph: StateSpace, before: int, after: int, move: Transition) -> None:
        """Look at a move, and at where it leads."""
        if move.loud:
            super().moved(graph, before, after, move)
        for one in self.properties:
            self._ask(graph, one, before, after, move)

    def seen(self, graph: StateSpace, at: int, moves: list[Transition]) -> None:
        """Look at a global state."""
        super().seen(graph, at, moves)
        if at == 0:
            for one in self.properties:
                self._ask(graph, one, 0, 0, None)

    def _ask(self, graph: StateSpace, one: Property, before: int, after: int, move: Transition | None) -> None:
        holds = _holds(graph, one.what, before, after, move)
        began = one.when is None or _holds(graph, one.when, before, after, move)
        if one.kind == "eventually":
            if holds:
                self.came[one.name].add(after)
            if began:
                self.began[one.name].add(after)
            return
        broken = holds if one.kind == "never" else began and not holds
        if one.kind == "always" and not _acts(one):
            # What only holds on the way is not enough where the other comes to rest.
            rests = one.when is None or _holds(graph, one.when, after, after, None)
            broken = broken or (rests and not _holds(graph, one.what, after, after, None))
        if broken:
            text = f"the property {one.name!r} does not hold: {_told(one)}"
            at = before if move is not None else after
            self.tell(graph, "A508", text, at, move, key=("A508", one.name), place=one.place)

    def finish(self, graph: StateSpace) -> None:
        """Ask what only a whole graph can answer."""
        super().finish(graph)
        if not graph.beyond:
            for one in self.properties:
                if one.kind == "eventually":
                    self._comes(graph, one)

    def _comes(self, graph: StateSpace, one: Property) -> None:
        """From each global state after `when`, as long as nothing goes wrong, there is a way to `what`."""
        fair = [not config[2] for config in graph.configs]
        before: list[list[int]] = [[] for _ in graph.configs]
        for at, following in enumerate(graph.after):
            for number in following:
                if fair[at] and fair[number]:
                    before[number].append(at)
        leading = _reached(self.came[one.name] | graph.of_fewer, lambda at: before[at])
        waiting = _reached(
            {at for at in self.began[one.name] if fair[at]} - self.came[one.name],
            lambda at: [to for to in graph.after[at] if fair[to] and to not in self.came[one.name]],
        )
        lost = min(waiting - leading, default=None)
        if lost is not None:
            text = f"the property {one.name!r} does not hold: {_told(one)}"
            self.tell(graph, "A508", text, lost, None, key=("A508", one.name), place=one.place)


def _reached(first: Iterable[int], further) -> set[int]:  # type: ignore[no-untyped-def]
    found = set(first)
    todo = deque(found)
    while todo:
        for to in further(todo.popleft()):
            if to not in found:
                found.add(to)
                todo.append(to)
    return found


def _acts(one: Property) -> bool:
    situations = (one.what, *((one.when,) if one.when is not None else ()))
    return any(situation.sends is not None or situation.reads is not None for situation in situations)


def _holds(graph: StateSpace, situation: StatePredicate, before: int, after: int, move: Transition | None) -> bool:
    """Whether a situation holds after a move, or on the way; of what is sent or read, also where it was before."""
    if situation.reads is not None and situation.reads not in _read(move):
        return False
    if situation.sends is not None and situation.sends not in _sent(move):
        return False
    acts = situation.reads is not None or situation.sends is not None or (move is not None and before != after)
    return all(
        _is_there(graph, after, *place)
        or _passes(graph, move, *place)
        or (acts and _leaves(graph, before, move, *place))
        for place in situation.places
    )


def _is_there(graph: StateSpace, at: int, role: str, machine: str | None, state: str | None) -> bool:
    locals_ = graph.configs[at][0]
    return any(
        actor.role == role and locals_[index] >= 0 and _is_at(graph, index, locals_[index], machine, state)
        for index, actor in enumerate(graph.cast.actors)
    )


def _leaves(
    graph: StateSpace, at: int, move: Transition | None, role: str, machine: str | None, state: str | None
) -> bool:
    """Whether who moves was at a place before."""
    locals_ = graph.configs[at][0]
    return any(
        graph.cast.actors[one.actor].role == role
        and locals_[one.actor] >= 0
        and _is_at(graph, one.actor, locals_[one.actor], machine, state)
        for one in (move.all() if move is not None else ())
    )


def _is_at(graph: StateSpace, index: int, local: int, machine: str | None, state: str | None) -> bool:
    rest = graph.cast.actors[index].part.rest(local)
    if machine is None:
        return rest.over is not None
    if state is not None:
        return f"{machine}.{state}" in rest.states
    return any(one.startswith(f"{machine}.") for one in rest.states)


def _passes(graph: StateSpace, move: Transition | None, role: str, machine: str | None, state: str | None) -> bool:
    """Whether a session of a role comes through a place in a move, if only to leave it at once."""
    if move is None or machine is None:
        return False
    return any(
        f"{machine}.{state}" == one if state is not None else one.startswith(f"{machine}.")
        for moved in move.all()
        if moved.next is not None and graph.cast.actors[moved.actor].role == role
        for one in moved.next.outcome.entered
    )


def _read(move: Transition | None) -> Iterator[str]:
    for one in move.all() if move is not None else ():
        if one.given[0] in ("read", "overtake") and isinstance(one.given[2], tuple):
            yield one.given[2][0]


def _sent(move: Transition | None) -> Iterator[str]:
    for one in move.all() if move is not None else ():
        if one.next is not None:
            yield from (effect.token[0] for effect in one.next.outcome.out if isinstance(effect, Sent))


def _told(one: Property) -> str:
    what = _said(one.what)
    if one.kind == "never":
        return f"never {what}"
    word = "while" if one.kind == "always" else "after"
    return f"{one.kind} {what}" + (f" {word} {_said(one.when)}" if one.when is not None else "")


def _said(situation: StatePredicate) -> str:
    found = [
        f"{role} in {machine}{f'.{state}' if state is not None else ''}" if machine is not None else f"{role} over"
        for role, machine, state in situation.places
    ]
    found.extend(f"{act} {name}" for act, name in (("sends", situation.sends), ("reads", situation.reads)) if name)
    return " and ".join(found)


# -- asked of a running session --------------------------------------------------------------------------------------


class Monitor:
    """The properties of a spec that speak of one role, asked of a running session of it.

    Feed it after each input of the session: what it `took`, and its effects (with ``watch``, so that they tell what
    was read). It keeps no more than the state of each call.
    """

    def __init__(self, spec: Spec, role: str) -> None:
        self.role = role
        self.properties = tuple(one for one in spec.properties if self._is_own(one))
        self.first = {name: next(iter(machine.states)) for name, machine in spec.roles[role].machines.items()}
        self.places: dict[str, tuple[str, str]] = {"main": ("main", self.first["main"])}
        self.over = False
        self.waiting: set[str] = set()
        self.told: set[str] = set()
        self.begun = False
        self.passed: set[tuple[str, str]] = set()

    def _is_own(self, one: Property) -> bool:
        return all(
            role == self.role
            for situation in (one.what, *((one.when,) if one.when is not None else ()))
            for role, _, _ in situation.places
        )

    def fed(self, took: Iterable[TransitionRecord], effects: Iterable[Effect]) -> list[str]:
        """Take in what one input of the session did; return what was broken by it, each property once."""
        listed = list(effects)
        self.passed = set()
        for path, _, event, led in took:
            machine = path.rpartition(".")[2].partition("[")[0]
            if event == ".end" or led == ".end":
                self.places = {at: one for at, one in self.places.items() if at != path and not _below(at, path)}
                continue
            self.places = {at: one for at, one in self.places.items() if not _below(at, path)}
            self.places[path] = (machine, led)
            self.passed.add((machine, led))
        sent = {effect.message for effect in listed if isinstance(effect, Send)}
        read = {effect.message for effect in listed if isinstance(effect, Received)}
        ended = next((effect for effect in listed if isinstance(effect, Ended)), None)
        if ended is not None:
            self.over = True
            self.places = {}
        broken = [one for one in self.properties if self._breaks(one, sent, read)]
        if ended is not None and ended.failed is None:
            broken.extend(one for one in self.properties if one.name in self.waiting)
        self.begun = True
        fresh = [one for one in broken if one.name not in self.told]
        self.told.update(one.name for one in fresh)
        return [f"the property {one.name!r} does not hold: {_told(one)}" for one in fresh]

    def _breaks(self, one: Property, sent: set[str], read: set[str]) -> bool:
        holds = self._holds(one.what, sent, read)
        when = self._holds(one.when, sent, read) if one.when is not None else one.kind == "always" or not self.begun
        if one.kind == "never":
            return holds
        if one.kind == "always":
            return when and not holds
        if when:
            self.waiting.add(one.name)
        if holds:
            self.waiting.discard(one.name)
        return False

    def _holds(self, situation: StatePredicate, sent: set[str], read: set[str]) -> bool:
        for _, machine, state in situation.places:
            if machine is None:
                if not self.over:
                    return False
            elif not any(at == machine and state in (None, name) for at, name in (*self.places.values(), *self.passed)):
                return False
        if situation.sends is not None and situation.sends not in sent:
            return False
        return situation.reads is None or situation.reads in read


def _below(path: str, above: str) -> bool:
    return path.startswith(f"{above}.")

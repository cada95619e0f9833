"""Check of what peers do wrong: A326, a peer's fault that would end the whole session."""

from __future__ import annotations

from dataclasses import dataclass

from machines.analysis.call_graph import CallGraph, CallSite, is_per_connection, kind, surely_taken
from machines.analysis.scopes import bindings
from machines.checks.reachability import called, is_never, setting_of
from machines.expressions.unparse import show
from machines.model import Binary, Constant, Expression, Handlers, Item, Machine, Name, Sequence, State
from machines.parser.context import joined
from machines.problems import Location, Problems
from machines.values import Range


def check_faults(flow: CallGraph, problems: Problems) -> None:
    """A326: what an accepted peer does wrong, or fails to do, would end the session of all."""
    spec, role = flow.spec, flow.role
    if not any(role.name in targets for targets in spec.connects.values()) or is_per_connection(role):
        return
    unanswered = {
        event: flow.open_chains(
            stops=lambda machine, event=event: (  # type: ignore[misc]
                machine.always is not None and surely_taken(getattr(machine.always.answers, event))
            ),
            passes=lambda site, event=event: (  # type: ignore[misc]
                not (site.accepts or site.starts) and not surely_taken(getattr(site.state.answers, event))
            ),
        )
        for event in ("timeout", "invalid", "closed")
    }
    passing = _Passing(flow)
    for machine in flow.machines.values():
        for state in machine.states.values():
            open_ = {
                event: way
                for event in _faults(flow, machine, state)
                if not surely_taken(getattr(state.answers, event))
                and (way := unanswered[event].to(machine.name) or passing.way(machine, state, event))
            }
            if open_:
                events = list(open_)
                text = f"the state {state.name!r} has no answer to {joined(map(repr, events), 'or')}"
                text += f"{called(open_[events[0]])}: it would end the session of all"
                word = "fault" if len(events) == 3 else events[0]
                spot = Location(role.name, machine.name, state.name, events=tuple(events))
                problems.add(state.place, "A326", text, f"answer it here or in an 'always': {word}: STATE", spot)


def _faults(flow: CallGraph, machine: Machine, state: State) -> tuple[str, ...]:
    """Return the events that an accepted peer can make a state raise."""
    match kind(state):
        case "wait" if _awaits_those_accepted(flow, state):
            limit = state.within
            if limit is None and machine.always is not None:
                limit = machine.always.within
            return ("invalid", "closed") if is_never(limit) else ("timeout", "invalid", "closed")
        case "call" if flow.waits_in(state) and state.within is not None and not is_never(state.within):
            return ("timeout",)
        case "accept":
            # Whoever leaves only gives its seat up; what it may not say is a fault where the state awaits it.
            invalid = ("invalid",) if _awaits_those_accepted(flow, state) else ()
            return (*(("timeout",) if _may_time_out(flow, state) else ()), *invalid)
        case _:
            return ()


def _awaits_those_accepted(flow: CallGraph, state: State) -> bool:
    """Whether a state awaits peers that connected to its role, rather than one that its role connects to."""
    awaits = state.awaits
    partners = flow.spec.connects.get(flow.role.name, ())
    return awaits is not None and not (isinstance(awaits, Name) and awaits.name in partners)


def _may_time_out(flow: CallGraph, state: State) -> bool:
    accept = state.accept
    if accept is None or state.within is None or is_never(state.within):
        return False
    if accept.seats is None:
        return True  # nobody counts its seats, so its time can only run out
    seats: object = accept.seats
    if isinstance(seats, Name):
        seats = setting_of(flow, seats)
    elif isinstance(seats, Binary):
        seats = seats.left
    if isinstance(seats, Constant):
        seats = seats.value
    return not (seats == 0 or (isinstance(seats, Range) and seats.low == 0))


# -- layers that name whom they answer for ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _At:
    """A layer that a fault comes to: its machine, and whose fault it is, in the names of that machine."""

    machine: str
    whose: Expression | None


class _Passing:
    """Ways on which a fault passes the layers that answer it, as they surely name other peers.

    Only what can be told from the spec counts: peers with different names of which each is one peer, or a group of
    which the layer names one. Of what is not known, a layer with an ``await`` is taken to name them all.
    """

    def __init__(self, flow: CallGraph) -> None:
        self.flow = flow
        self.names_some = any(
            awaits is not None
            for machine in flow.machines.values()
            for awaits in (
                machine.always.awaits if machine.always is not None else None,
                *(state.awaits for state in machine.states.values() if state.run is not None),
            )
        )
        self.single: dict[tuple[str, str], bool | None] = {}

    def way(self, machine: Machine, state: State, event: str) -> tuple[str, ...]:
        """Return the shortest chain of calls on which nothing answers, from `main` on; nothing if there is none."""
        if not self.names_some or state.awaits is None:
            return ()
        if kind(state) != "wait" and not (kind(state) == "accept" and event == "invalid"):
            return ()
        if event == "timeout" and self.is_single(machine, state.awaits) is not True:
            return ()  # it is nobody's, so every layer hears it
        todo: list[tuple[_At, tuple[str, ...]]] = [(_At(machine.name, state.awaits), (machine.name,))]
        seen: set[tuple[str, str]] = set()
        for at, chain in todo:
            key = (at.machine, show(at.whose) if at.whose is not None else "")
            here = self.flow.machines[at.machine]
            if key in seen:
                continue
            seen.add(key)
            always = here.always
            if always is not None and self._answers(here, at.whose, always.awaits, always.answers, event):
                continue
            if at.machine == "main":
                return chain
            for site in self.flow.callers[at.machine]:
                if site.accepts or site.starts:
                    continue
                whose = _outside(here, site, at.whose)
                if not self._answers(site.caller, whose, site.state.awaits, site.state.answers, event):
                    todo.append((_At(site.caller.name, whose), (site.caller.name, *chain)))
        return ()

    def _answers(
        self, machine: Machine, whose: Expression | None, awaits: Expression | None, answers: Handlers, event: str
    ) -> bool:
        return surely_taken(getattr(answers, event)) and not (
            awaits is not None and whose is not None and self._others(machine, whose, awaits)
        )

    def _others(self, machine: Machine, whose: Expression, named: Expression) -> bool:
        """Whether a layer that awaits ``named`` surely leaves out a peer that ``whose`` is, or is one of."""
        if show(whose) == show(named):
            return False
        some = named.items if isinstance(named, Sequence) else (named,)
        if not all(self.is_single(machine, one) is True for one in some):
            return False
        if isinstance(whose, Sequence):
            return any(self._others(machine, one, named) for one in whose.items)
        alone = self.is_single(machine, whose)
        if alone is None:
            return False
        return not alone or show(whose) not in {show(one) for one in some}

    def is_single(self, machine: Machine, expression: Expression) -> bool | None:
        """Whether an expression is one peer (True), or a group of them (False); None if nobody can tell."""
        match expression:
            case Name(name):
                return self._name(machine, name)
            case Item(of, Constant(int())):
                return True if self.is_single(machine, of) is False else None
            case Sequence():
                return False
            case _:
                return None

    def _name(self, machine: Machine, name: str) -> bool | None:
        """Answer for a name: every way in which the machine binds it must say the same."""
        if name in self.flow.spec.connects.get(machine.role, ()):
            return True
        key = (machine.name, name)
        if key not in self.single:
            self.single[key] = None  # while it is looked for
            self.single[key] = self._bound(machine, name)
        return self.single[key]

    def _bound(self, machine: Machine, name: str) -> bool | None:
        found: set[bool | None] = set()
        if name in machine.parameters:
            place = machine.parameters.index(name)
            for site in self.flow.callers[machine.name]:
                call = site.state.accept.machine if site.state.accept is not None else site.state.run
                if site.starts is not None:
                    call = site.starts.machine
                arguments = (call.arguments or ()) if call is not None else ()
                given = arguments[place] if place < len(arguments) else None
                if site.accepts and isinstance(given, Name) and given.name == "peer":
                    found.add(True)
                else:
                    found.add(self.is_single(site.caller, given) if given is not None else None)
        for state in machine.states.values():
            if state.each is not None and state.each.name == name:
                found.add(True if self.is_single(machine, state.each.items) is False else None)
            if state.accept is not None and state.accept.name == name:
                found.add(False)
        bound_else = sum(1 for other, _ in bindings(machine, self.flow.spec) if other == name)
        known = sum(
            (state.each is not None and state.each.name == name)
            + (state.accept is not None and state.accept.name == name)
            for state in machine.states.values()
        )
        if bound_else != known:
            return None
        return found.pop() if len(found) == 1 else None


def _outside(machine: Machine, site: CallSite, whose: Expression | None) -> Expression | None:
    """Return what the caller calls a peer that the callee calls ``whose``; None if it has no name there."""
    if not isinstance(whose, Name) or whose.name not in machine.parameters or site.state.run is None:
        return None
    arguments = site.state.run.arguments or ()
    place = machine.parameters.index(whose.name)
    return arguments[place] if place < len(arguments) else None

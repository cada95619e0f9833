"""Checks of how states follow one another and machines call one another.

    A320  a state that is never entered            A323  a state with no way to a return
    A321  a machine that is never called           A324  states that pass on to each other for ever
    A322  machines that call each other in a ring  A325  a wait without a time limit
    A328  calls that are too deep

Guards are taken as possible, so a state that only data keep from being entered is no problem here.
Each function's docstring is the manual page of its code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from machines.analysis.call_graph import (
    CALL_DEPTH_MAX,
    CallGraph,
    CallSite,
    FlowPath,
    bound_on,
    components,
    kind,
    lets,
    ways,
)
from machines.analysis.traversal import all_branches
from machines.expressions.unparse import calls, names
from machines.model import Choice, Constant, Expression, Goto, Handlers, Machine, Name, State, Stay
from machines.parser.context import joined
from machines.problems import Location, Problems


def check_reachable(machine: Machine, problems: Problems) -> None:
    """A320: a state is never entered."""
    found = entered(machine)
    for state in machine.states.values():
        if state.name not in found:
            text = f"the state {state.name!r} is never entered: no branch of {machine.name} leads to it"
            problems.add(state.place, "A320", text, "lead to it with 'then', or leave it out")


def entered(machine: Machine) -> frozenset[str]:
    """Return the states that branches lead to, one after the other from the first on, or from `always`."""
    found: set[str] = set()
    todo = list(machine.states)[:1]
    if machine.always is not None:
        todo.extend(_gotos(machine.always.answers))
    while todo:
        name = todo.pop()
        if name in found or name not in machine.states:
            continue
        found.add(name)
        state = machine.states[name]
        todo.extend(_gotos(state.answers))
        if state.then is not None:
            todo.extend(_targets(state.then))
    return frozenset(found)


def _gotos(answers: Handlers) -> set[str]:
    return {target for _, choice in answers.choices() for target in _targets(choice)}


def _targets(choice: Choice) -> Iterator[str]:
    for branch in all_branches(choice):
        if isinstance(branch.next, Goto):
            yield branch.next.state


def _check_depth(flow: CallGraph, problems: Problems) -> None:
    """A328: machines call one another more than 64 deep."""
    chain = flow.longest_chain()
    if len(chain) > CALL_DEPTH_MAX:
        place = flow.machines[chain[CALL_DEPTH_MAX]].place
        text = f"calls {len(chain)} deep, at most {CALL_DEPTH_MAX} are allowed: {' -> '.join(chain[:3])} -> …"
        problems.add(place, "A328", text, "what repeats is a state that leads back to an earlier one")


def check_calls(flow: CallGraph, problems: Problems) -> None:
    """A321: a machine is never called.

    A322: machines call one another in a ring.
    """
    if flow.circle:
        ring = flow.circle
        site = next(site for site in flow.sites[ring[0]] if site.callee == ring[1])
        call = site.state.run if site.state.run is not None else site.state.accept
        place = call.place if call is not None else site.state.place
        text = f"{ring[0]} calls itself: {' -> '.join(ring)}"
        problems.add(place, "A322", text, "repeat by a state that leads back to an earlier one")
    _check_depth(flow, problems)
    for machine in flow.machines.values():
        if machine.name not in flow.reached and "main" in flow.machines:
            callers = sorted({site.caller.name for site in flow.callers[machine.name]} - {machine.name})
            text = f"the machine {machine.name!r} is never called"
            if callers:
                text += f": only {joined(callers)} would, which {'is' if len(callers) == 1 else 'are'} never called"
            problems.add(machine.place, "A321", text, "call it with 'run' or 'accept', or leave it out")


# -- ends ------------------------------------------------------------------------------------------------------------


def check_ends(flow: CallGraph, problems: Problems) -> None:
    """A323: from a state no way leads to a 'return'."""
    outside = _left_from_outside(flow)
    for_ever: dict[str, bool] = {}
    for name in flow.bottom_up:
        states = flow.machines[name].states.values()
        for_ever[name] = any(_runs_for_ever(state, flow, for_ever) for state in states)
    for machine in flow.machines.values():
        if not outside[machine.name]:
            _check_machine_ends(flow, machine, for_ever, problems)


def _check_machine_ends(flow: CallGraph, machine: Machine, for_ever: Mapping[str, bool], problems: Problems) -> None:
    arcs = flow.arcs(machine)
    before: dict[str, list[str]] = {state: [] for state in arcs}
    todo: list[str] = []
    for state, out in arcs.items():
        for arc in out:
            if arc.target in before:
                before[arc.target].append(state)
            elif not isinstance(arc.way.end, Stay):
                todo.append(state)
    ending: set[str] = set()
    while todo:
        state = todo.pop()
        if state not in ending:
            ending.add(state)
            todo.extend(before[state])
    reached = entered(machine)
    dead = {
        state: [arc.target for arc in out if arc.target is not None]
        for state, out in arcs.items()
        if state not in ending and state in reached
    }
    for part in components(dead):
        if any(target not in part for state in part for target in dead[state]):
            continue  # it leads on to others that are dead
        if not any(flow.waits_in(machine.states[state]) for state in part):
            continue  # it spins: A324
        if any(_runs_for_ever(machine.states[state], flow, for_ever) for state in part):
            continue
        among = f" or from {joined(repr(state) for state in part[1:])}" if len(part) > 1 else ""
        text = f"no way leads from the state {part[0]!r}{among} to a 'return'"
        hint = "add an event that leads there; what runs for ever says 'within: never'"
        problems.add(machine.states[part[0]].place, "A323", text, hint)


def _left_from_outside(flow: CallGraph) -> dict[str, bool]:
    """Say of each machine whether it may be abandoned: by a layer around one of its calls, or as a sign-up."""
    found: dict[str, bool] = {}
    for name in reversed(flow.bottom_up):
        sites = flow.callers[name]
        # A machine that is never called is a problem of its own.
        found[name] = name != "main" and (
            not sites
            or any(site.accepts or site.starts or found[site.caller.name] or _may_leave(site) for site in sites)
        )
    return found


def _may_leave(site: CallSite) -> bool:
    always = site.caller.always
    around = [site.state.answers, *([always.answers] if always is not None else [])]
    return any(
        not isinstance(way.end, Stay) for answers in around for _, choice in answers.choices() for way in ways(choice)
    )


def _runs_for_ever(state: State, flow: CallGraph, for_ever: Mapping[str, bool]) -> bool:
    """Whether a state says that it has no end, itself or by what it calls."""
    if state.accept is not None:
        return state.accept.seats is None
    if is_never(state.within) or (isinstance(state.within, Name) and setting_of(flow, state.within) == inf):
        return True
    return state.run is not None and for_ever.get(state.run.path, False)


def setting_of(flow: CallGraph, name: Name) -> object:
    """Return the value of the setting of that name, None if there is none."""
    setting = flow.spec.settings.get(name.name)
    return setting.value if setting is not None else None


def is_never(limit: Expression | None) -> bool:
    """Whether a time limit is written as ``never``."""
    return isinstance(limit, Constant) and limit.value == inf


# -- silence ---------------------------------------------------------------------------------------------------------


def check_silence(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """A324: states pass on to one another for ever, without a message or a moment in between."""
    reached = entered(machine)
    quiet = {
        state.name: tuple(_silent_ways(flow, machine, state))
        for state in machine.states.values()
        if state.name in reached
    }
    graph = {state: [way.end.state for way in out if isinstance(way.end, Goto)] for state, out in quiet.items() if out}
    for part in components(graph):
        if len(part) == 1 and part[0] not in graph[part[0]]:
            continue
        members = [machine.states[state] for state in part]
        leaving = [
            way for state in part for way in quiet[state] if not (isinstance(way.end, Goto) and way.end.state in part)
        ]
        changed = {name for state in members for name in _binds(state)}
        changed.update(name for state in part for way in quiet[state] for name, _ in bound_on(way))
        waiting = [state for state in members if kind(state) == "wait"]
        ring = " -> ".join([*part, part[0]])
        if waiting:
            awaited = {name.name for state in waiting if state.awaits is not None for name in names(state.awaits)}
            if not leaving and not awaited & changed:
                text = f"once its peer is lost, {ring} spins for ever: a lost peer answers 'closed' at once"
                problems.add(waiting[0].place, "A324", text, "let 'closed' return, or go on without that peer")
        elif not leaving:
            text = f"{ring} spins for ever: nothing waits there, and no branch leads out"
            problems.add(members[0].place, "A324", text, "wait for a message or a while in between, or return")
        elif all(_is_settled(way, changed) for way in leaving):
            text = f"{ring} may spin for ever: nothing in it changes what its conditions read"
            problems.add(
                members[0].place, "A324", text, "wait for a message or a while in between, or bind a new value"
            )


def _silent_ways(flow: CallGraph, machine: Machine, state: State) -> Iterator[FlowPath]:
    """Yield the ways that a state may be left by with nothing received and no time passed."""
    if kind(state) == "wait":
        if state.awaits is not None or (flow.one_peer and state.ask is None):
            closed = state.answers.closed
            if closed is None and machine.always is not None:
                closed = machine.always.answers.closed
            if closed is not None:
                yield from ways(closed)
    elif state.then is not None and not flow.waits_in(state):
        yield from ways(state.then)


def _binds(state: State) -> Iterator[str]:
    yield from lets(state.steps)
    yield from (binding.target for binding in state.bindings)
    if state.each is not None:
        yield state.each.name


def _is_settled(way: FlowPath, changed: set[str]) -> bool:
    """Whether what decides about a way stays as it is while the names ``changed`` do not."""
    if way.limited or not way.guards:
        return False
    for guard in way.guards:
        if any(name.name in changed for name in names(guard)) or any(call.path == "gone" for call in calls(guard)):
            return False
    return True


# -- time and faults -------------------------------------------------------------------------------------------------


def check_limits(flow: CallGraph, problems: Problems) -> None:
    """A325: a wait has no time limit."""
    unlimited = flow.open_chains(
        stops=lambda machine: machine.always is not None and machine.always.within is not None,
        passes=lambda site: site.state.within is None,
    )
    for machine in flow.machines.values():
        for state in machine.states.values():
            if state.within is not None:
                continue
            if state.accept is not None:
                if state.accept.seats is not None:
                    text = f"the sign-up {state.name!r} has no time limit"
                    spot = Location(flow.role.name, machine.name, state.name)
                    problems.add(state.place, "A325", text, "add 'within', if only 'within: never'", spot)
            elif kind(state) == "wait" and (way := unlimited.to(machine.name)):
                text = f"the state {state.name!r} waits without a time limit{called(way)}"
                hint = "add 'within', here or in an 'always', if only 'within: never'"
                problems.add(state.place, "A325", text, hint, Location(flow.role.name, machine.name, state.name))


def called(way: tuple[str, ...]) -> str:
    """Return how a machine is come to, for people; nothing for `main` itself."""
    return f", called on the way {' -> '.join(way)}" if len(way) > 1 else ""

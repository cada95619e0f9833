"""Whom a sign-up deals with: a connection that has no seat yet.

While a sign-up awaits such a newcomer, nothing hears it that names only those who are seated: neither the state that
accepts it nor an `always` that awaits what an `accept` binds.
"""

from __future__ import annotations

from collections import Counter

from machines.analysis.call_graph import CallGraph, CallSite, kind
from machines.analysis.scopes import bindings
from machines.model import Call, Expression, Machine, Name, Spec, State


class Newcomers:
    """Which names of which machines are newcomers, and whom layers name; calls may not go in a circle."""

    def __init__(self, flow: CallGraph) -> None:
        self._flow = flow
        self._names: dict[str, frozenset[str]] = {}
        for name in reversed(flow.bottom_up):
            machine = flow.machines[name]
            self._names[name] = frozenset(
                parameter
                for index, parameter in enumerate(machine.parameters)
                if flow.callers[name] and all(self._is_given_one(site, index) for site in flow.callers[name])
            ) - {bound for bound, _ in bindings(machine, flow.spec)}
        self._alone: dict[str, bool] = {}
        for name in flow.bottom_up:
            states = flow.machines[name].states.values()
            self._alone[name] = all(self._hears_them_alone(name, state) for state in states)

    def awaits_one(self, machine: Machine, state: State | None) -> bool:
        """Whether a state, or with None whatever waits in a machine, awaits a newcomer and nobody else."""
        return self._alone[machine.name] if state is None else self._is_one(machine, state.awaits)

    def _hears_them_alone(self, name: str, state: State) -> bool:
        match kind(state):
            case "wait":
                return self._is_one(self._flow.machines[name], state.awaits)
            case "call" if state.run is not None:
                return self._alone.get(state.run.path, False)
            case "accept":
                return False
            case _:
                return True

    def _is_one(self, machine: Machine, expression: Expression | None) -> bool:
        return isinstance(expression, Name) and expression.name in self._names[machine.name]

    def _is_given_one(self, site: CallSite, index: int) -> bool:
        call: Call | None = site.state.accept.machine if site.state.accept is not None else site.state.run
        given = call.arguments if call is not None and site.starts is None else None
        if given is None or index >= len(given):
            return False
        if site.accepts:
            return isinstance(given[index], Name) and given[index].name == "peer"  # type: ignore[union-attr]
        return self._is_one(site.caller, given[index])


def names_the_seated(flow: CallGraph, machine: Machine, awaits: Expression | None) -> bool:
    """Whether an expression is a name that only the `accept` of a machine's states bind."""
    if not isinstance(awaits, Name) or awaits.name in machine.parameters:
        return False
    return awaits.name in seated_alone(machine, flow.spec)


def seated_alone(machine: Machine, spec: Spec) -> frozenset[str]:
    """Return the names that only the `accept` of a machine's states bind: each a list of those seated."""
    seats = Counter(state.accept.name for state in machine.states.values() if state.accept is not None)
    bound = Counter(name for name, _ in bindings(machine, spec))
    return frozenset(name for name, count in seats.items() if bound[name] == count)

"""Machines side by side that send to or drop peers of others: what the exploration, which takes them in turn, misses.

What runs side by side is taken one item after another. That is right where each speaks to the peers of its own item
only. A peer of others comes in by an argument that speaks of who was admitted; it is followed through calls and names,
but not through what a rule makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from machines.analysis.traversal import all_steps
from machines.expressions.unparse import names
from machines.model import Call, Drop, Expression, Let, Machine, Role, Secure, Send

_DOES = {Send: "sends to", Secure: "secures", Drop: "drops"}


def to_others(role: Role) -> Iterator[str]:
    """Yield each step by which a machine that runs side by side with others sends to or drops peers of theirs."""
    todo: list[tuple[str, frozenset[str]]] = []
    for machine in role.machines.values():
        doors = [state.accept.name for state in machine.states.values() if state.accept is not None]
        peers_of_all = _foreign(machine, frozenset((*doors, *machine.parameters)))
        for state in machine.states.values():
            if state.each is not None and state.each.parallel is not None and state.run is not None:
                of_all = partial(_overlap, peers_of_all - {state.each.name})
                todo.append((state.run.path, _given(role, state.run, of_all)))
    seen = set(todo)
    while todo:
        name, given = todo.pop()
        machine = role.machines[name]
        foreign = _foreign(machine, given)
        for step in all_steps(machine):
            peers = (
                step.receivers if isinstance(step, Send) else step.peers if isinstance(step, Secure | Drop) else None
            )
            if peers is not None and not foreign.isdisjoint(_mentioned(peers)):
                does = _DOES[type(step)]
                yield f"{role.name}: {name}, which runs side by side, {does} peers of others in line {step.place.line}"
        for state in machine.states.values():
            call = state.run or (state.accept.machine if state.accept is not None else None)
            if call is not None and call.path in role.machines:
                further = (call.path, _given(role, call, partial(_overlap, foreign)))
                if further not in seen:
                    seen.add(further)
                    todo.append(further)


def _given(role: Role, call: Call, is_foreign: Callable[[frozenset[str]], bool]) -> frozenset[str]:
    """Return the parameters of a called machine whose arguments may hold peers of others."""
    pairs = zip(role.machines[call.path].parameters, call.arguments or (), strict=False)
    return frozenset(parameter for parameter, argument in pairs if is_foreign(_mentioned(argument)))


def _overlap(foreign: frozenset[str], mentioned: frozenset[str]) -> bool:
    return not foreign.isdisjoint(mentioned)


def _foreign(machine: Machine, given: frozenset[str]) -> frozenset[str]:
    """Return the names of a machine that may hold peers of others: those given, and what is bound from them."""
    bound: list[tuple[str, frozenset[str]]] = []
    for step in all_steps(machine):
        if isinstance(step, Let):
            bound += [
                (one.target, _mentioned(one.value))
                for one in step.bindings
                if one.field is None and not (isinstance(one.value, Call) and "." in one.value.path)
            ]
    for state in machine.states.values():
        if state.each is not None:
            bound.append((state.each.name, _mentioned(state.each.items)))
    found = set(given)
    while more := {name for name, mentioned in bound if not found.isdisjoint(mentioned)} - found:
        found |= more
    return frozenset(found)


def _mentioned(expression: Expression) -> frozenset[str]:
    return frozenset(one.name for one in names(expression))

"""Sums of what peers send, told on in fields that take numbers of a range: whether they keep to it is not explored.

A sum grows with each turn of a loop, and how often that is taken depends on the run. So where a name takes up numbers
of peers, is compared with nothing, and is written into a field of fewer numbers than a sum may be, nothing is known of
that; whoever asks how large a sum is, in whatever place, is taken to keep it within bounds. Names are followed by their
spelling, through values, calls and results.
"""

from __future__ import annotations

from collections.abc import Iterator

from machines.analysis.traversal import all_branches, all_choices, all_steps, machine_expressions, message_arguments
from machines.analysis.value_sets import INTEGERS, members
from machines.expressions.unparse import names, show, walk
from machines.model import Binary, Call, Expression, Interval, Let, Machine, Return, Role, SendMessages, Spec

_ADDS = ("+", "-", "*")
_ORDERS = ("<", "<=", ">", ">=", "in")


def sums_told(spec: Spec, role: Role) -> Iterator[str]:
    """Yield each field of a role's messages that may be written with a sum that is not known to fit."""
    brought = {
        field.name
        for message in spec.heard_by(role.name)
        for field in message.fields
        if any(isinstance(part, Interval) and part.low < part.high for part in members(field.type, spec.types))
    }
    ranges = {
        (message.name, index): field
        for message in spec.messages.values()
        if role.name in message.senders
        for index, field in enumerate(message.fields)
        if any(isinstance(part, Interval) and part != INTEGERS for part in members(field.type, spec.types))
    }
    sums = _sums(role, brought) if brought and ranges else set()
    if not sums.isdisjoint(_compared(spec, role)):
        return
    for machine in role.machines.values() if sums else ():
        for step in all_steps(machine):
            for call in step.messages if isinstance(step, SendMessages) else ():
                for index, value in enumerate(message_arguments(call, spec.messages)):
                    if (call.path, index) in ranges and not sums.isdisjoint(_mentioned(value)):
                        where = f"{ranges[call.path, index].name} of {call.path}"
                        yield f"{role.name}: whether {show(value)}, a sum of what peers send, fits {where}"


def takes_up(spec: Spec, role: Role) -> bool:
    """Whether some name of a role takes up what peers send again and again: a number, a text or a list."""
    brought = {field.name for message in spec.heard_by(role.name) for field in message.fields}
    return bool(brought and _sums(role, brought))


def _sums(role: Role, brought: set[str]) -> set[str]:
    """Return the names that take up what peers send again and again, and those that take such a one over."""
    machines = role.machines.values()
    bound = [
        (one.target, one.value)
        for machine in machines
        for step in all_steps(machine)
        if isinstance(step, Let)
        for one in step.bindings
        if one.field is None
    ]
    found = {target for target, value in bound if _adds(value, brought, {target})}
    adding = {machine.name for machine in machines if _returns_more(machine, brought)}
    for machine in machines:
        for state in machine.states.values():
            if state.run is not None and state.run.path in adding:
                given = {name for argument in state.run.arguments or () for name in _mentioned(argument)}
                found |= {
                    one.target for one in state.bindings if one.target in given and "result" in _mentioned(one.value)
                }
    bound += [
        (parameter, argument)
        for machine in machines
        for call in _calls(machine)
        if call.path in role.machines
        for parameter, argument in zip(role.machines[call.path].parameters, call.arguments or (), strict=False)
    ]
    while more := {target for target, value in bound if not found.isdisjoint(_mentioned(value))} - found:
        found |= more
    return found


def _adds(value: Expression, brought: set[str], to: set[str]) -> bool:
    """Whether an expression reckons with a number of a peer and one of some names."""
    for part in walk(value):
        if isinstance(part, Binary) and part.operator in _ADDS:
            mentioned = _mentioned(part)
            if not (mentioned.isdisjoint(brought) or mentioned.isdisjoint(to)):
                return True
    return False


def _returns_more(machine: Machine, brought: set[str]) -> bool:
    return any(
        isinstance(branch.next, Return) and _adds(branch.next.value, brought, set(machine.parameters))
        for _, choice in all_choices(machine)
        for branch in all_branches(choice)
    )


def _compared(spec: Spec, role: Role) -> set[str]:
    """Return the names of which some expression of a role asks how large they are."""
    return {
        name
        for machine in role.machines.values()
        for expression in machine_expressions(machine, spec.messages)
        for part in walk(expression)
        if (isinstance(part, Binary) and part.operator in _ORDERS)
        or (isinstance(part, Call) and part.path in ("min", "max"))
        for name in _mentioned(part)
    }


def _calls(machine: Machine) -> Iterator[Call]:
    for state in machine.states.values():
        if state.run is not None:
            yield state.run


def _mentioned(expression: Expression) -> frozenset[str]:
    return frozenset(one.name for one in names(expression))

"""Which names of a role stand for one peer, wherever they stand for peers: a field of it is read, it is a key, ….

What a rule returns may be a peer or a list of peers, and both are sent to in the same way. A list has no fields and is
no key, so a name that is used as one peer anywhere is one: else the machine would fail there, whatever the run. What is
given to a machine is used as its parameter is.
"""

from __future__ import annotations

from collections.abc import Iterator

from machines.analysis.traversal import all_steps, machine_expressions
from machines.expressions.unparse import walk
from machines.model import Attribute, Binary, Call, Expression, Item, Machine, Name, Role, Spec, Start

Names = frozenset[tuple[str, str]]  # a machine, and a name in it

_KEYED = ("get", "put")  # their second argument is a key, an index or a peer


def single_peers(role: Role, spec: Spec) -> Names:
    """Return the names that stand for one peer, if for peers at all."""
    found = {
        (machine.name, name)
        for machine in role.machines.values()
        for expression in machine_expressions(machine, spec.messages)
        for part in walk(expression)
        for name in _used_as_one(part)
    }
    passed = [pair for machine in role.machines.values() for pair in _passed(machine, role)]
    before = -1
    while len(found) > before:
        before = len(found)
        for here, there in passed:
            if here in found or there in found:
                found |= {here, there}
    return frozenset(found)


def _used_as_one(part: Expression) -> Iterator[str]:
    match part:
        case Attribute(Name(name), _) | Call("gone", (Name(name),)) | Item(_, Name(name)):
            yield name
        case Call(path, (_, Name(name), *_)) if path in _KEYED:
            yield name
        case Binary("==" | "!=", Name(name), Name("peer")) | Binary("==" | "!=", Name("peer"), Name(name)):
            yield name


def _passed(machine: Machine, role: Role) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield each name that is given to a machine, with the parameter that it is there."""
    calls = [state.run for state in machine.states.values() if state.run is not None]
    calls += [step.machine for step in all_steps(machine) if isinstance(step, Start)]
    for call in calls:
        called = role.machines.get(call.path)
        for parameter, given in zip(called.parameters if called else (), call.arguments or (), strict=False):
            if called is not None and isinstance(given, Name):
                yield (machine.name, given.name), (called.name, parameter)

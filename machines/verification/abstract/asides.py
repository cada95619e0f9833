"""Machines whose calls nobody notices: they wait for nobody, nobody hears what they send, what they return is idle.

Such a call is gone through once for what it is given, to see whether an expression in it has no value; from then on it
is passed over, and with it all the ways that it may go inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from machines.analysis.call_graph import kind
from machines.analysis.traversal import all_steps, machine_expressions
from machines.expressions.unparse import calls, names
from machines.model import Let, Machine, Message, Role, SendMessages


class Asides:
    """The machines of a role that may be passed over, and what was met in those that were gone through."""

    def __init__(self, machines: Set[str] = frozenset()) -> None:
        self.machines = machines
        self.quiet: dict[Any, bool] = {}  # by machine and what it is given
        self.taken: set[int] = set()  # id of each branch
        self.entered: set[str] = set()  # machine.state


def unnoticed(
    role: Role, messages: Mapping[str, Message], around: Mapping[str, Set[str]], wanted: Set[str], *, unheard: bool
) -> frozenset[str]:
    """Return the machines of a role that may be passed over.

    ``around`` are the live values around a machine, by its name; ``wanted`` the machines of which it matters what they
    return; ``unheard`` says that nobody who is looked at hears what the role sends.
    """
    found = {
        name
        for name, machine in role.machines.items()
        if name != "main"
        and name not in wanted
        and _is_alone(machine, messages, around.get(name, frozenset()), unheard)
    }
    while noticed := {name for name in found if not _called(role.machines[name]) <= found}:
        found -= noticed
    return frozenset(found)


def _is_alone(machine: Machine, messages: Mapping[str, Message], around: Set[str], unheard: bool) -> bool:
    states = machine.states.values()
    if (
        machine.always is not None
        or machine.live
        or any(kind(state) not in ("pass", "each", "call") for state in states)
    ):
        return False
    for step in all_steps(machine):
        if isinstance(step, Let):
            if any(one.field is not None or one.target in around for one in step.bindings):
                return False
        elif not (isinstance(step, SendMessages) and unheard):
            return False
    return all(
        around.isdisjoint(name.name for name in names(expression))
        and all(call.path != "gone" for call in calls(expression))
        for expression in machine_expressions(machine, messages)
    )


def _called(machine: Machine) -> set[str]:
    return {state.run.path for state in machine.states.values() if state.run is not None}

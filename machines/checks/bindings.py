"""Checks of values that are bound, and not as they were meant.

A314  a value that is bound and never read
A315  a result that nobody takes
A316  a field that overwrites what `let` counts

A317 is told by `machines.checks.step_order`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from machines.analysis.call_graph import CallGraph
from machines.analysis.traversal import all_branches, all_choices, all_steps, machine_expressions
from machines.checks.step_order import check_order
from machines.expressions.unparse import names, walk
from machines.model import (
    Binding,
    Call,
    Choice,
    Constant,
    Expression,
    Let,
    Machine,
    Message,
    Name,
    Return,
)
from machines.problems import Problems


def check_bound(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """Run the checks A314 to A317 on one machine."""
    _check_read(flow, machine, problems)
    _check_results(flow, machine, problems)
    _check_counters(flow, machine, problems)
    check_order(machine, flow.spec.messages, problems)


def _check_read(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """A314: a value is bound and never read."""
    taken = [
        binding
        for state in machine.states.values()
        if state.run is None or _returned(flow, state.run) is not None
        for binding in state.bindings
    ]
    bound = [*_bindings(machine), *taken]
    if not bound:
        return
    shared = {binding.target for binding in machine.live} | flow.live_somewhere[machine.name]
    own = _reads([machine], flow.spec.messages)
    all_ = _reads(flow.machines.values(), flow.spec.messages) if shared else own
    first: dict[str, Binding] = {}
    for binding in bound:
        if binding.field is None:
            first.setdefault(binding.target, binding)
    for name, binding in first.items():
        values = [other.value for other in bound if other.target == name and other.field is None]
        if not any(_is_made(value) for value in values):
            continue  # a name for later, which is no loss
        read = all_ if name in shared else own
        if read.get(name, 0) <= sum(count.name == name for value in values for count in names(value)):
            text = f"{name!r} is bound and never read"
            problems.add(binding.place, "A314", text, "use it where it was meant to be, or leave it out")


def _is_made(value: Expression) -> bool:
    """Whether a value is made of others: it is no literal."""
    return any(isinstance(part, Name | Call) for part in walk(value))


def _reads(machines: Iterable[Machine], messages: Mapping[str, Message]) -> dict[str, int]:
    """Return how many times each name is read."""
    found: dict[str, int] = {}
    for machine in machines:
        for expression in machine_expressions(machine, messages):
            for name in names(expression):
                found[name.name] = found.get(name.name, 0) + 1
    return found


def _bindings(machine: Machine) -> Iterator[Binding]:
    for step in all_steps(machine):
        if isinstance(step, Let):
            yield from step.bindings


def _check_results(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """A315: what a call returns is not taken."""
    for state in machine.states.values():
        if state.run is None or state.bindings:
            continue
        returned = _returned(flow, state.run)
        if returned is not None:
            text = f"nobody takes what {state.run.path} returns (in line {returned.place.line})"
            problems.add(state.run.place, "A315", text, "take it with 'as: NAME', or let it return null")


def _returned(flow: CallGraph, call: Call) -> Return | None:
    """Return where a called machine returns something that matters, if it does.

    A role that nobody connects to is told how things went: what it hands on of that as it came need not be taken.
    """
    callee = flow.machines.get(call.path)
    if callee is None:
        return None
    listens = flow.role.name in flow.spec.listeners()
    for event, choice in all_choices(callee):
        message = flow.spec.messages.get(event)
        told = {field.name for field in message.fields} if message is not None and not listens else set()
        for branch in all_branches(choice):
            if isinstance(branch.next, Return):
                value = branch.next.value
                is_null = isinstance(value, Constant) and value.value is None
                if not is_null and not (isinstance(value, Name) and value.name in told):
                    return branch.next
    return None


def _check_counters(flow: CallGraph, machine: Machine, problems: Problems) -> None:
    """A316: a field overwrites what `let` counts."""
    begun = {binding.target for binding in _bindings(machine) if isinstance(binding.value, Constant)}
    if not begun:
        return
    messages = flow.spec.messages
    for event, choice in all_choices(machine):
        if event not in messages:
            continue
        own = {id(binding) for binding in _of_choice(choice)}
        for field in messages[event].fields:
            counting = next(
                (
                    binding
                    for binding in _bindings(machine)
                    if binding.field is None
                    and binding.target == field.name
                    and field.name in begun
                    and id(binding) not in own
                    and any(name.name == field.name for name in names(binding.value))
                ),
                None,
            )
            if counting is not None:
                text = f"the field {field.name!r} of {event} overwrites {field.name!r}, which line"
                text += f" {counting.place.line} counts"
                hint = "rename the field, or the name that counts, and compare the two"
                problems.add(choice.place, "A316", text, hint)


def _of_choice(choice: Choice) -> Iterator[Binding]:
    for branch in all_branches(choice):
        for step in branch.steps:
            if isinstance(step, Let):
                yield from step.bindings

"""The names of a machine: what it binds, and what is seen everywhere.

One flat frame for each call of a machine holds its parameters and whatever `let`, `as`, `each` and `receive` bind.
`machines.engine.compiler` gives each name of `frame_names` a slot, `machines.checks.scoping` says who may bind what,
and `machines.checks.definite_assignment` that each is bound before it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from machines.analysis.traversal import all_branches, machine_expressions
from machines.expressions.builtins import TOTAL
from machines.expressions.unparse import names
from machines.model import Choice, Handlers, Let, Machine, Spec, Step
from machines.problems import Place

FUNCTIONS = frozenset({*TOTAL, "gone"})
BUILT_IN_VALUES = ("seed", "elapsed", "my", "running")
EVENT_NAMES = ("peer", "reason")


# -- which names there are -------------------------------------------------------------------------------------------


def frame_names(machine: Machine, spec: Spec, around: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the names of a machine's frame: its parameters, then all others in the order of their first binding.

    ``peer`` and ``reason``, which events bind, are among them if the machine reads them or seats peers. ``result`` is
    not: it is seen in ``as`` and ``ended`` alone, unless the machine binds a name of its own that is spelt so.
    What it binds of live values of machines around it, ``around``, is none of its own.
    """
    found: dict[str, None] = dict.fromkeys(machine.parameters)
    for binding in machine.live:
        found.setdefault(binding.target)
    around = around if around is not None else frozenset()
    for name, _ in bindings(machine, spec):
        if name not in around:
            found.setdefault(name)
    if any(state.accept is not None for state in machine.states.values()):
        found.setdefault("peer")
    if not found.keys() >= set(EVENT_NAMES):
        read = {name.name for expression in machine_expressions(machine, spec.messages) for name in names(expression)}
        for name in EVENT_NAMES:
            if name in read:
                found.setdefault(name)
    return tuple(found)


def global_names(spec: Spec, role: str) -> dict[str, str]:
    """Return every name that all machines of a role see and none may bind, with what it is.

    Settings, modules of rules, the roles it connects to, and what is built in. Functions are none of them: they stand
    before brackets, where no value can, so a value may share their names.
    """
    found = dict.fromkeys(BUILT_IN_VALUES, "built in")
    found.update((partner, "a role it connects to") for partner in spec.connects.get(role, ()))
    found.update((module, "a module of rules") for module, _ in spec.rules)
    found.update((setting, "a setting") for setting in spec.settings)
    return found


def value_names(spec: Spec, role: str) -> tuple[str, ...]:
    """Return the names seen everywhere that have a value: settings, roles one connects to, what is built in."""
    return (*spec.settings, *spec.connects.get(role, ()), *BUILT_IN_VALUES)


def bindings(machine: Machine, spec: Spec) -> Iterator[tuple[str, Place]]:
    """Yield each name that a machine binds beside its parameters, and where: `always` first, then state by state.

    What a message's field binds is placed at its branches; ``let: {peer.name: …}`` binds no name.
    """
    if machine.always is not None:
        yield from _answers_bindings(machine.always.answers, spec)
    for state in machine.states.values():
        if state.each is not None:
            yield state.each.name, state.each.place
        yield from _steps_bindings(state.steps)
        if state.accept is not None:
            yield state.accept.name, state.accept.place
        for binding in state.bindings:
            yield binding.target, binding.place
        yield from _answers_bindings(state.answers, spec)
        if state.then is not None:
            yield from _choice_bindings(state.then)


def _answers_bindings(answers: Handlers, spec: Spec) -> Iterator[tuple[str, Place]]:
    for event, choice in answers.choices():
        if event in spec.messages:
            for field in spec.messages[event].fields:
                yield field.name, choice.place
        yield from _choice_bindings(choice)


def _choice_bindings(choice: Choice) -> Iterator[tuple[str, Place]]:
    for branch in all_branches(choice):
        yield from _steps_bindings(branch.steps)


def _steps_bindings(steps: tuple[Step, ...]) -> Iterator[tuple[str, Place]]:
    for step in steps:
        if isinstance(step, Let):
            for binding in step.bindings:
                if binding.field is None:
                    yield binding.target, binding.place

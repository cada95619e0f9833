"""Check of durations: A346, a player's own limit above the limit of all who wait for its answer."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from machines.analysis.call_graph import kind
from machines.analysis.traversal import all_branches
from machines.model import Choice, Constant, Expression, Name, Role, SendMessages, Spec, State
from machines.problems import Problems

Wait = tuple[str, float]  # where, and how many seconds


def check_durations(spec: Spec, problems: Problems) -> None:
    """A346: a player may take longer than whoever waits for its answer.

    The same limit on both sides is a close race, but often one setting on purpose; ``never`` leaves it to the other.
    """
    for role in spec.roles.values():
        for machine in role.machines.values():
            for state in machine.states.values():
                own = _seconds(state.within, spec)
                if state.ask is None or state.within is None or own is None or own == inf:
                    continue
                for message in _sent(state):
                    waits = list(_waits(spec, role, message))
                    if waits and all(limit < own for _, limit in waits):
                        where, limit = max(waits, key=lambda wait: wait[1])
                        text = f"{role.name}.{machine.name}.{state.name} gives its player {own:g} s, and {where}"
                        text += f" waits {limit:g} s for {message}: who uses the time that it is given is too late"
                        problems.add(state.within.place, "A346", text, "give the player less than the other side waits")
                        break


def _sent(state: State) -> list[str]:
    """Return the messages that a state sends once its player has answered."""
    found: dict[str, None] = {}
    for choice in state.answers.receive.values():
        for branch in all_branches(choice):
            for step in branch.steps:
                if isinstance(step, SendMessages):
                    found.update((call.path, None) for call in step.messages)
    return list(found)


def _waits(spec: Spec, role: Role, message: str) -> Iterator[Wait]:
    """Yield where others wait for a message, and how long: for ever where no limit is written."""
    for other in spec.peers_of(role.name):
        for machine in spec.roles[other].machines.values() if other in spec.roles else ():
            if machine.always is not None and message in machine.always.answers.receive:
                yield f"{other}.{machine.name}", inf
            for state in machine.states.values():
                choice: Choice | None = state.answers.receive.get(message)
                if choice is None or state.ask is not None:
                    continue
                limit = _seconds(state.within, spec) if kind(state) == "wait" else None
                yield f"{other}.{machine.name}.{state.name}", inf if limit is None else limit


def _seconds(within: Expression | None, spec: Spec) -> float | None:
    """Return a limit that is written as a number or is a setting, in seconds."""
    match within:
        case Constant(int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case Name(name) if name in spec.settings and isinstance(spec.settings[name].value, int | float):
            return float(spec.settings[name].value)
        case _:
            return None

"""Sign-ups that need more clients than were tried: what comes behind them was never looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from machines.analysis.traversal import all_branches
from machines.model import Binary, Branch, Constant, Expression, Goto, Name, Spec
from machines.values import Range

CLIENTS_MAX = 8  # with more, no protocol that ships is through in a minute


def unfilled_doors(
    spec: Spec, specs: Mapping[str, Spec], taken: Set[int], entered: Set[tuple[str, str]], numbers: Sequence[int]
) -> Iterator[str]:
    """Yield each sign-up with seats that no run gets past: of what comes behind it nothing is known.

    ``taken`` are the ids of the branches that runs take with these ``numbers`` of clients, ``entered`` the states that
    they come to, each as (role, machine.state).
    """
    clients = max(numbers)
    for role in spec.roles:
        whose = specs.get(role, spec)
        for machine in whose.roles[role].machines.values():
            for state in machine.states.values():
                if state.accept is None or state.accept.seats is None or state.then is None:
                    continue
                if any(id(branch) in taken for branch in all_branches(state.then)):
                    continue
                if all(_is_seen(branch, role, machine.name, entered) for branch in all_branches(state.then)):
                    continue
                more = max(_least(state.accept.seats, whose), clients + 1)
                text = f"no run gets past {machine.name}.{state.name} of {role}"
                text += f" with at most {clients} client{'' if clients == 1 else 's'}"
                yield text + (f": try --clients {more}" if more <= CLIENTS_MAX else ": it takes more than can be tried")


def _is_seen(branch: Branch, role: str, machine: str, entered: Set[tuple[str, str]]) -> bool:
    """Whether a branch does no more than lead to a state that runs come to in another way."""
    return not branch.steps and isinstance(branch.next, Goto) and (role, f"{machine}.{branch.next.state}") in entered


def is_filled(specs: Mapping[str, Spec], spec: Spec, clients: int) -> bool:
    """Whether so many clients are enough for every sign-up."""
    for role in spec.roles:
        whose = specs.get(role, spec)
        for machine in whose.roles[role].machines.values():
            for state in machine.states.values():
                least = _least(state.accept.seats, whose) if state.accept is not None else 0
                if least > clients:
                    return False
    return True


def _least(seats: Expression | None, spec: Spec) -> int:
    value = seats.value if isinstance(seats, Constant) else None
    if isinstance(seats, Name) and seats.name in spec.settings:
        value = spec.settings[seats.name].value
    if isinstance(seats, Binary) and isinstance(seats.left, Constant):
        value = seats.left.value
    return value.low if isinstance(value, Range) else value if isinstance(value, int) else 0

"""How far games came: which branches of the roles were taken, and which machines and states no game did anything in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from diagrams.states.coverage import Coverage
from machines.model import Spec

NAMED_MAX: Final = 6  # machines and states that are named; of more it is said how many

Taken = tuple[str, str, str, str]  # machine, state, event, destination


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of all branches were taken; ``untouched`` are machines and states, by role, of which none was."""

    taken: int
    branches: int
    untouched: tuple[str, ...]

    def __str__(self) -> str:
        text = f"{self.taken} of {self.branches} branches taken"
        if not self.untouched:
            return text
        more = len(self.untouched) - NAMED_MAX
        return f"{text}; none of {', '.join(self.untouched[:NAMED_MAX])}{f' and {more} more' if more > 0 else ''}"


def reach(spec: Spec, taken: Iterable[tuple[str, Taken]]) -> Reach:
    """Return how far games came whose roles took these transitions."""
    found = {role: Coverage(spec, role) for role in spec.roles}
    machines: set[tuple[str, str]] = set()
    for role, transition in taken:
        if role in found:
            found[role].add((transition,))
            machines.add((role, transition[0]))
    untouched = []
    for role, of in spec.roles.items():
        for machine in of.machines.values():
            if (role, machine.name) not in machines:
                untouched.append(f"{role} {machine.name}")
            else:
                left = [name for name in machine.states if not found[role].met(machine.name, name)]
                untouched += [f"{role} {machine.name}.{name}" for name in left]
    counts = [one.count() for one in found.values()]
    return Reach(sum(some for some, _ in counts), sum(every for _, every in counts), tuple(untouched))

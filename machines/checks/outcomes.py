"""Check of where a match may end: A141, an ``outcome`` where none is read."""

from __future__ import annotations

from machines.analysis.traversal import all_branches, all_choices
from machines.model import Machine, Return, Role
from machines.problems import Problems


def check_outcomes(role: Role, machine: Machine, problems: Problems) -> None:
    """A141: an outcome where none is read: it is read of 'main', of a role that accepts those who play."""
    for _, choice in all_choices(machine):
        for branch in all_branches(choice):
            if isinstance(branch.next, Return) and branch.next.outcome is not None:
                place = branch.next.outcome.place
                if machine.name != "main":
                    text = f"an outcome is read of 'main' alone, not of {machine.name!r}"
                    problems.add(place, "A141", text, "return what it says, and say it in 'main'")
                elif not _accepts(role):
                    text = f"{role.name} accepts nobody: it has no match whose outcome it could say"
                    problems.add(place, "A141", text, "say it in the role whose 'main' has 'accept'")


def _accepts(role: Role) -> bool:
    return any(state.accept is not None for state in role.machines["main"].states.values())

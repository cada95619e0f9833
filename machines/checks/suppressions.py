"""Problems that a spec has on purpose: A350, one that is accepted and is not there.

A problem belongs to what stands last before it in its file: a message, a setting, a type, a role, a machine, a state.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from machines.model import Spec, Suppression
from machines.problems import Place, Problem


@dataclass(frozen=True, slots=True)
class Allowed:
    """A problem that is accepted, and by what."""

    problem: Problem
    by: Suppression

    def __str__(self) -> str:
        return f"{self.problem.place}: accepted: {self.problem.code} {self.problem.text} (because: {self.by.reason})"


def split_suppressed(spec: Spec, problems: Iterable[Problem]) -> tuple[list[Problem], list[Allowed]]:
    """Return the problems that a spec does not accept, and those that it does, both in the order given."""
    owner = _owners(spec)
    left: list[Problem] = []
    allowed: list[Allowed] = []
    for problem in problems:
        here = owner(problem.place)
        by = next((one for one in spec.accepted if one.code == problem.code and _covers(one.where, here)), None)
        if by is None:
            left.append(problem)
        else:
            allowed.append(Allowed(problem, by))
    return left, allowed


def unused_suppressions(spec: Spec, allowed: Iterable[Allowed], looked_for: Callable[[str], bool]) -> list[Problem]:
    """A350: a problem is accepted that is not there."""
    used = {one.by for one in allowed}
    return [
        Problem(
            one.place,
            "A350",
            f"{one.code} is accepted{f' for {one.where}' if one.where is not None else ''}, but is not there",
            "leave it out",
        )
        for one in spec.accepted
        if one not in used and looked_for(one.code) and one.place.file == spec.file
    ]


def _covers(where: str | None, here: str) -> bool:
    return where is None or here == where or here.startswith(f"{where}.")


def _owners(spec: Spec) -> Callable[[Place], str]:
    """Return what tells of a place to what it belongs."""
    marks: list[tuple[Place, str]] = []
    marks += [(message.place, message.name) for message in spec.messages.values()]
    marks += [(setting.place, setting.name) for setting in spec.settings.values()]
    marks += [(declared.place, declared.name) for declared in spec.types.values()]
    for role in spec.roles.values():
        marks.append((role.place, role.name))
        for machine in role.machines.values():
            marks.append((machine.place, f"{role.name}.{machine.name}"))
            if machine.always is not None:
                marks.append((machine.always.place, f"{role.name}.{machine.name}"))
            for state in machine.states.values():
                marks.append((state.place, f"{role.name}.{machine.name}.{state.name}"))
    marks.sort()
    places = [place for place, _ in marks]

    def owner(place: Place) -> str:
        at = bisect_right(places, place) - 1
        return marks[at][1] if at >= 0 and places[at].file == place.file else ""

    return owner

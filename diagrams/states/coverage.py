"""How often each branch of a spec was taken in runs, and a state diagram's looks by that.

A run's journal names its transitions by (call path, state, event, destination). Where several branches of one event
lead to the same place, which of them it was is not told: the count is then of all of them together, "up to 3x".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import log2
from typing import Final

from diagrams.rendering.style import PALE
from diagrams.states.looks import LOOKS, Look
from diagrams.states.model import Arrow, Kind, Label, Line, LineRole, Node, StateDiagram
from machines.model import Choice, Goto, Machine, Return, Role, Spec, Stay
from machines.problems import Place

END: Final = ".end"  # as journals name the end of a machine
THEN: Final = ".then"
ALWAYS: Final = "always:"
WIDTH_MAX: Final = 6.0
TIMES: Final = "\N{MULTIPLICATION SIGN}"

Taken = tuple[str, str, str, str]  # call path, state, event, destination
Key = tuple[str, str, str]  # state, event, destination


@dataclass(frozen=True, slots=True)
class Count:
    """How often a branch was taken: between ``low`` and ``high`` times."""

    low: int = 0
    high: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.low + other.low, self.high + other.high)

    def __str__(self) -> str:
        if not self.high:
            return "never"
        return f"{self.high}{TIMES}" if self.low == self.high else f"up to {self.high}{TIMES}"


class Coverage:
    """Counts the transitions of one role's machines. ``runs`` and ``sessions`` are for the heading of a picture."""

    def __init__(self, spec: Spec, role: str) -> None:
        self.role: Role = spec.roles[role]
        self.unknown: Counter[Taken] = Counter()  # what the spec has no branch for: it has changed since the run
        self._branches = {name: branches(machine) for name, machine in self.role.machines.items()}
        self._taken: dict[tuple[str, Place], Count] = {}
        self._met: dict[str, set[str]] = {name: set() for name in self.role.machines}

    def add(self, transitions: Iterable[Taken]) -> None:
        """Count the transitions of an input."""
        for taken in transitions:
            path, state, event, destination = taken
            machine = re.sub(r"\[\d+\]$", "", path.rpartition(".")[2])
            places = self._branches.get(machine, {}).get((state, event, destination), ())
            if not places:
                self.unknown[taken] += 1
                continue
            self._met[machine] |= {state.partition("/")[0], destination}
            if event.startswith(ALWAYS):
                self._met[machine].add(".always")
            one = Count(1, 1) if len(places) == 1 else Count(0, 1)
            for place in places:
                self._taken[machine, place] = self._taken.get((machine, place), Count()) + one

    def of(self, machine: str, label: Label) -> Count:
        """Return how often the branches of a label were taken; what is nested in one that is counted is not added."""
        nested = self._nested(machine)
        places = dict.fromkeys(label.places)
        outer = [place for place in places if place not in nested] or list(places)
        return sum((self._taken.get((machine, place), Count()) for place in outer), Count())

    def _nested(self, machine: str) -> frozenset[Place]:
        found = self._branches[machine]
        return frozenset(place for (state, _, _), places in found.items() if "/" in state for place in places)

    def met(self, machine: str, node: str) -> bool:
        """Whether a state was left or entered, or its machine's ``always`` answered."""
        return node in self._met[machine]

    def lines(self) -> str:
        """Return in words how much of the role was seen: ``7 of 9 branches``."""
        taken, every = self.count()
        return f"{taken} of {every} branches taken"

    def count(self) -> tuple[int, int]:
        """Return how many branches of the role were taken, and how many there are."""
        every = {
            (name, place) for name, found in self._branches.items() for places in found.values() for place in places
        }
        return len(every & self._taken.keys()), len(every)


def branches(machine: Machine) -> Mapping[Key, tuple[Place, ...]]:
    """Return the places of a machine's branches by how a journal names what takes them.

    A choice within a branch is a state of its own there, called after the state and the number of such choices before
    it in the machine: the order is that of `machines.engine.compiler`.
    """
    found: dict[Key, list[Place]] = {}
    hidden = 0

    def rows(event: str, source: str, origin: str, choice: Choice) -> None:
        nonlocal hidden
        for branch in choice.branches:
            match branch.next:
                case Goto(state, _):
                    destination = state
                case Stay():
                    destination = origin
                case Return():
                    destination = END
                case Choice():
                    hidden += 1
                    destination = f"{origin}/{hidden}"
                    rows(THEN, destination, origin, branch.next)
            listed = found.setdefault((source, event, destination), [])
            if branch.place not in listed:
                listed.append(branch.place)

    for state in machine.states.values():
        for event, choice in state.answers.choices():
            rows(event, state.name, state.name, choice)
        if state.then is not None:
            rows(THEN, state.name, state.name, state.then)
        if machine.always is not None:
            for event, choice in machine.always.answers.choices():
                rows(ALWAYS + event, state.name, state.name, choice)
    return {key: tuple(places) for key, places in found.items()}


# -- looks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paint:
    """A flow whose labels say how often, the look of each of its arrows, and the nodes that were never reached."""

    flow: StateDiagram
    looks: tuple[Look, ...]
    pale: frozenset[str]
    note: str


def painted(drawn: StateDiagram, coverage: Coverage, note: str) -> Paint:
    """Return a machine's flow as runs have gone through it: taken often is broad, taken never is pale and dashed."""
    machine = drawn.machine.name
    first = next(iter(drawn.machine.states))
    looks: list[Look] = []
    arrows: list[Arrow] = []
    reached: set[str] = set()
    for arrow in drawn.arrows:
        counts = [coverage.of(machine, label) for label in arrow.labels]
        total = sum(counts, Count())
        if arrow.kind is Kind.START:
            total = Count(1, 1) if coverage.met(machine, first) else Count()
        labels = tuple(_counted(label, count) for label, count in zip(arrow.labels, counts, strict=True))
        arrows.append(replace(arrow, labels=labels))
        looks.append(_look(LOOKS[arrow.kind], total))
        if total.high:
            reached |= {arrow.source, arrow.target}
    nodes = tuple(_node(node, machine, coverage) for node in drawn.nodes)
    pale = frozenset(node.name for node in nodes if node.name not in reached and not coverage.met(machine, node.name))
    return Paint(replace(drawn, nodes=nodes, arrows=tuple(arrows)), tuple(looks), pale, note)


def _look(look: Look, count: Count) -> Look:
    if not count.high:
        return Look(PALE, "dashed", 0.8, look.tail)
    return replace(look, width=min(WIDTH_MAX, look.width + 0.5 * log2(count.high)))


def _node(node: Node, machine: str, coverage: Coverage) -> Node:
    return replace(node, inside=tuple(_counted(label, coverage.of(machine, label)) for label in node.inside))


def _counted(label: Label, count: Count) -> Label:
    return replace(label, lines=tuple(_with_count(label.lines, count)))


def _with_count(lines: tuple[Line, ...], count: Count) -> Iterator[Line]:
    yield Line(LineRole.COUNT, str(count))
    yield from lines

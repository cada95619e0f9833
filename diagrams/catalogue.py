"""All drawings of a spec: which there are, what they are called, and each in every language.

    tsuro-server-main              a machine's state diagram
    tsuro-server                   a role's overview: all its machines, and who runs which
    tsuro-server-main-sequence     what a machine says and hears, and below that its cases

DOT is what the pictures are drawn from, and what tells whether they are still true. The text forms are those of
README files and comments: ``txt`` (sequences only), ``mmd`` for Mermaid, ``puml`` for PlantUML.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, partial
from typing import Final

from diagrams.rendering.labels import distinct, stem
from diagrams.sequences.builder import scenario
from diagrams.sequences.dot import scenario_dot
from diagrams.sequences.mermaid import scenario_mermaid
from diagrams.sequences.model import Scenario
from diagrams.sequences.plantuml import scenario_plantuml
from diagrams.sequences.text import scenario_chart
from diagrams.states import text
from diagrams.states.dot import stems, write_machine
from diagrams.states.overview import overview_dot
from machines.model import Spec

TEXT_FORMATS: Final = ("txt", "mmd", "puml")
FORMATS: Final = ("svg", "png", "dot", *TEXT_FORMATS)


class Kind(StrEnum):
    """The kinds of drawings."""

    STATES = "states"
    OVERVIEW = "overview"
    SEQUENCES = "sequences"


@dataclass(frozen=True)
class Drawing:
    """One drawing. ``machine`` is empty for an overview; ``stem`` is its file's name without ending.

    Nothing is drawn before it is asked for.
    """

    kind: Kind
    role: str
    machine: str
    stem: str
    make: Callable[[], str]
    forms: Mapping[str, Callable[[], str]]

    @cached_property
    def dot(self) -> str:
        """The drawing as DOT; the same spec gives the same bytes."""
        return self.make()

    def text(self, form: str) -> str | None:
        """Return the drawing in one of TEXT_FORMATS, None if it has no such form."""
        make = self.forms.get(form)
        return make() if make is not None else None


def album(spec: Spec, kinds: Iterable[Kind] = tuple(Kind), *, unfold: bool = False) -> tuple[Drawing, ...]:
    """Return the drawings of a spec, of some kinds or of all: states, overviews, sequences, each in file order.

    With ``unfold`` a sequence tells the machines that it calls too; its file has a name of its own.
    """
    wanted: Collection[Kind] = set(kinds)
    keys = [(role.name, machine) for role in spec.roles.values() for machine in role.machines]
    states = stems(spec)
    # What is a machine's and what is a role's may have one name: `a-b` of role c, and b of role `c-a`.
    named = distinct([
        *states.values(),
        *(stem(spec.protocol, role) for role in spec.roles),
        *(f"{states[key]}-sequence" for key in keys),
    ])  # fmt: skip
    overviews = named[len(keys) : len(keys) + len(spec.roles)]
    sequences = dict(zip(keys, named[len(keys) + len(spec.roles) :], strict=True))
    made = [_states(spec, role, machine, states[role, machine]) for role, machine in keys]
    for role, name in zip(spec.roles, overviews, strict=True):
        links = {machine: states[role, machine] for machine in spec.roles[role].machines}
        made.append(_overview(spec, role, name, links))
    for role, machine in keys:
        links = {other: sequences[role, other] for other in spec.roles[role].machines}
        called = sequences[role, machine]
        made.append(_sequence(spec, role, machine, f"{called}-unfolded" if unfold else called, links, unfold=unfold))
    return tuple(drawing for drawing in made if drawing.kind in wanted)


def _states(spec: Spec, role: str, machine: str, name: str) -> Drawing:
    forms = {
        "mmd": partial(text.machine_mermaid, spec, role, machine),
        "puml": partial(text.machine_plantuml, spec, role, machine),
    }
    return Drawing(Kind.STATES, role, machine, name, partial(write_machine, spec, role, machine), forms)


def _overview(spec: Spec, role: str, name: str, links: Mapping[str, str]) -> Drawing:
    forms = {
        "mmd": partial(text.role_mermaid, spec, role),
        "puml": partial(text.role_plantuml, spec, role),
    }
    return Drawing(Kind.OVERVIEW, role, "", name, partial(overview_dot, spec, role, links), forms)


def _sequence(spec: Spec, role: str, machine: str, name: str, links: Mapping[str, str], *, unfold: bool) -> Drawing:
    @cache
    def told() -> Scenario:
        return scenario(spec, role, machine, unfold=unfold)

    forms = scenario_forms(told)
    return Drawing(Kind.SEQUENCES, role, machine, name, lambda: scenario_dot(told(), links), forms)


def scenario_forms(told: Callable[[], Scenario]) -> Mapping[str, Callable[[], str]]:
    """Return how to write a scenario in each of TEXT_FORMATS."""
    return {
        "txt": lambda: scenario_chart(told()),
        "mmd": lambda: scenario_mermaid(told()),
        "puml": lambda: scenario_plantuml(told()),
    }

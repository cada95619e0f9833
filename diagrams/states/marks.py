"""Where a run stands in the pictures: the elements of the SVG files that a state, and a transition taken, belong to.

A picture's elements have ids that begin with its name, so the pictures of all machines can stand in one page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from diagrams.states.builder import flow
from diagrams.states.coverage import Key, Taken, branches
from diagrams.states.dot import arrow_id, ids_of, stems
from machines.model import Spec
from machines.problems import Place

_INDEX = re.compile(r"\[\d+\]$")  # which of several calls of a machine it is
PATHS_KEPT: Final = 4_096  # of calls; a run has the same ones in each of its steps


class Marks:
    """The ids of a spec's state diagrams. ``pictures`` has the name of each machine's picture by (role, machine)."""

    def __init__(self, spec: Spec) -> None:
        self.pictures: Mapping[tuple[str, str], str] = stems(spec)
        self._boxes: dict[tuple[str, str, str], str] = {}
        self._arrows: dict[tuple[str, str, Key], tuple[str, ...]] = {}
        self._places: dict[tuple[str, str, Key], tuple[Place, ...]] = {}
        for role, machine in self.pictures:
            self._read(spec, role, machine)

    def _read(self, spec: Spec, role: str, machine: str) -> None:
        page = self.pictures[role, machine]
        drawn = flow(spec, role, machine)
        ids = ids_of(drawn)
        shown: dict[Place, list[str]] = {}  # where the branch that stands at a place in the file is drawn
        for node in drawn.nodes:
            self._boxes[role, machine, node.name] = f"{page}-{ids[node.name]}"
            for label in node.inside:
                for place in label.places:
                    shown.setdefault(place, []).append(f"{page}-{ids[node.name]}")
        for index, arrow in enumerate(drawn.arrows):
            for label in arrow.labels:
                for place in label.places:
                    shown.setdefault(place, []).append(f"{page}-{arrow_id(index)}")
        for key, places in branches(spec.roles[role].machines[machine]).items():
            found = [one for place in places for one in shown.get(place, ())]
            self._arrows[role, machine, key] = tuple(dict.fromkeys(found))
            self._places[role, machine, key] = tuple(dict.fromkeys(places))

    def box(self, role: str, path: str, state: str) -> str | None:
        """Return the id of the box of a state, None if it has none. ``path`` is the call's, as journals have it."""
        return self._boxes.get((role, machine_of(path), state.partition("/")[0]))

    def arrows(self, role: str, taken: Taken) -> tuple[str, ...]:
        """Return the ids of what shows a transition: arrows, or boxes for branches that keep a state.

        Where several branches lead from one state to another, a journal does not say which was taken: it is all.
        """
        path, state, event, destination = taken
        return self._arrows.get((role, machine_of(path), (state, event, destination)), ())

    def places(self, role: str, taken: Taken) -> tuple[Place, ...]:
        """Return where the branches stand in the file that a transition may have taken; see `arrows`."""
        path, state, event, destination = taken
        return self._places.get((role, machine_of(path), (state, event, destination)), ())

    def keys(self) -> Mapping[tuple[str, str, Key], tuple[str, ...]]:
        """Return the ids of every transition that the spec has, by (role, machine, (state, event, destination))."""
        return self._arrows


@lru_cache(maxsize=PATHS_KEPT)
def machine_of(path: str) -> str:
    """Return the machine that runs in a call: ``main.turn[1]`` is one of ``turn``."""
    return _INDEX.sub("", path.rpartition(".")[2])

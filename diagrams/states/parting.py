"""A chart that would be too wide is drawn in parts, in one picture: one below the other, small ones side by side.

    ● ──▶ serving ──▶ doing ──▶ ▸ reading     each part but the first begins at a state, to which
                        └─────▶ ▸ writing     marks lead from the others

    reading ──▶ …        writing ──▶ …

How wide a chart gets is guessed from its texts: row by row, what is below a node side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from diagrams.states.model import Arrow, Line, LineRole, Node, StateDiagram, backward

BOX_CHARACTERS: Final = 44  # a box this wide leaves room for four beside each other in 2,000 pixels
ARROW_CHARACTERS: Final = 36
GAP_CHARACTERS: Final = 4  # between two arrows
CHARACTERS_MAX: Final = 190  # beside each other: 9 pixels each at most, of 2,000


def parted(drawn: StateDiagram) -> StateDiagram:
    """Return a diagram with marks in place of the arrows between its parts; itself if it is not too wide."""
    tree = _Tree(drawn)
    tree.cut()
    if len(tree.parts) == 1:
        return drawn
    order = {name: index for index, name in enumerate(drawn.machine.states, 1)}
    nodes = {node.name: node for node in drawn.nodes}
    part = {name: number for number, names in enumerate(tree.parts) for name in names}
    marks: dict[tuple[object, str], Node] = {}
    arrows: list[Arrow] = []
    for arrow in drawn.arrows:
        target, here = nodes[arrow.target], part[arrow.source]
        if part[target.name] != here and target.name in order:
            name = f".jump{order[target.name]}.{len(marks) + 1}"
            mark = Node(name, "jump", target.place, (Line(LineRole.NAME, target.name),))
            arrow = replace(arrow, target=marks.setdefault((arrow.source, target.name), mark).name)
        elif part[target.name] != here:
            mark = replace(target, name=f"{target.name}.{here}")
            arrow = replace(arrow, target=marks.setdefault((here, target.name), mark).name)
        arrows.append(arrow)
    whole = replace(drawn, nodes=(*drawn.nodes, *marks.values()), arrows=tuple(arrows))
    return replace(whole, under=tuple(_under(whole, tree.shelves)))


class _Tree:
    """The nodes of a diagram, each below the one from which an arrow first leads to it.

    ``parts`` are what it is cut in; the first of each is above all others of it. ``shelves`` have the first nodes of
    those that stand side by side.
    """

    def __init__(self, drawn: StateDiagram) -> None:
        self.parts: list[list[str]] = []
        self.shelves: list[list[str]] = []
        self._nodes = {node.name: node for node in drawn.nodes}
        self._arrows: dict[str, list[Arrow]] = {}
        for arrow in drawn.arrows:
            self._arrows.setdefault(arrow.source, []).append(arrow)
        self._below: dict[str, list[str]] = {}
        self._order: list[str] = []  # each node behind the one it is below
        self._roots: dict[str, None] = {}  # where a part begins
        met: set[str] = set()
        for first in self._nodes:
            waiting = [first] if first not in met else []
            met.add(first)
            for name in waiting:
                self._order.append(name)
                new = [arrow.target for arrow in self._arrows.get(name, ()) if arrow.target not in met]
                self._below[name] = list(dict.fromkeys(new))
                met.update(new)
                waiting += self._below[name]

    def cut(self) -> None:
        """Cut off what is wide, from below, until nothing is wider than CHARACTERS_MAX."""
        rows: dict[str, list[int]] = {}
        for name in reversed(self._order):
            may = [one for one in self._below[name] if not one.startswith(".") and one in self._arrows]
            for one in sorted(may, key=lambda one: -max(rows[one])):
                if max(self._rows(name, rows)) > CHARACTERS_MAX:
                    self._roots[one] = None
            rows[name] = self._rows(name, rows)
        self._part()
        full = CHARACTERS_MAX
        for root, *_ in self.parts:
            if full + max(rows[root]) > CHARACTERS_MAX:
                self.shelves.append([])
                full = 0
            self.shelves[-1].append(root)
            full += max(rows[root]) + GAP_CHARACTERS

    def _part(self) -> None:
        part: dict[str, list[str]] = {}
        for name in self._order:
            names = part.setdefault(name, []) if name in self._roots else part.get(name)
            if names is None:  # the first part has all that nothing leads to, too
                names = self.parts[0] if self.parts else []
            if not names:
                self.parts.append(names)
            names.append(name)
            part.update((one, names) for one in self._below[name] if one not in self._roots)

    def _rows(self, name: str, rows: dict[str, list[int]]) -> list[int]:
        """Return how wide each row is: of the node, of the texts of its arrows, of the nodes that they lead to, …"""
        found = [_box_width(self._nodes[name])]
        under = {one: rows[one] for one in self._below[name] if one not in self._roots}
        for arrow in self._arrows.get(name, ()):
            for at, wide in enumerate([_text_width(arrow), *under.pop(arrow.target, ())], 1):
                found += [0] * (at + 1 - len(found))
                found[at] += wide + GAP_CHARACTERS
        return found


def _text_width(arrow: Arrow) -> int:
    return min(ARROW_CHARACTERS, max((len(line.text) for label in arrow.labels for line in label.lines), default=0))


def _box_width(node: Node) -> int:
    lines = [*node.lines, *(line for label in node.inside for line in label.lines)]
    return min(BOX_CHARACTERS, max((len(line.text) for line in lines), default=0))


def _under(drawn: StateDiagram, shelves: list[list[str]]) -> Iterator[tuple[str, str]]:
    """Yield, for the first node of each part, the lowest one of the parts on the shelf above it."""
    back = backward(drawn)
    onward: dict[str, list[Arrow]] = {}
    for index, arrow in enumerate(drawn.arrows):
        if index not in back:
            onward.setdefault(arrow.source, []).append(arrow)
    for above, roots in pairwise(shelves):
        lowest, _ = max((_lowest(onward, root) for root in above), key=lambda found: found[1])
        yield from ((lowest, root) for root in roots)


def _lowest(onward: dict[str, list[Arrow]], root: str) -> tuple[str, int]:
    """Return the node with the longest way to it, and its steps; an arrow with a text is two."""
    steps = {root: 0}
    waiting = [root]
    for name in waiting:
        for arrow in onward.get(name, ()):
            there = steps[name] + (2 if arrow.labels else 1)
            if there > steps.get(arrow.target, 0):
                steps[arrow.target] = there
                waiting.append(arrow.target)
    return max(steps.items(), key=lambda found: found[1])

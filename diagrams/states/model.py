"""A machine as what its picture consists of: nodes and arrows with their lines of text, not yet in any language.

    start ──▶ state ──?message──▶ state ──▶ end
                │ ▲
                ▼ └ what keeps the state stands inside its box
              choice

Every drawing of a machine reads this: one state diagram a machine, a role with its machines side by side, other
languages than DOT. ``builder.flow`` makes it of a spec.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from machines.model import Machine
from machines.problems import Place

KEEPS = "↺"  # before a branch that keeps the state

# Past these, arrows end at marks beside their source (see ``untangled``). The shipped specs stay below.
SOURCES_OF_AN_END_MAX = 4
SOURCES_OF_A_STATE_MAX = 8
STEPS_TO_A_HUB_MAX = 2
STATES_OF_A_SMALL_MACHINE_MAX = 40
STEPS_MAX = 8


class Kind(StrEnum):
    """What an arrow stands for; each has its own colour, line and tail (see ``looks``)."""

    START = "start"
    PASS = "pass on"
    MESSAGE = "message received"
    ANSWER = "answer of the player"
    SEAT = "connection"
    CLOCK = "clock"
    INVALID = "invalid"
    CLOSED = "closed"
    FAILED = "failed"
    FAULT = "several faults"


class LineRole(StrEnum):
    """What a line of text says, and so how it is set."""

    LOOP = "loop"
    NAME = "name"
    CALL = "call"
    EVENT = "event"
    GUARD = "guard"
    SEND = "send"
    DROP = "drop"
    LET = "let"
    WAIT = "wait"
    COUNT = "count"  # how often, in a picture of runs
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a label before it is wrapped; ``kind`` colours an EVENT."""

    voice: LineRole
    text: str
    kind: Kind = Kind.PASS


@dataclass(frozen=True, slots=True)
class Label:
    """The lines of a branch, or of several that do the same; ``detail`` is what only the tooltip says, a line each."""

    lines: tuple[Line, ...]
    detail: tuple[str, ...]
    places: tuple[Place, ...]


NodeKind = Literal["start", "state", "choice", "junction", "end", "jump", "always"]


@dataclass(frozen=True, slots=True)
class Node:
    """A mark or a box.

    ``name`` is unique in its flow, among nodes of any kind. ``lines`` are the box's text, ``inside`` the branches
    that keep the state. ``calls`` is the machine that runs there. A jump's line is the name of the state it stands for.
    """

    name: str
    kind: NodeKind
    place: Place
    lines: tuple[Line, ...] = ()
    inside: tuple[Label, ...] = ()
    detail: tuple[str, ...] = ()
    calls: str | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """All branches of one kind that lead from one node to another."""

    source: str
    target: str
    kind: Kind
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class StateDiagram:
    """A machine's nodes and arrows, in the order of the file, and the machines of its role that run it.

    ``under`` has pairs of nodes: of the parts of a wide chart, the second stands under the first.
    """

    machine: Machine
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    callers: tuple[str, ...]
    under: tuple[tuple[str, str], ...] = ()


def backward(drawn: StateDiagram) -> frozenset[int]:
    """Return the indices of the arrows that lead back to a node on the way to their source, loops included.

    Found by the same depth-first walk by which Graphviz decides which arrows run upwards.
    """
    onward: dict[str, list[tuple[int, str]]] = {}
    for index, arrow in enumerate(drawn.arrows):
        onward.setdefault(arrow.source, []).append((index, arrow.target))
    back: set[int] = set()
    done: set[str] = set()
    for node in drawn.nodes:
        # An explicit stack: a machine of a thousand states in a row is deeper than Python's own allows.
        way = [(node.name, iter(onward.get(node.name, ())))] if node.name not in done else []
        done.add(node.name)
        while way:
            step = next(way[-1][1], None)
            if step is None:
                way.pop()
            elif any(step[1] == name for name, _ in way):
                back.add(step[0])
            elif step[1] not in done:
                done.add(step[1])
                way.append((step[1], iter(onward.get(step[1], ()))))
    return frozenset(back)


def untangled(drawn: StateDiagram) -> StateDiagram:
    """Return the flow with marks beside their sources in place of arrows that would only cross the picture.

    Where many arrows meet at one end, each source gets an end mark of its own. Where many meet at one state, or the
    machine is large and the state is far off in the file, a jump mark stands for the state. A hundred states with an
    arrow each to the same end take Graphviz minutes; with marks of their own, 0.3 s.
    """
    nodes = {node.name: node for node in drawn.nodes}
    order = {name: index for index, name in enumerate(drawn.machine.states)}
    sources: dict[str, dict[str, None]] = {}
    for arrow in drawn.arrows:
        sources.setdefault(arrow.target, {})[arrow.source] = None
    marks: dict[tuple[str, str], Node] = {}
    for target, froms in sources.items():
        for number, source in enumerate(froms, 1):
            if nodes[target].kind == "end":
                if len(froms) > SOURCES_OF_AN_END_MAX:
                    marks[source, target] = replace(nodes[target], name=f"{target}_{number}")
            elif source in order and target in order:
                steps = abs(order[source] - order[target])
                hub = len(froms) > SOURCES_OF_A_STATE_MAX and steps > STEPS_TO_A_HUB_MAX
                if hub or (len(order) > STATES_OF_A_SMALL_MACHINE_MAX and steps > STEPS_MAX):
                    name = f".jump{order[target] + 1}_{number}"
                    marks[source, target] = Node(name, "jump", nodes[target].place, (Line(LineRole.NAME, target),))
    arrows = tuple(
        replace(arrow, target=marks[arrow.source, arrow.target].name)
        if (arrow.source, arrow.target) in marks
        else arrow
        for arrow in drawn.arrows
    )
    reached = {arrow.target for arrow in arrows}
    kept = (node for node in drawn.nodes if node.kind != "end" or node.name in reached)
    return replace(drawn, nodes=(*kept, *marks.values()), arrows=arrows)

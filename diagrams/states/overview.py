"""One picture of a whole role: each of its machines a frame, and dashed arrows from the states that call to it.

    ┌ main ───────────────┐
    │ ● ▶ start_up ▶ …  ◉ │        what a state does, guards, limits: in the machine's own picture, one click away
    └───────┊─────────────┘
            ▽ calls
    ┌ join(peer) ─────────┐
    │ ● ▶ named ─JOIN▶ ◉  │
    └─────────────────────┘

An arrow names the events that lead along it and the messages sent on it, and nothing else. Arrows that join the same
two marks are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import graphviz

from diagrams.rendering.labels import attribute, cell, distinct, stem, wrap
from diagrams.rendering.style import BAND, BOX, BOX_CALL, INK, QUIET, SIZE, SIZE_SMALL
from diagrams.states.builder import callers, flow, starters
from diagrams.states.dot import EDGE, GRAPH, LINE_PORT, NODE, beside_line, where
from diagrams.states.looks import LOOKS, SETTING
from diagrams.states.model import Arrow, Kind, LineRole, Node, StateDiagram, backward
from machines.model import Spec

NAME_CHARACTERS = 32
ARROW_CHARACTERS = 36
LINES_MAX = 2
CALL_RANKS = "2"  # a frame called stands this much lower: with 1, frames crowd beside each other, half as wide again
SPACING = {"ranksep": "0.35", "nodesep": "0.25", "compound": "true"}
EVENTS_MAX = 4  # lines at one arrow; the machine's own picture has them all


def overview_dot(spec: Spec, role: str, links: Mapping[str, str]) -> str:
    """Return the overview of a role as DOT; ``links`` gives the file name without ending of each machine's picture.

    Raises:
        KeyError: the spec has no such role.
    """
    return _Overview(spec, role, links).write()


@dataclass(slots=True)
class _Overview:
    spec: Spec
    role: str
    links: Mapping[str, str]
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def write(self) -> str:
        role = self.spec.roles[self.role]
        flows = [flow(self.spec, self.role, machine) for machine in role.machines]
        keys = [(drawn.machine.name, node.name) for drawn in flows for node in drawn.nodes]
        identities = distinct([stem(machine, node.lstrip(".")) for machine, node in keys])
        self.names = dict(zip(keys, identities, strict=True))
        graph = graphviz.Digraph(graph_attr=GRAPH | SPACING, node_attr=NODE, edge_attr=EDGE)
        graph.attr(label=self._heading(), tooltip=attribute(where(role.place)))
        for index, drawn in enumerate(flows):
            self._machine(graph, drawn, index)
        for index, drawn in enumerate(flows):
            runs = [(caller, state.name, "runs") for caller, state in callers(self.spec, drawn.machine)]
            runs += [
                (caller, state.name if state is not None else ".always", "starts")
                for caller, state in starters(self.spec, drawn.machine)
            ]
            for caller, state_name, does in runs:
                source, target = self.names[caller.name, state_name], self.names[drawn.machine.name, ".start"]
                said = attribute(f"{state_name.lstrip('.')} {does} {drawn.machine.name}")
                looks = {"style": "dashed", "color": QUIET, "arrowhead": "empty", "lhead": f"cluster_{index}"}
                graph.edge(source, target, tooltip=said, minlen=CALL_RANKS, **looks)
        return str(graph.source)

    def _heading(self) -> str:
        small = f'<FONT POINT-SIZE="{SIZE_SMALL:g}" COLOR="{QUIET}">'
        rows = [
            f"{small}{cell(self.spec.protocol)}</FONT>",
            f'<B><FONT POINT-SIZE="{SIZE + 4:g}">{cell(wrap(self.role, 44, 1)[0])}</FONT></B>',
            f"{small}? received · ! sent · dashed to a frame: runs that machine</FONT>",
        ]
        body = "".join(f'<TR><TD ALIGN="LEFT">{row}</TD></TR>' for row in rows)
        return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{body}</TABLE>>'

    def _machine(self, graph: graphviz.Digraph, drawn: StateDiagram, index: int) -> None:
        machine = drawn.machine
        title = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
        lines = "<BR/>".join(cell(line) for line in wrap(title, 40, LINES_MAX))
        link = self.links.get(machine.name)
        more = {"URL": f"{link}.svg"} if link is not None else {}
        with graph.subgraph(name=f"cluster_{index}") as frame:
            frame.attr(
                label=f"<<B>{lines}</B>>", style="rounded", color=QUIET, bgcolor="#fcfdff", margin="10",
                tooltip=attribute(where(machine.place)), **more,
            )  # fmt: skip
            for node in drawn.nodes:
                self._node(frame, drawn, node)
            # A mark of its own for what merges: Graphviz draws two arrows between the same marks one over the other.
            if machine.always is not None:
                with frame.subgraph() as row:
                    row.attr(rank="same")
                    row.node(self.names[machine.name, ".start"])
                    row.node(self.names[machine.name, ".always"])
            for upper, lower in drawn.under:
                names = self.names[machine.name, upper], self.names[machine.name, lower]
                frame.edge(*names, style="invis", weight="0")
            merged: dict[tuple[str, str], list[Arrow]] = {}
            returns = {(drawn.arrows[place].source, drawn.arrows[place].target) for place in backward(drawn)}
            for arrow in drawn.arrows:
                merged.setdefault((arrow.source, arrow.target), []).append(arrow)
            for number, (ends, arrows) in enumerate(merged.items()):
                source, target = (self.names[machine.name, end] for end in ends)
                self._arrow(frame, source, target, arrows, f"arrow{index}_{number}", back=ends in returns)

    def _node(self, frame: graphviz.Digraph, drawn: StateDiagram, node: Node) -> None:
        identity = self.names[drawn.machine.name, node.name]
        tip = attribute("\n".join((where(node.place), *(line.text for line in node.lines))))
        match node.kind:
            case "start":
                looks = {"shape": "circle", "style": "filled", "fillcolor": INK, "fixedsize": "true", "width": "0.14"}
                frame.node(identity, "", tooltip=tip, **looks)
            case "junction":
                looks = {"shape": "diamond", "style": "filled", "fillcolor": BAND, "fixedsize": "true"}
                frame.node(identity, "", tooltip=tip, width="0.2", height="0.2", **looks)
            case "end":
                looks = {"shape": "doublecircle", "style": "filled", "fillcolor": INK, "fixedsize": "true"}
                frame.node(identity, "", tooltip=tip, width="0.12", **looks)
            case "choice":
                frame.node(identity, self._label(node), tooltip=tip, shape="hexagon", style="filled", fillcolor=BAND)
            case "jump":
                frame.node(identity, self._label(node, "▸ "), tooltip=tip, shape="box", style="dashed,rounded")
            case "always":
                frame.node(identity, self._label(node), tooltip=tip, shape="box", style="dashed")
            case "state":
                ground = BOX_CALL if node.calls is not None else BOX
                style = "filled" if node.calls is not None else "filled,rounded"
                frame.node(identity, self._label(node), tooltip=tip, shape="box", style=style, fillcolor=ground)

    def _label(self, node: Node, mark: str = "") -> str:
        name = next((line.text for line in node.lines if line.voice in (LineRole.NAME, LineRole.CALL)), "")
        rows = [f"<B>{cell(line)}</B>" for line in wrap(mark + name, NAME_CHARACTERS, LINES_MAX)]
        asks = [line.text for line in node.lines if line.voice is LineRole.CALL and line.text.startswith("ask ")]
        sends = [line.text for line in node.lines if line.voice in (LineRole.SEND, LineRole.DROP)]
        colour = SETTING[LineRole.SEND][0]
        for text in (*sends, *asks):
            short = text.partition(" →")[0].partition("(")[0]
            ink = colour if text.startswith("! ") else INK
            rows.append(
                f'<FONT POINT-SIZE="{SIZE_SMALL:g}" COLOR="{ink}">{cell(wrap(short, NAME_CHARACTERS, 1)[0])}</FONT>'
            )
        body = "".join(f"<TR><TD>{row or '&#160;'}</TD></TR>" for row in rows)
        return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{body}</TABLE>>'

    def _arrow(
        self, frame: graphviz.Digraph, source: str, target: str, arrows: list[Arrow], name: str, *, back: bool
    ) -> None:
        """Draw an arrow through its text, a node, which stays in the frame: see ``states``."""
        strongest = next((arrow.kind for arrow in arrows if arrow.kind is not Kind.PASS), Kind.PASS)
        look = LOOKS[strongest]
        pieces = list(dict.fromkeys(self._said(arrows)))
        more = len(pieces) - EVENTS_MAX
        shown = pieces if more <= 0 else [*pieces[: EVENTS_MAX - 1], (QUIET, f"… and {more + 1} more")]
        rows = [
            f'<FONT POINT-SIZE="{SIZE_SMALL:g}" COLOR="{colour}">{cell(line)}</FONT>'
            for colour, text in shown
            for line in wrap(text, ARROW_CHARACTERS, LINES_MAX)
        ]
        tip = attribute("\n".join(dict.fromkeys(
            line.text for arrow in arrows for said in arrow.labels for line in said.lines
        )))  # fmt: skip
        line = {"color": look.colour, "style": look.style, "penwidth": f"{look.width:g}", "tooltip": tip}
        line |= {"dir": "both", "edgetooltip": tip}
        upper, lower = (target, source) if back else (source, target)
        begins, finishes = ("normal", "none") if back else ("none", "normal")
        if not rows:
            frame.edge(upper, lower, arrowtail=begins, arrowhead=finishes, **line)
            return
        body = "".join(f'<TR><TD ALIGN="LEFT">{row}</TD></TR>' for row in rows)
        table = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{body}</TABLE>'
        frame.node(name, beside_line(look, table), tooltip=tip)
        frame.edge(upper, f"{name}:{LINE_PORT}:n", arrowtail=begins, arrowhead="none", **line)
        frame.edge(f"{name}:{LINE_PORT}:s", lower, arrowtail="none", arrowhead=finishes, **line)

    def _said(self, arrows: list[Arrow]) -> Iterator[tuple[str, str]]:
        """The events of some arrows, and the messages sent along them, each with its colour."""
        for arrow in arrows:
            for label in arrow.labels:
                for line in label.lines:
                    if line.voice is LineRole.EVENT:
                        yield LOOKS[arrow.kind].colour, line.text
                    elif line.voice in (LineRole.SEND, LineRole.DROP):
                        yield SETTING[line.voice][0], line.text.partition(" →")[0].partition("(")[0]

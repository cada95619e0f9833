"""Scenarios as DOT with every place given, for Graphviz's ``neato -n2``: it draws, it lays nothing out.

    ● head    │ lifeline    ──▶ sent, by whose drawing it is    ══▶ received    ┄▷ connects
    ▭ loop, alt, par, ref   ┄ the next alternative   ▢ what a role does by itself

Main course and cases stand below each other in one picture, each with its own heads; in columns, if they are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import graphviz

from diagrams.rendering.font_metrics import width
from diagrams.rendering.labels import attribute, cell, wrap
from diagrams.rendering.style import (
    BAND,
    BOX,
    BOX_CALL,
    BROKEN,
    FONTS,
    INK,
    LATE,
    PAPER,
    QUIET,
    RECEIVED,
    SENT,
    SIZE,
    SIZE_SMALL,
    WRONG,
)
from diagrams.sequences.layout import Box, Layout, Note, Ruler, lay_out
from diagrams.sequences.model import Fragment, Frame, Message, Scenario, Tone
from machines.problems import Place

TITLE_CHARACTERS: Final = 72
TITLE_LINES_MAX: Final = 4
POINTS: Final = 72.0
RULER: Final = Ruler(
    width=lambda text: width(text, SIZE, bold=True),
    line=14,
    above=17,
    gap=9,
    pad=8,
    inset=10,
    lane=110,
    head=24,
    note=3,
    arrow=14,
)
BLOCK_GAP: Final = 34
TITLE: Final = 20
HEIGHT: Final = 1500.0  # of a column, but for cases that are higher: two screens
WIDTH_MAX: Final = 1480.0  # of all columns: 2,000 pixels

GRAPH = {
    "charset": "utf-8",
    "fontname": FONTS,
    "bgcolor": PAPER,
    "pad": "0.15",
    "splines": "line",
    "outputorder": "edgesfirst",
    "layout": "nop2",
}
NODE = {"fontname": FONTS, "fontsize": str(SIZE), "fontcolor": INK, "shape": "plain", "margin": "0"}
EDGE = {"fontname": FONTS, "arrowsize": "0.8", "color": INK}

TONES: Final = {
    Tone.PLAIN: (INK, PAPER, "solid"),
    Tone.STATE: (INK, BAND, "solid"),
    Tone.LOCAL: (INK, BOX, "solid"),
    Tone.CLOCK: (LATE, PAPER, "dashed"),
    Tone.WRONG: (WRONG, PAPER, "dotted"),
    Tone.LOST: (BROKEN, PAPER, "dashed"),
    Tone.END: (INK, PAPER, "bold"),
}


@dataclass(frozen=True, slots=True)
class _Block:
    """The main course or a case, with the lines of its title in their size."""

    title: Sequence[str]
    size: float
    layout: Layout
    place: Place | None = None

    @property
    def width(self) -> float:
        return max(self.layout.width, *(width(line, self.size, bold=True) for line in self.title))

    @property
    def height(self) -> float:
        return len(self.title) * TITLE + self.layout.height + BLOCK_GAP


def _columns(blocks: Sequence[_Block]) -> list[list[_Block]]:
    """Return the blocks in columns, in their order: as many as a screen is wide, if one would be too high."""
    wide = max(block.width for block in blocks) + BLOCK_GAP
    whole = sum(block.height for block in blocks)
    most = max(1, int(WIDTH_MAX // wide))
    high = max(HEIGHT, whole / most, *(block.height for block in blocks))
    columns: list[list[_Block]] = [[]]
    for block in blocks:
        if columns[-1] and sum(one.height for one in (*columns[-1], block)) > high and len(columns) < most:
            columns.append([])
        columns[-1].append(block)
    return columns


def scenario_dot(scenario: Scenario, links: Mapping[str, str]) -> str:
    """Return a scenario with its cases as DOT; ``links`` gives the picture, without ending, of each machine called."""
    return _Writer(scenario, links).write()


class _Writer:
    def __init__(self, scenario: Scenario, links: Mapping[str, str]) -> None:
        self.scenario = scenario
        self.links = links
        self.graph = graphviz.Digraph(graph_attr=GRAPH, node_attr=NODE, edge_attr=EDGE)
        self.count = 0
        self.top = self.left = 0.0

    def write(self) -> str:
        scenario = self.scenario
        where = f"{scenario.protocol} · {scenario.own}" if scenario.own else scenario.protocol
        self._left(0, f'<FONT POINT-SIZE="{SIZE_SMALL}" COLOR="{QUIET}">{cell(where)}</FONT>', width(where, SIZE_SMALL))
        first = self.top = TITLE - 4.0
        columns = _columns([*self._blocks()])
        for column in columns:
            self.top = first
            for block in column:
                self.top += BLOCK_GAP if self.top > first else 0
                self._title(block)
                self._block(block.layout)
            self.left += max(block.width for block in column) + BLOCK_GAP
        return str(self.graph.source)

    def _blocks(self) -> Iterator[_Block]:
        scenario = self.scenario
        lines = wrap(scenario.title, TITLE_CHARACTERS, TITLE_LINES_MAX)
        yield _Block(lines, SIZE + 4, lay_out(scenario.lifelines, scenario.elements, RULER), scenario.place)
        for case in scenario.cases:
            lines = wrap(f"case: {case.title}", TITLE_CHARACTERS, TITLE_LINES_MAX)
            yield _Block(lines, SIZE + 1, lay_out(scenario.lifelines, case.elements, RULER))

    # -- texts ---------------------------------------------------------------------------------------------------------

    def _title(self, block: _Block) -> None:
        for line in block.title:
            font = f'<B><FONT POINT-SIZE="{block.size}">{cell(line)}</FONT></B>'
            self._left(0, font, width(line, block.size, bold=True), _where(block.place))
            self.top += TITLE

    def _left(self, x: float, html: str, points: float, tooltip: str = "") -> None:
        """A text that begins at x: Graphviz centres, so it stands in a table as wide as it could get."""
        wide = max(1, round(points))
        self._node(x + wide / 2, self.top, label=_cell(html, wide), tooltip=tooltip)

    def _node(self, x: float, y: float, *, label: str, name: str = "", tooltip: str = "", **looks: str) -> str:
        self.count += 1
        name = name or f"n{self.count}"
        self.graph.node(name, label, pos=f"{x + self.left:.1f},{-y:.1f}!", tooltip=attribute(tooltip) or " ", **looks)
        return name

    def _point(self, x: float, y: float) -> str:
        return self._node(x, y, label="", shape="point", width="0.01", height="0.01", style="invis")

    # -- a block -------------------------------------------------------------------------------------------------------

    def _block(self, layout: Layout) -> None:
        top = self.top
        # Boxes first: what stands in them is drawn over them.
        for box in layout.boxes:
            self._box(box, top)
        for lane, x in layout.lanes.items():
            ends = self._point(x, top + RULER.head), self._point(x, top + layout.height)
            self.graph.edge(
                *ends, color=QUIET, style="solid", arrowhead="none", penwidth="0.8", tooltip=attribute(lane)
            )
            wide = RULER.width(lane) + 2 * RULER.pad
            label = f"<<B>{cell(lane)}</B>>"
            self._shape(x, top + RULER.head / 2, wide, RULER.head, label, fillcolor=BAND, style="filled,rounded")
        for rule in layout.rules:
            if rule.drawn:
                ends = self._point(rule.left, top + rule.y), self._point(rule.right, top + rule.y)
                self.graph.edge(*ends, color=QUIET, style="dashed", arrowhead="none", penwidth="0.8")
            self._lines(rule.left + RULER.pad, top + rule.y + RULER.note, rule.lines)
        for arrow in layout.arrows:
            self._arrow(arrow.start, arrow.end, top + arrow.y, arrow.text, arrow.message)
        for note in layout.notes:
            self._note(note, top)
        self.top = top + layout.height

    def _shape(self, x: float, y: float, width: float, height: float, label: str, **looks: str) -> None:
        size = {"width": f"{width / POINTS:.3f}", "height": f"{height / POINTS:.3f}", "fixedsize": "true"}
        looks = {"shape": "box", "color": INK, "penwidth": "0.8", "tooltip": " ", **looks}
        self.count += 1
        self.graph.node(f"n{self.count}", label, pos=f"{x + self.left:.1f},{-y:.1f}!", **size, **looks)

    def _arrow(self, start: float, end: float, y: float, text: str, message: Message) -> None:
        colour = INK
        if message.source == self.scenario.own:
            colour = SENT
        elif message.target == self.scenario.own:
            colour = RECEIVED
        colour = {Tone.WRONG: WRONG, Tone.LOST: BROKEN, Tone.CLOCK: LATE}.get(message.tone, colour)
        connects = message.tone is Tone.LOCAL
        ends = self._point(start, y), self._point(end, y)
        tooltip = "\n".join(part for part in (_where(message.place), message.detail) if part)
        self.graph.edge(
            *ends,
            color=INK if connects else colour,
            style="dashed" if connects else "solid",
            arrowhead="vee" if connects else "normal",
            penwidth="1" if connects else "1.6",
            tooltip=attribute(tooltip),
        )
        name, _, to = text.partition(" ") if message.to and not message.time else (text, "", "")
        html = f'<B><FONT COLOR="{INK if connects else colour}">{cell(name)}</FONT></B>'
        if to:
            html += f'<FONT COLOR="{QUIET}" POINT-SIZE="{SIZE_SMALL}"> {cell(to)}</FONT>'
        wide = RULER.width(text)
        # Paper behind the text, so that a lifeline it crosses does not strike it out.
        self._shape(
            (start + end) / 2, y - RULER.above / 2 - 1, wide, RULER.line, f"<{html}>", style="filled",
            fillcolor=PAPER, penwidth="0", tooltip=attribute(tooltip) or " ",
        )  # fmt: skip

    def _note(self, note: Note, top: float) -> None:
        colour, paper, style = TONES[note.remark.tone]
        weight = note.remark.tone in (Tone.STATE, Tone.END)
        rows = [cell(line) for line in note.lines]
        text = "<BR/>".join(f"<B>{row}</B>" if weight else row for row in rows)
        html = f'<<FONT COLOR="{colour}" POINT-SIZE="{SIZE if weight else SIZE_SMALL + 0.5}">{text}</FONT>>'
        self._shape(
            note.x, top + note.y, note.width, note.height - 2, html, style=f"filled,{style}",
            fillcolor=paper, color=colour if style != "solid" else QUIET, penwidth="0.6" if style == "solid" else "1",
            tooltip=attribute(_where(note.remark.place)) or " ",
        )  # fmt: skip

    def _box(self, box: Box, top: float) -> None:
        fragment = box.fragment
        across, height = box.right - box.left, box.bottom - box.top
        reference = fragment.frame is Frame.REF
        # A ground hides arrows and lifelines, which lie below: only a call that holds nothing has one.
        folded = reference and not fragment.operands
        looks = {"style": "filled", "fillcolor": BOX_CALL} if folded else {"style": "solid"}
        looks |= {"color": INK if reference else QUIET}
        link = self.links.get(fragment.link or "")
        if link is not None:
            looks["URL"] = f"{link}.svg"
        looks["tooltip"] = attribute(_where(fragment.place)) or " "
        self._shape((box.left + box.right) / 2, top + (box.top + box.bottom) / 2, across, height, "", **looks)
        tab = RULER.width(fragment.frame.value) + RULER.pad
        bar = RULER.line + 2
        self._shape(
            box.left + tab / 2, top + box.top + bar / 2, tab, bar, f"<<B>{fragment.frame.value}</B>>", style="filled",
            fillcolor=BAND, color=QUIET,
        )  # fmt: skip
        self._lines(box.left + tab + RULER.pad, top + box.top + RULER.note - 2, box.lines, fragment)

    def _lines(self, x: float, y: float, lines: tuple[str, ...], fragment: Fragment | None = None) -> None:
        for number, line in enumerate(lines):
            if not line:
                continue
            reference = fragment is not None and fragment.frame is Frame.REF
            wide = width(line, SIZE_SMALL + 0.5, bold=reference)
            html = f'<FONT POINT-SIZE="{SIZE_SMALL + 0.5}">{cell(line)}</FONT>'
            if reference:
                html = f"<B>{html}</B>"
            middle = y + number * RULER.line + RULER.line / 2
            self._node(
                x + wide / 2,
                middle,
                label=_cell(html, round(wide), paper=not reference),
            )


def _cell(html: str, width: int, *, paper: bool = False) -> str:
    ground = f' BGCOLOR="{PAPER}"' if paper else ""
    return (
        f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" WIDTH="{width}"{ground}>'
        f'<TR><TD ALIGN="LEFT">{html}</TD></TR></TABLE>>'
    )


def _where(place: Place | None) -> str:
    return "" if place is None else f"{PurePath(place.file).name}:{place.line}"

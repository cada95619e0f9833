"""Rows and columns of a scenario: where each line, box and text stands, in points or in characters.

x grows to the right, y downwards; a Ruler says how wide a text is and how much room things need

╭ server ╮          ╭ client ╮        heads
    │──── STARTED ─────▶│             an arrow
    │                   │
┌ loop ── until over ───────┐         a box; boxes lie inside each other
│   │                   │   │
└───────────────────────────┘
    │  ╭ decides … ╮    │             a note stands on its own lifeline
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from diagrams.rendering.labels import grouped, shorten, visible
from diagrams.sequences.model import Element, Fragment, Frame, Message, Operand, Remark, walk

LABEL_CHARACTERS_MAX = 60  # of an arrow's text, which is not wrapped
NOTE_CHARACTERS = 40
HEADING_CHARACTERS = 64
LINES_MAX = 6


@dataclass(frozen=True, slots=True)
class Ruler:
    """What a text and the things round it take; all in the units of the drawing.

    ``above`` is the room over an arrow for its text, 0 if the text stands in the arrow itself. ``tab`` is the width
    of a box's tab with a word of so many characters.
    """

    width: Callable[[str], float]
    line: float
    above: float
    gap: float  # under an arrow, a note or a box
    pad: float  # beside a text, inside of what it stands in
    inset: float  # of a box in a box
    lane: float  # least distance of two lifelines
    head: float  # height of a lifeline's head
    note: float  # room over and under a note's lines, inside of its frame
    arrow: float  # room beside an arrow's text for its line and tip


@dataclass(frozen=True, slots=True)
class Arrow:
    """A message from x ``start`` to x ``end`` at height y."""

    start: float
    end: float
    y: float
    text: str
    message: Message


@dataclass(frozen=True, slots=True)
class Note:
    """A remark in its frame, centred at (x, y)."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    remark: Remark


@dataclass(frozen=True, slots=True)
class Box:
    """A fragment's frame; ``lines`` are its heading, beside the tab."""

    left: float
    top: float
    right: float
    bottom: float
    lines: tuple[str, ...]
    fragment: Fragment


@dataclass(frozen=True, slots=True)
class Rule:
    """The line over an operand with its guard; ``drawn`` is false for the first, which needs none."""

    left: float
    right: float
    y: float
    lines: tuple[str, ...]
    drawn: bool


@dataclass(slots=True)
class Layout:
    """All that is drawn. ``lanes`` gives each lifeline's x; heads stand at y 0 to ``Ruler.head``."""

    lanes: dict[str, float] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    width: float = 0
    height: float = 0


def said(message: Message) -> str:
    """Return what stands at a message's arrow."""
    text = f"{message.time}  {message.text}" if message.time else message.text
    return shorten(visible(f"{text} {message.to}" if message.to else text), LABEL_CHARACTERS_MAX)


def noted(remark: Remark) -> tuple[str, ...]:
    """Return the lines of a remark."""
    text = f"{remark.time}  {remark.text}" if remark.time else remark.text
    return _wrapped(text, NOTE_CHARACTERS)


def lay_out(lifelines: Iterable[str], elements: tuple[Element, ...], ruler: Ruler) -> Layout:
    """Return the places of everything."""
    return _Layouter(tuple(lifelines), elements, ruler).lay_out()


def _wrapped(text: str, width: int) -> tuple[str, ...]:
    lines = textwrap.wrap(grouped(visible(text)), width, break_on_hyphens=False) or [""]
    if len(lines) > LINES_MAX:
        lines = [*lines[: LINES_MAX - 1], shorten(lines[LINES_MAX - 1], width - 1).rstrip("…") + "…"]
    return tuple(line.replace("\N{NO-BREAK SPACE}", " ") for line in lines)


class _Layouter:
    def __init__(self, lifelines: tuple[str, ...], elements: tuple[Element, ...], ruler: Ruler) -> None:
        self.lifelines = lifelines
        self.elements = elements
        self.ruler = ruler
        self.made = Layout()
        self.deepest = _depth(elements)
        self.y = 0.0

    def lay_out(self) -> Layout:
        made, ruler = self.made, self.ruler
        self._columns()
        self.y = ruler.head + ruler.gap
        self._rows(self.elements, 0)
        made.height = self.y
        return made

    # -- columns -------------------------------------------------------------------------------------------------------

    def _columns(self) -> None:
        ruler, names = self.ruler, self.lifelines
        index = {name: place for place, name in enumerate(names)}
        sides = [(ruler.width(visible(name)) / 2 + ruler.pad) for name in names]
        spans: list[tuple[int, int, float]] = []
        widest = 0.0
        for element in walk(self.elements):
            match element:
                case Message():
                    ends = sorted((index[element.source], index[element.target]))
                    spans.append((ends[0], ends[1], ruler.width(said(element)) + 2 * ruler.arrow))
                case Remark():
                    side = max(map(ruler.width, noted(element))) / 2 + ruler.pad
                    sides[index[element.lifeline]] = max(sides[index[element.lifeline]], side)
                case Fragment():
                    headings = [*self._heading(element), *(operand.guard for operand in element.operands)]
                    room = max(
                        ruler.width(line) for heading in headings for line in _wrapped(heading, HEADING_CHARACTERS)
                    )
                    widest = max(widest, room + ruler.width("loop") + 4 * ruler.pad)
        # A note may reach to its neighbour's lifeline but not over it; two notes never stand in one row.
        heads = [ruler.width(visible(name)) / 2 + ruler.pad / 2 for name in names]
        gaps = [
            max(ruler.lane, sides[place], sides[place + 1], heads[place] + heads[place + 1]) + ruler.pad
            for place in range(len(names) - 1)
        ]
        for first, last, room in sorted(spans, key=lambda span: span[1] - span[0]):
            lack = room - sum(gaps[first:last])
            if lack > 0:
                for place in range(first, last):
                    gaps[place] += lack / (last - first)
        x = self.deepest * ruler.inset + sides[0] + ruler.pad
        for place, name in enumerate(names):
            self.made.lanes[name] = x
            x += gaps[place] if place < len(gaps) else 0
        self.made.width = x + sides[-1] + ruler.pad + self.deepest * ruler.inset
        lack = widest + 2 * self.deepest * ruler.inset - self.made.width
        self.made.width += max(lack, 0)

    def _heading(self, fragment: Fragment) -> tuple[str, ...]:
        """The text beside a box's tab: its heading, or if it has none the guard of its first operand."""
        first = fragment.operands[0].guard if fragment.operands else ""
        return _wrapped(fragment.heading or (f"[{first}]" if first else ""), HEADING_CHARACTERS)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _rows(self, elements: tuple[Element, ...], depth: int) -> None:
        made, ruler = self.made, self.ruler
        for element in elements:
            match element:
                case Message():
                    self.y += ruler.above
                    ends = made.lanes[element.source], made.lanes[element.target]
                    made.arrows.append(Arrow(*ends, self.y, said(element), element))
                    self.y += ruler.gap
                case Remark():
                    lines = noted(element)
                    height = len(lines) * ruler.line + 2 * ruler.note
                    width = max(map(ruler.width, lines)) + 2 * ruler.pad
                    x = made.lanes[element.lifeline]
                    made.notes.append(Note(x, self.y + (height - ruler.gap) / 2, width, height, lines, element))
                    self.y += height
                case Fragment():
                    self._box(element, depth)

    def _box(self, fragment: Fragment, depth: int) -> None:
        made, ruler = self.made, self.ruler
        left, right = depth * ruler.inset, made.width - depth * ruler.inset
        top = self.y
        place = len(made.boxes)
        heading = self._heading(fragment)
        self.y += len(heading) * ruler.line + 2 * ruler.note + (ruler.gap if fragment.operands else 0)
        for number, operand in enumerate(fragment.operands):
            if number or fragment.heading:
                self._operand(operand, left, right, number)
            self._rows(operand.elements, depth + 1)
        made.boxes.insert(place, Box(left, top, right, self.y, heading, fragment))
        self.y += ruler.gap + ruler.note

    def _operand(self, operand: Operand, left: float, right: float, number: int) -> None:
        ruler = self.ruler
        if not operand.guard and not number:
            return
        lines = _wrapped(f"[{operand.guard}]", HEADING_CHARACTERS) if operand.guard else ("",)
        self.made.rules.append(Rule(left, right, self.y, lines, drawn=number > 0))
        self.y += len(lines) * ruler.line + ruler.note + ruler.gap


def _depth(elements: tuple[Element, ...]) -> int:
    """How many boxes lie inside each other at most."""
    return max(
        (
            1 + max((_depth(operand.elements) for operand in element.operands), default=0)
            for element in elements
            if isinstance(element, Fragment)
        ),
        default=0,
    )


__all__ = ["Arrow", "Box", "Frame", "Layout", "Note", "Rule", "Ruler", "lay_out", "noted", "said"]

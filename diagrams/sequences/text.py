"""Scenarios as text, in the manner of protocol documents: for a README, a comment, a terminal.

    server                    client
      |                         |
   [asked]                      |
      |-- INIT_REQ to player -->|
      |                 (decides: initial(board, hand, token))
      |<-- INIT_PLACE ----------|
+-- loop -- until over ------------------+
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from diagrams.rendering.labels import visible
from diagrams.sequences.layout import Arrow, Box, Layout, Note, Rule, Ruler, lay_out
from diagrams.sequences.model import Scenario, Tone

RULER: Final = Ruler(width=len, line=1, above=0, gap=1, pad=1, inset=2, lane=12, head=1, note=0, arrow=4)
MARKS: Final = {
    Tone.PLAIN: ("", ""),
    Tone.STATE: ("[", "]"),
    Tone.LOCAL: ("(", ")"),
    Tone.CLOCK: ("~", "~"),
    Tone.WRONG: ("!", "!"),
    Tone.LOST: ("x ", " x"),
    Tone.END: ("=", "="),
}
ASCII: Final = str.maketrans(
    {"↺": "~", "→": ">", "…": "~", "·": "-", "✗": "x"}
)  # each by one character, so nothing moves


def scenario_chart(scenario: Scenario) -> str:
    """Return a scenario and its cases as lines of plain text, no line with blanks at its end."""
    return "\n".join(_lines(scenario)).translate(ASCII) + "\n"


def _lines(scenario: Scenario) -> Iterator[str]:
    yield visible(f"{scenario.own}: {scenario.title}" if scenario.own else scenario.title)
    yield ""
    yield from _block(lay_out(scenario.lifelines, scenario.elements, RULER))
    for case in scenario.cases:
        yield ""
        yield visible(f"case: {case.title}")
        yield ""
        yield from _block(lay_out(scenario.lifelines, case.elements, RULER))


def _block(layout: Layout) -> Iterator[str]:
    canvas = _Canvas(layout)
    return canvas.rows()


class _Canvas:
    """A grid of characters; the layout's rows are its rows, and its columns its columns, rounded."""

    def __init__(self, layout: Layout) -> None:
        self.width = round(layout.width) + 2
        self.grid = [[" "] * self.width for _ in range(round(layout.height) + 1)]
        for name, x in layout.lanes.items():
            for row in self.grid[1:]:
                row[round(x)] = "|"
            self.put(0, round(x - len(visible(name)) / 2), visible(name))
        for box in layout.boxes:
            self.box(box)
        for rule in layout.rules:
            self.rule(rule)
        for arrow in layout.arrows:
            self.arrow(arrow)
        for note in layout.notes:
            self.note(note)

    def rows(self) -> Iterator[str]:
        for row in self.grid:
            yield "".join(row).rstrip()

    def put(self, y: int, x: int, text: str) -> None:
        row = self.grid[y]
        x = max(x, 0)
        row += " " * (x + len(text) - len(row))
        row[x : x + len(text)] = text

    def box(self, box: Box) -> None:
        left, right, top, bottom = round(box.left), round(box.right), round(box.top), round(box.bottom)
        for y in range(top + 1, bottom):
            self.put(y, left, "|")
            self.put(y, right, "|")
        word = box.fragment.frame.value
        first = f"+-- {word} -- {box.lines[0]} " if box.lines[0] else f"+-- {word} "
        self.put(top, left, first.ljust(right - left, "-") + "+")
        for number, line in enumerate(box.lines[1:], 1):
            self.put(top + number, left + len(word) + 8, line)
        if box.fragment.operands:
            self.put(bottom, left, "+".ljust(right - left, "-") + "+")

    def rule(self, rule: Rule) -> None:
        left, right, y = round(rule.left), round(rule.right), round(rule.y)
        first = f"|. {rule.lines[0]} " if rule.lines[0] else "|"
        self.put(y, left, first.ljust(right - left, ".") + "|" if rule.drawn else first)
        for number, line in enumerate(rule.lines[1:], 1):
            self.put(y + number, left + 3, line)

    def arrow(self, arrow: Arrow) -> None:
        start, end, y = round(arrow.start), round(arrow.end), round(arrow.y)
        left, right = min(start, end) + 1, max(start, end) - 1
        line = "." if arrow.message.tone is Tone.LOCAL else "-"
        text = f" {arrow.text} ".center(right - left + 1, line)
        text = f"{text[:-1]}>" if end > start else f"<{text[1:]}"
        self.put(y, left, text)

    def note(self, note: Note) -> None:
        before, after = MARKS[note.remark.tone]
        top = round(note.y + (1 - len(note.lines)) / 2)
        for number, line in enumerate(note.lines):
            text = (
                f"{before if number == 0 else ' ' * len(before)}{line}{after if number == len(note.lines) - 1 else ''}"
            )
            self.put(top + number, round(note.x - len(text) / 2), text)

"""How the lines of a state diagram look: what tells one kind of arrow from another, in colour, in grey and in print.

Each kind differs in three ways at once: the mark in its text, the line, and the arrow's tail; colour comes on top.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagrams.rendering.style import BROKEN, INK, LATE, QUIET, RECEIVED, SENT, SIZE, SIZE_SMALL, WRONG
from diagrams.states.model import Kind, LineRole


@dataclass(frozen=True, slots=True)
class Look:
    """An arrow's colour, line style and width, and the mark at its tail, in Graphviz's words."""

    colour: str
    style: str
    width: float
    tail: str


LOOKS: dict[Kind, Look] = {
    Kind.START: Look(INK, "solid", 1.2, "none"),
    Kind.PASS: Look(INK, "solid", 1, "none"),
    Kind.MESSAGE: Look(RECEIVED, "solid", 2, "none"),
    Kind.ANSWER: Look(RECEIVED, "solid", 2, "dot"),
    Kind.SEAT: Look(INK, "solid", 2, "box"),
    Kind.CLOCK: Look(LATE, "dashed", 1.2, "odot"),
    Kind.INVALID: Look(WRONG, "dotted", 1.8, "oinv"),
    Kind.CLOSED: Look(BROKEN, "dashed", 1.2, "tee"),
    Kind.FAILED: Look(BROKEN, "dotted", 1.8, "teetee"),
    Kind.FAULT: Look(WRONG, "dashed", 1.8, "diamond"),
}

# Colour, weight and size of a line of text, by what it says.
SETTING: dict[LineRole, tuple[str, bool, float]] = {
    LineRole.LOOP: (INK, False, SIZE_SMALL),
    LineRole.NAME: (INK, True, SIZE + 1),
    LineRole.CALL: (INK, False, SIZE),
    LineRole.EVENT: (INK, True, SIZE),
    LineRole.GUARD: (INK, False, SIZE_SMALL),
    LineRole.SEND: (SENT, True, SIZE),
    LineRole.DROP: (BROKEN, True, SIZE),
    LineRole.LET: (QUIET, False, SIZE_SMALL),
    LineRole.WAIT: (INK, False, SIZE_SMALL),
    LineRole.NOTE: (QUIET, False, SIZE_SMALL),
    LineRole.COUNT: (INK, True, SIZE_SMALL),
}

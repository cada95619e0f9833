"""How the drawings look: what tells one kind of arrow from another, in colour, in grey and in print.

Each kind differs in three ways at once: the mark in its text, the line, and the arrow's tail; colour comes on top.
The colours are those of Okabe and Ito's palette for colour-blind readers, darkened to a contrast of at least 4.5 on
white.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagrams.states.model import Kind, LineRole

# Wide like Verdana: where a viewer lacks the font, its own is not wider, so that no text leaves its box.
FONTS = "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif"
SIZE = 10
SIZE_SMALL = 8.5

INK = "#222222"
QUIET = "#666666"
PALE = "#8a8a8a"  # what runs have never reached
PAPER = "#ffffff"
BOX = "#f7f9fc"
BOX_CALL = "#eef3ee"
BAND = "#e3e9f2"
RECEIVED = "#005a9c"
SENT = "#00694f"
LATE = "#9a4f00"
WRONG = "#a3195b"
BROKEN = "#7a1f1f"


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

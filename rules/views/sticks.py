"""Sticks for people: the row of sticks that are left, who took the last ones, and the ones to take by a click."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.views.offered import Answer, Offered, Spot, offered_by
from rules.views.svg import opening, short, written

WIDTH, MARGIN = 640.0, 36.0
ROW = 14  # Sticks beside one another.
PITCH, HIGH, THICK = 41.0, 92.0, 12.0  # Pixels from stick to stick, and of one.
SHOWN_MAX = 70  # Sticks; of more the number alone is told.
TAKEN_MAX = 3
LINE_CHARACTERS = 50
GROUND = "#f7f2e7"
STYLE = """
text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#2d2a26}
.text{font-size:15px}.title{font-size:22px;font-weight:bold}
.stick{fill:#b5763a;stroke:#6b432b;stroke-width:1.5}.tip{fill:#a3333d}
.taken{fill:none;stroke:#b9a98c;stroke-width:1.5;stroke-dasharray:4 3}
"""


def sticks_svg(left: int, taken: int = 0, who: str = "", winner: str = "") -> str:
    """Return the picture as the text of an SVG file: ``left`` sticks, and those that ``who`` has just ``taken``."""
    shown = min(left + taken, SHOWN_MAX)
    rows = max(1, -(-shown // ROW))
    height = 2 * MARGIN + 40 + rows * (HIGH + 16)
    parts = opening("Sticks", STYLE, WIDTH, height, GROUND)
    told = f"{left} {'stick is' if left == 1 else 'sticks are'} left"
    parts.append(written(MARGIN, MARGIN + 6, told, "title"))
    news = f"{winner} wins" if winner else f"{who} took {taken}" if taken else ""
    parts.append(written(MARGIN, MARGIN + 30, short(news, LINE_CHARACTERS), "text"))
    for index in range(shown):
        x, y = corner(index)
        kind = "stick" if index < left else "taken"
        parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{THICK:g}" height="{HIGH:g}" rx="3"/>')
        if index < left:
            parts.append(f'<circle class="tip" cx="{x + THICK / 2:g}" cy="{y + 6:g}" r="9"/>')
    return "\n".join([*parts, "</svg>\n"])


def corner(index: int) -> tuple[float, float]:
    """Return where a stick's left upper corner is."""
    return MARGIN + 8 + index % ROW * PITCH, MARGIN + 52 + index // ROW * (HIGH + 16)


def pictured(state: Any, who: str, message: str, fields: Mapping[str, Any]) -> tuple[Any, Callable[[], str] | None]:
    """Return what is known after a message, and how to draw what it shows; None if it shows nothing new.

    ``state`` is what this returned for the message before, None at first: the sticks left.
    """
    left = state
    match message:
        case "LEFT":
            return fields["left"], partial(sticks_svg, fields["left"])
        case "TAKEN" if left is not None and fields["count"] <= left:
            now = left - fields["count"]
            return now, partial(sticks_svg, now, fields["count"], fields["who"])
        case "WINNER":
            return left, partial(sticks_svg, left or 0, winner=fields["winner"])
    return left, None


def offered(state: Any, question: str, arguments: Mapping[str, Any], choices: Sequence[Answer]) -> Offered | None:
    """Return how many sticks may be taken, each by a click on the first of them; None for another question."""
    if question != "move":
        return None
    left = arguments["left"]
    counts = range(1, min(left, TAKEN_MAX) + 1)
    spots: dict[Hashable, Spot] = {}
    for count in counts:
        x, y = corner(left - count)
        spots[count] = Spot(x - 12, y - 8, THICK + 24, HIGH + 16, f"take {count}", "the first stick that you take")
    found = [(f"take {count}", ("TAKE", {"count": count})) for count in counts]
    return offered_by(found, [(count,) for count in counts], spots, partial(sticks_svg, left))

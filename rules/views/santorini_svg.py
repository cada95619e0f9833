"""Santorini as a picture: the board from above, its storeys as nested squares, the workers, and a panel with the rest.

SVG text, written by hand: no library is needed, and the same board gives the same bytes. Heights are told three times,
by the number of squares, by their shade and by a figure, and players by colour, shape and letter: it can be printed in
black and white.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rules.santorini_board import CAP, SIDE, Board, cell_of, place_of, read_board
from rules.views.svg import opening, short, written

SQUARE = 92.0  # Pixels.
MARGIN = 40.0
PANEL_X = MARGIN + SIDE * SQUARE + 34
WIDTH = PANEL_X + 290
HEIGHT = 2 * MARGIN + SIDE * SQUARE
GROUND = "#f3efe4"
LINE_CHARACTERS = 28  # What fits beside the board.
LETTERS = "ABCDEFGH"  # For players, in the order of their names.
# By player: paint, and the ink of the letters on it. The first is dark and round, the second light and square.
PAINT = (("#1d3f8f", "#ffffff"), ("#ffd23f", "#1d1d1d"), ("#a3333d", "#ffffff"), ("#9bdeac", "#1d1d1d"))
STOREYS = ("#dfe8c8", "#d9d2c3", "#b9b1a0", "#8f8778", "#2f4b7c")  # By height: grass, three of stone, the dome.
INSETS = (0.0, 4.0, 12.0, 20.0)  # Pixels from the cell's edge to the storey's, by height.
STYLE = """
text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#2d2a26}
.small{font-size:12px}.text{font-size:14px}.head{font-size:16px;font-weight:bold}.title{font-size:22px;font-weight:bold}
.storey{stroke:#57503f;stroke-width:1.5}.newest{fill:none;stroke:#d9480f;stroke-width:4;stroke-dasharray:9 5}
.worker{stroke:#1d1d1d;stroke-width:2.5}
"""


def players_of(board: Board) -> tuple[str, ...]:
    """Return the names of the players with workers on the board, sorted."""
    return tuple(sorted({worker[:-1] for worker, _ in board.workers}))


def board_svg(
    board: Any,
    *,
    title: str = "Santorini",
    turn: str | None = None,
    newest: Any = None,
    players: Sequence[str] = (),
    lines: Sequence[str] = (),
) -> str:
    """Return the picture as the text of an SVG file. ``board`` is as in the messages; the rest is told if given.

    ``turn`` is the name of the player to move and ``newest`` the place, row and column, that was built or stepped on
    last. ``players`` are names in the order in which they get their letters; else they are sorted. ``lines`` are told
    under the players: what happened, or the result.

    Raises:
        BoardError: it cannot be read as a board.
    """
    here = read_board(board)
    order = (*players, *(name for name in players_of(here) if name not in players))
    parts = opening(title, STYLE, WIDTH, HEIGHT, GROUND)
    for i in range(SIDE):
        middle = MARGIN + (i + 0.5) * SQUARE
        parts.append(written(middle, MARGIN - 12, str(i), "text", "middle"))
        parts.append(written(MARGIN - 18, middle + 5, str(i), "text", "middle"))
    for cell, height in enumerate(here.heights):
        parts.append(_building(height, *corner(cell)))
    marked = cell_of(newest)
    if marked is not None:
        left, top = corner(marked)
        side = f"{SQUARE - 4:g}"
        parts.append(f'<rect class="newest" x="{left + 2:g}" y="{top + 2:g}" width="{side}" height="{side}"/>')
    for worker, cell in here.workers:
        left, top = corner(cell)
        # A little off the middle, so that the figure of the height stays to be read.
        parts.append(_worker(order.index(worker[:-1]), worker[-1], left + SQUARE / 2 + 5, top + SQUARE / 2 + 5, 16))
    parts.append(_panel(here, title, turn, order, lines))
    parts.append("</svg>\n")
    return "\n".join(parts)


def corner(cell: int) -> tuple[float, float]:
    """Return where a cell's left upper corner is, in pixels."""
    row, column = place_of(cell)
    return MARGIN + column * SQUARE, MARGIN + row * SQUARE


def _building(height: int, left: float, top: float) -> str:
    """Return a cell: its ground, a square for each storey, a dome for the fourth, and the height as a figure."""
    parts = []
    for storey in range(min(height, CAP - 1) + 1):
        inset = INSETS[storey]
        side = f"{SQUARE - 2 * inset:g}"
        parts.append(
            f'<rect class="storey" x="{left + inset:g}" y="{top + inset:g}" width="{side}" height="{side}"'
            f' fill="{STOREYS[storey]}"/>'
        )
    x, y = left + SQUARE / 2, top + SQUARE / 2
    if height == CAP:
        parts.append(f'<circle class="storey" cx="{x:g}" cy="{y:g}" r="23" fill="{STOREYS[CAP]}"/>')
        parts.append(f'<text x="{x:g}" y="{y + 6:g}" class="head" text-anchor="middle" style="fill:#fff">4</text>')
    elif height:
        # In the corner of the top storey, so that a worker leaves it to be seen.
        inset = INSETS[height]
        parts.append(written(left + inset + 4, top + inset + 14, str(height), "small"))
    return "".join(parts)


def _worker(player: int, number: str, x: float, y: float, radius: float) -> str:
    """Return a worker with its letter and number: round and square in turn, dark and light in turn."""
    paint, ink = PAINT[player % len(PAINT)]
    if player % 2 == 0:
        shape = f'<circle class="worker" cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{paint}"/>'
    else:
        side = f"{1.8 * radius:g}"
        corner = f'x="{x - 0.9 * radius:g}" y="{y - 0.9 * radius:g}"'
        shape = f'<rect class="worker" {corner} width="{side}" height="{side}" rx="3" fill="{paint}"/>'
    label = f"{LETTERS[player % len(LETTERS)]}{number}"
    return f'{shape}<text x="{x:g}" y="{y + 5.5:g}" class="head" text-anchor="middle" style="fill:{ink}">{label}</text>'


def _panel(here: Board, title: str, turn: str | None, order: Sequence[str], lines: Sequence[str]) -> str:
    """Return what stands to the right of the board, from the top down."""
    x, y = PANEL_X, MARGIN + 18
    parts = [written(x, y, short(title, LINE_CHARACTERS), "title")]
    y += 46
    for number, player in enumerate(order):
        if player == turn:
            parts.append(f'<path d="M{x - 18:g} {y - 11:g}l11 7l-11 7z" fill="#d9480f" stroke="#2d2a26"/>')
        parts.append(_worker(number, "", x + 12, y - 4, 13))
        parts.append(written(x + 36, y, short(player, LINE_CHARACTERS), "head"))
        stands = [f"{worker[-1]} at {cell // SIDE},{cell % SIDE}" for worker, cell in here.own(player)]
        story = ", ".join(stands) or "not yet placed"
        parts.append(written(x + 36, y + 19, f"{story}{'; to move' if player == turn else ''}", "small"))
        y += 54
    for line in lines:
        parts.append(written(x, y, short(line, LINE_CHARACTERS), "text"))
        y += 22
    y = HEIGHT - MARGIN - 84
    parts.append(written(x, y, "heights", "head"))
    for height in range(CAP + 1):
        parts.append(
            f'<g transform="translate({x + 54 * height:g} {y + 14:g}) scale(0.5)">{_building(height, 0, 0)}</g>'
        )
    parts.append(written(x, y + 80, "a place is row,column", "small"))
    return "\n".join(parts)

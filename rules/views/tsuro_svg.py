"""Tsuro as a picture: the board from above with its curved paths, the tokens' travels, and a panel that tells the rest.

SVG text, written by hand: no library is needed, and the same board gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from rules.tsuro_board import COLOURS, PORTS, SIDE, Board, Start, facing, port_of, read_board, tile_text

SQUARE = 64.0  # Pixels.
MARGIN = 34.0
PANEL_X = MARGIN + SIDE * SQUARE + 34
WIDTH = PANEL_X + 300
HEIGHT = 2 * MARGIN + SIDE * SQUARE
PAINT = {"white": "#ffffff", "black": "#16181d", "red": "#d62839", "green": "#1f9d55", "blue": "#2563eb"}
FADED = "#9a948a"
# Where a port lies on its tile, and which way is inwards; both in squares.
PLACES = ((1, 0), (2, 0), (3, 1), (3, 2), (2, 3), (1, 3), (0, 2), (0, 1))
INWARDS = ((0, 1), (-1, 0), (0, -1), (1, 0))
STYLE = """
text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#2d2a26}
.small{font-size:11px}.text{font-size:13px}.head{font-size:15px;font-weight:bold}.title{font-size:22px;font-weight:bold}
.empty{fill:#e6dcc6;stroke:#cbbd9f;stroke-width:1}.tile{fill:#8a5a3c;stroke:#5f3b25;stroke-width:1.5}
.newest{fill:none;stroke:#ffb400;stroke-width:4}
.groove,.path,.walked,.rim{fill:none;stroke-linecap:butt}
.groove{stroke:#6b432b;stroke-width:9}.path{stroke:#efe3c8;stroke-width:5}
.rim{stroke:#2d2a26;stroke-width:9}.walked{stroke-width:6}.token{stroke:#2d2a26;stroke-width:2}
"""


def board_svg(
    board: Any,
    *,
    title: str = "Tsuro",
    round_number: int | None = None,
    turn: str | None = None,
    hand: Sequence[Any] = (),
    chosen: Any = None,
    newest: tuple[int, int] | None = None,
    names: Mapping[str, str] | None = None,
    ejected: Collection[str] = (),
    ranking: Sequence[Sequence[str]] = (),
    cheaters: Sequence[str] = (),
) -> str:
    """Return the picture as the text of an SVG file. ``board`` is as in the messages; the rest is told if given.

    ``turn`` is the colour that is asked, ``hand`` what it is offered, ``chosen`` the tile as it was laid, ``newest``
    its square. ``names`` and ``ejected`` are by colour. ``ranking`` and ``cheaters`` are told at the end of a game.

    Raises:
        BoardError: the board cannot be one of the game.
    """
    here = read_board(board)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:g}" height="{HEIGHT:g}"'
        f' viewBox="0 0 {WIDTH:g} {HEIGHT:g}"><title>{_safe(title)}</title><style>{STYLE}</style>',
        f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="#f7f2e7"/>',
    ]
    for i in range(SIDE):
        middle = MARGIN + (i + 0.5) * SQUARE
        parts.append(_text(middle, MARGIN - 12, str(i), "text", "middle"))
        parts.append(_text(MARGIN - 16, middle + 5, str(i), "text", "middle"))
    for x, column in enumerate(here.columns):
        for y, tile in enumerate(column):
            parts.append(_tile(tile, *_corner(x, y), SQUARE))
    if newest is not None:
        left, top = _corner(*newest)
        parts.append(
            f'<rect class="newest" x="{left + 2:g}" y="{top + 2:g}" width="{SQUARE - 4:g}" height="{SQUARE - 4:g}"/>'
        )
    parts += [_travel(here, start, start[0] in ejected) for start in here.starts]
    parts += [_token(here, start, start[0] in ejected) for start in here.starts]
    parts.append(_panel(here, title, round_number, turn, names or {}, ejected, hand, chosen, ranking, cheaters))
    parts.append("</svg>\n")
    return "\n".join(parts)

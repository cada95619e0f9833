"""Tsuro as a picture: the board from above with its curved paths, the tokens' travels, and a panel that tells the rest.

SVG text, written by hand: no library is needed, and the same board gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rules.tsuro_board import COLOURS, PORTS, SIDE, Board, Start, facing, port_of, read_board, tile_text
from rules.views.svg import opening, short, written

SQUARE = 64.0  # Pixels.
MARGIN = 34.0
PANEL_X = MARGIN + SIDE * SQUARE + 34
WIDTH = PANEL_X + 300
HEIGHT = 2 * MARGIN + SIDE * SQUARE
PAINT = {"white": "#ffffff", "black": "#16181d", "red": "#d62839", "green": "#1f9d55", "blue": "#2563eb"}
FADED = "#9a948a"
GROUND = "#f7f2e7"
OPTION = 62.0  # Pixels of a tile that may be laid.
OPTIONS_ROW = 4
LINE_CHARACTERS = 26  # What fits beside the board in the larger letters.
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
    options: Sequence[Any] = (),
) -> str:
    """Return the picture as the text of an SVG file. ``board`` is as in the messages; the rest is told if given.

    ``turn`` is the colour that is asked, ``hand`` what it is offered, ``chosen`` the tile as it was laid, ``newest``
    its square. ``options`` are tiles as they may be laid. ``names`` and ``ejected`` are by colour. ``ranking`` and
    ``cheaters`` are told at the end of a game.

    Raises:
        BoardError: the board cannot be one of the game.
    """
    here = read_board(board)
    parts = opening(title, STYLE, WIDTH, HEIGHT, GROUND)
    for i in range(SIDE):
        middle = MARGIN + (i + 0.5) * SQUARE
        parts.append(written(middle, MARGIN - 12, str(i), "text", "middle"))
        parts.append(written(MARGIN - 16, middle + 5, str(i), "text", "middle"))
    for x, column in enumerate(here.columns):
        for y, tile in enumerate(column):
            parts.append(_tile(tile, *corner(x, y), SQUARE))
    if newest is not None:
        left, top = corner(*newest)
        parts.append(
            f'<rect class="newest" x="{left + 2:g}" y="{top + 2:g}" width="{SQUARE - 4:g}" height="{SQUARE - 4:g}"/>'
        )
    parts += [_travel(here, start, start[0] in ejected) for start in here.starts]
    parts += [_token(here, start, start[0] in ejected) for start in here.starts]
    parts.append(_panel(here, title, round_number, turn, names or {}, ejected, hand, chosen, ranking, cheaters))
    for index, tile in enumerate(options):
        parts.append(_tile(tile, *option_corner(index, len(options)), OPTION))
    parts.append("</svg>\n")
    return "\n".join(parts)


def corner(x: int, y: int) -> tuple[float, float]:
    """Return where a square's left upper corner is, in pixels."""
    return MARGIN + x * SQUARE, MARGIN + y * SQUARE


def option_corner(index: int, count: int) -> tuple[float, float]:
    """Return where the corner of a tile is that may be laid, of so many: in rows at the foot of the panel."""
    rows = -(-count // OPTIONS_ROW)
    row, column = divmod(index, OPTIONS_ROW)
    return PANEL_X + column * (OPTION + 8), HEIGHT - MARGIN - (rows - row) * (OPTION + 8)


def point(port: int, left: float, top: float, size: float) -> tuple[float, float]:
    """Return where a port of a tile of that corner and size is, in pixels."""
    across, down = PLACES[port]
    return left + across * size / 3, top + down * size / 3


def bends(
    entry: int, leave: int, left: float, top: float, size: float, *, far: float = 0.45
) -> tuple[tuple[float, float], ...]:
    """Return the four points of the cubic curve from one port of a tile to another: straight in, then round.

    ``far`` is how long it goes straight in where the ports lie far apart, as a part of their distance.
    """
    (x1, y1), (x2, y2) = point(entry, left, top, size), point(leave, left, top, size)
    # Ports near each other need a short bend, or the path would swing across the whole tile.
    distance = ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5
    bend = far * distance if distance > size / 2 else 0.26 * size
    (dx1, dy1), (dx2, dy2) = INWARDS[entry // 2], INWARDS[leave // 2]
    return (x1, y1), (x1 + bend * dx1, y1 + bend * dy1), (x2 + bend * dx2, y2 + bend * dy2), (x2, y2)


def _curve(entry: int, leave: int, left: float, top: float, size: float) -> str:
    """Return the path data from one port of a tile to another."""
    begin, *rest = (f"{x:.1f} {y:.1f}" for x, y in bends(entry, leave, left, top, size))
    return f"M{begin}C{' '.join(rest)}"


def _tile(tile: Any, left: float, top: float, size: float) -> str:
    """Return a square: the empty board, or a tile with its four paths, each over a groove that shows which is above."""
    kind = "empty" if tile is None else "tile"
    parts = [f'<rect class="{kind}" x="{left:g}" y="{top:g}" width="{size:g}" height="{size:g}"/>']
    for start, end in tile or ():
        data = _curve(PORTS.index(start), PORTS.index(end), left, top, size)
        parts.append(f'<path class="groove" d="{data}"/><path class="path" d="{data}"/>')
    return "".join(parts)


def _travel(here: Board, start: Start, ejected: bool) -> str:
    """Return the path that a token has walked, in its colour, one curve a tile crossed."""
    passed = here.trail(start)
    data = ""
    for entry, leave in zip(passed[::2], passed[1::2], strict=True):
        _, x, y = port_of(entry)
        data += _curve(entry % 8, leave % 8, *corner(x, y), SQUARE)
    opacity = ' opacity="0.55"' if ejected or here.stand(start)[1] != "in" else ""
    return f'<g{opacity}><path class="rim" d="{data}"/><path class="walked" d="{data}" stroke="{PAINT[start[0]]}"/></g>'


def _token(here: Board, start: Start, ejected: bool) -> str:
    """Return a ring where the token began and a disc where it stands, greyed and crossed if it is out."""
    spot, fate = here.stand(start)
    port, x, y = start[1:]
    began = point(PORTS.index(port), *corner(x, y), SQUARE)
    _, x, y = port_of(spot)
    stands = point(spot % 8, *corner(x, y), SQUARE)
    paint = PAINT[start[0]]
    ring = (
        f'<circle class="token" cx="{began[0]:.1f}" cy="{began[1]:.1f}" r="5" fill="{paint}"/>'
        f'<circle cx="{began[0]:.1f}" cy="{began[1]:.1f}" r="2" fill="{GROUND}"/>'
    )
    return ring + _disc(*stands, start[0], out=ejected or fate != "in")


def _disc(x: float, y: float, token: str, *, out: bool) -> str:
    """Return a token: a disc in its colour; one that is out is a grey disc with a core of its colour and a cross."""
    if not out:
        return f'<circle class="token" cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{PAINT[token]}"/>'
    return (
        f'<circle class="token" cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{FADED}"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{PAINT[token]}"/>'
        f'<path d="M{x - 6:.1f} {y - 6:.1f}l12 12m0 -12l-12 12" stroke="#2d2a26" stroke-width="2"/>'
    )


def _panel(
    here: Board,
    title: str,
    round_number: int | None,
    turn: str | None,
    names: Mapping[str, str],
    ejected: Collection[str],
    hand: Sequence[Any],
    chosen: Any,
    ranking: Sequence[Sequence[str]],
    cheaters: Sequence[str],
) -> str:
    """Return what stands to the right of the board, from the top down."""
    x, y = PANEL_X, MARGIN + 18
    parts = [written(x, y, short(title, LINE_CHARACTERS), "title")]
    if round_number is not None:
        y += 26
        parts.append(written(x, y, f"round {round_number}" if round_number else "first placements", "text"))
    y += 34
    stands = {start[0]: here.stand(start) for start in here.starts}
    for token in COLOURS:
        if token not in stands and token not in names and token != turn:
            continue
        story, out = _story(stands.get(token), token in ejected)
        if token == turn:
            parts.append(f'<path d="M{x - 14:g} {y - 10:g}l9 6l-9 6z" fill="#ffb400" stroke="#2d2a26"/>')
        parts.append(_disc(x + 9, y - 4, token, out=out))
        parts.append(written(x + 28, y, short(names.get(token, token), LINE_CHARACTERS), "head"))
        parts.append(written(x + 28, y + 17, story, "small"))
        y += 44
    if hand:
        whose = f"offered to {turn}" if turn else "offered"
        parts.append(written(x, y + 8, whose, "head"))
        y = _hand(parts, hand, chosen, x, y + 18)
    if ranking or cheaters:
        y += 14
        parts.append(written(x, y, "result", "head"))
        place = 1
        for group in ranking:
            y += 21
            parts.append(written(x, y, short(f"{place}. {', '.join(group)}", LINE_CHARACTERS), "text"))
            place += len(group)
        for line in _wrapped(f"ejected: {', '.join(cheaters)}") if cheaters else ():
            y += 21
            parts.append(written(x, y, line, "text"))
    return "\n".join(parts)


def _wrapped(text: str) -> Iterator[str]:
    """Yield a text in lines that fit the panel; only a word that is longer than a line is cut."""
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > LINE_CHARACTERS:
            yield short(line, LINE_CHARACTERS)
            line = ""
        line = f"{line} {word}" if line else word
    yield short(line, LINE_CHARACTERS)


def _hand(parts: list[str], hand: Sequence[Any], chosen: Any, x: float, y: float) -> float:
    """Add the tiles offered, and under them the one chosen as it was laid; return where the next line goes."""
    for i, tile in enumerate(hand):
        parts.append(_tile(tile, x + i * 90, y, 78))
        parts.append(written(x + i * 90 + 39, y + 94, tile_text(tile), "small", "middle"))
    y += 122
    if chosen is not None:
        parts.append(written(x, y, "laid as", "head"))
        parts.append(_tile(chosen, x + 90, y - 14, 78))
        parts.append(written(x + 129, y + 80, tile_text(chosen), "small", "middle"))
        y += 112
    return y


def _story(stand: tuple[int, str] | None, ejected: bool) -> tuple[str, bool]:
    """Return how it goes for a token in words, and whether it is out."""
    if stand is None:
        return ("ejected", True) if ejected else ("has not begun", False)
    port, x, y = port_of(stand[0])
    before = facing(stand[0])
    if ejected:
        return f"ejected; the token is at {port} of {x},{y}", True
    if before is None:
        return f"{'exited' if stand[1] == 'exited' else 'collided head on'} at {port} of {x},{y}", True
    return f"at {port} of {x},{y}, faces {before[0]},{before[1]}", False

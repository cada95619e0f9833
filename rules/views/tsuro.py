"""Tsuro for people at a terminal: the board in text, what a message shows, and the result in lines.

``board_svg`` draws the same as a picture.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rules.tsuro_board import SIDE, BoardError, facing, port_of, read_board, tile_text
from rules.views.tsuro_svg import board_svg

__all__ = ["board_svg", "board_text", "result_lines", "shown"]

# Black and blue would share a letter; printers call black K.
LETTERS = {"white": "W", "black": "K", "red": "R", "green": "G", "blue": "B"}
ARROWS = "↑→↓←"  # For the four sides of a square, clockwise from the north: two ports each.


def board_text(
    board: Any,
    *,
    names: Mapping[str, str] | None = None,
    ejected: Collection[str] = (),
    newest: tuple[int, int] | None = None,
) -> str:
    """Return the board in 12 lines and a line for each token. ``board`` is as in the messages.

    A dot is an empty square and a block a tile; the ``newest`` is in brackets. A letter and an arrow are a token and
    the side of the square where it stands; a small letter and a cross are one that is out, at the square where it
    went. ``names`` are the players' and ``ejected`` the tokens of those who were ejected: both by colour, and neither
    is in a message.

        >>> print(board_text((((None,) * 10,) * 10, ())).splitlines()[1])
         0   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·

    Raises:
        BoardError: the board cannot be one of the game.
    """
    here = read_board(board)
    cells = [[" · " if here.columns[x][y] is None else "▒▒▒" for x in range(SIDE)] for y in range(SIDE)]
    lines = []
    for start in here.starts:
        token = start[0]
        spot, fate = here.stand(start)
        port, x, y = port_of(spot)
        before = facing(spot)
        if before is None:
            mark, story = LETTERS[token].lower() + "×", f"out: {fate} at {port} of {x},{y}"
        else:
            mark, story = LETTERS[token] + ARROWS[spot % 8 // 2], "at {} of {},{}, faces {},{}".format(
                port, x, y, *before
            )
        if token in ejected:
            story = f"ejected; its token is {story}"
        # Where two stand on one square both letters fit, and the lines below tell the rest.
        cells[y][x] = f"{mark:^3}" if cells[y][x] == "▒▒▒" else f"{cells[y][x].strip()[0]}{mark:2}"
        name = f"  {_line(names[token])}" if names and token in names else ""
        lines.append(f"  {LETTERS[token]} {token:5} {story}{name}")
    rows = []
    for y in range(SIDE):
        row = [
            f"[{cells[y][x]}]" if (x, y) == newest else f" {cells[y][x]} "
            for x in range(SIDE)
        ]
        # Neighbours share the blank between them, so that brackets take no room.
        text = row[0]
        for cell in row[1:]:
            text = text[:-1] + (cell[0] if text[-1] == " " else text[-1]) + cell[1:]
        rows.append(f" {y} {text}".rstrip())
    return "\n".join(["    " + " ".join(f" {x} " for x in range(SIDE)).rstrip(), *rows, *lines])


def shown(message: str, holes: Mapping[str, object]) -> str | None:
    """Return what someone who watches should see of a message, or None for nothing.

    Requests and the end show the board; a placement is one line.
    """
    match message:
        case "TOKEN":
            return f"the token is {holes['token']}"
        case "INIT_PLACE":
            return f"{holes['token']} begins at {holes['port']} of {holes['x']},{holes['y']} with {_tile(holes['tile'])}"
        case "INTER_PLACE":
            return f"{_tile(holes['tile'])} is laid at {holes['x']},{holes['y']}"
        case "INIT_REQ" | "INTER_REQ":
            hand: Any = holes["hand"] if message == "INIT_REQ" else holes["tiles"]
            offered = ", ".join(f"{number}: {_tile(tile)}" for number, tile in enumerate(hand, 1))
            return f"{_drawn(holes['board'])}\n  tiles {offered}"
        case "ENDED":
            lines = _rank_lines(holes["winners"], holes["losers"])
            return "\n".join([_drawn(holes["board"]), *(f"  {line}" for line in lines)])
    return None


def result_lines(result: Any) -> list[str]:
    """Return the result of a game in lines: the server's, or a client's, or None when there was no game."""
    if not isinstance(result, Mapping):
        return ["no game: too few players"]
    if "losers" in result:
        return _rank_lines(result["winners"], result["losers"])
    lines = _rank_lines(result["ranking"], result["cheaters"])
    lines.append(f"{result['rounds']} rounds after the first placements")
    for player in result["players"]:
        story = "in to the end" if player["fate"] == "in" else f"{player['fate']} in round {player['round']}"
        lines.append(f"  {player['token']:5} {_line(player['name'])}: {story}")
    return lines


def _rank_lines(groups: Any, cheaters: Any) -> list[str]:
    lines, place = [], 1
    for group in groups:
        lines.append(f"{place}. {', '.join(map(_line, group))}")
        place += len(group)
    if not lines:
        lines.append("nobody won")
    if cheaters:
        lines.append(f"ejected: {', '.join(map(_line, cheaters))}")
    return lines


def _drawn(board: Any) -> str:
    """Return the board in text, or why there is none: what a peer wrote must not stop who watches."""
    try:
        return board_text(board)
    except BoardError as error:
        return f"(this board cannot be drawn: {error})"


def _tile(tile: Any) -> str:
    return tile_text(tile)


def _line(name: Any) -> str:
    """Return a name in one line: what cannot be printed is written as Python would."""
    text = str(name)
    return text if text.isprintable() and text else repr(text)

"""Tsuro for people at a terminal: the board in text, what a message shows, and the result in lines.

``board_svg`` draws the same as a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.tsuro_board import SIDE, BoardError, facing, port_of, read_board, tile_text
from rules.views.tsuro_offered import offered
from rules.views.tsuro_steps import steps
from rules.views.tsuro_svg import board_svg

__all__ = ["EXPLANATION", "board_svg", "board_text", "offered", "pictured", "result_lines", "shown", "steps", "verdict"]

# Black and blue would share a letter; printers call black K.
LETTERS = {"white": "W", "black": "K", "red": "R", "green": "G", "blue": "B"}
EXPLANATION = """\
      A   B        A square is x,y: 0,0 is at the top left, x goes right, y down.
    +---+---+      A tile joins its eight ports by four paths: AE BF CH DG.
  H |       | C    Turned by 90 degrees, A becomes C, B becomes D, and so on.
  G |       | D    A path goes on over the edge: A-F, B-E of the square above,
    +---+---+      C-H, D-G of the one to the right. Over the board's edge is out.
      F   E        You begin at a port on the board's edge, looking inwards.
"""
ARROWS = "↑→↓←"  # For the four sides of a square, clockwise from the north: two ports each.


def board_text(
    board: Any,
    *,
    names: Mapping[str, str] | None = None,
    ejected: Collection[str] = (),
    newest: tuple[int, int] | None = None,
) -> str:
    """Return the board in 11 lines and a line for each token. ``board`` is as in the messages.

    A dot is an empty square and a block a tile; the ``newest`` is in brackets. A letter and an arrow are a token and
    the side of the square where it stands; a small letter and a dagger are one that is out, at the square where it
    went. ``names`` are the players' and ``ejected`` the tokens of those who were ejected: both by colour, and neither
    is in a message.

    Raises:
        BoardError: the board cannot be one of the game.
    """
    here = read_board(board)
    marks: dict[tuple[int, int], list[str]] = {}
    lines = []
    for start in here.starts:
        token = start[0]
        spot, fate = here.stand(start)
        port, x, y = port_of(spot)
        before = facing(spot)
        if before is None:
            mark, story = LETTERS[token].lower() + "†", f"out: {fate} at {port} of {x},{y}"
        else:
            mark, story = LETTERS[token] + ARROWS[spot % 8 // 2], f"at {port} of {x},{y}, faces {before[0]},{before[1]}"
        if token in ejected:
            story = f"ejected; its token is {story}"
        marks.setdefault((x, y), []).append(mark)
        name = f"  {in_line(names[token])}" if names and token in names else ""
        lines.append(f"  {LETTERS[token]} {token:5} {story}{name}")
    rows = []
    for y in range(SIDE):
        row = ""
        for x in range(SIDE):
            row += "[" if (x, y) == newest else "]" if (x - 1, y) == newest else " "
            row += _cell(here.columns[x][y] is not None, marks.get((x, y), []))
        rows.append(f" {y} {row}{']' if newest == (9, y) else ''}".rstrip())
    return "\n".join(["   " + "".join(f"  {x} " for x in range(SIDE)).rstrip(), *rows, *lines])


def _cell(laid: bool, marks: Sequence[str]) -> str:
    """Return three characters for a square; where several tokens stand there is room for their letters only."""
    if not marks:
        return "▒▒▒" if laid else " · "
    if len(marks) == 1:
        return f"{marks[0]:^3}"
    letters = "".join(mark[0] for mark in marks)
    return f"{letters:^3}" if len(letters) <= 3 else f"{letters[:2]}+"


def shown(message: str, fields: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str | None:
    """Return what someone who watches should see of a message, or None for nothing.

    ``fields`` are the message's, by name. Requests and the end show the board; a placement is one line.
    """
    fields = dict(fields)
    match message:
        case "TOKEN":
            return f"the token is {fields['token']}"
        case "INIT_PLACE":
            where = f"{fields['port']} of {fields['x']},{fields['y']}"
            return f"{fields['token']} begins at {where} with {tile_text(fields['tile'])}"
        case "INTER_PLACE":
            return f"{tile_text(fields['tile'])} is laid at {fields['x']},{fields['y']}"
        case "INIT_REQ" | "INTER_REQ":
            hand = fields["hand"] if message == "INIT_REQ" else fields["tiles"]
            offered = ", ".join(f"{number}: {tile_text(tile)}" for number, tile in enumerate(hand, 1))
            return f"{_drawn(fields['board'])}\n  tiles {offered}"
        case "ENDED":
            lines = _rank_lines(fields["winners"], fields["losers"])
            return "\n".join([_drawn(fields["board"]), *(f"  {line}" for line in lines)])
    return None


def pictured(state: Any, who: str, message: str, fields: Mapping[str, Any]) -> tuple[Any, Callable[[], str] | None]:
    """Return what is known after a message, and how to draw the board that it shows; None if it shows none.

    ``state`` is what this returned for the message before, None at first; ``who`` is the name of the client that sent
    or got it.
    """
    colours, newest = state or ({}, None)
    match message:
        case "TOKEN":
            return ({**colours, fields["token"]: who}, newest), None
        case "INIT_PLACE" | "INTER_PLACE":
            return (colours, (fields["x"], fields["y"])), None
        case "INIT_REQ" | "INTER_REQ":
            hand = fields["hand"] if message == "INIT_REQ" else fields["tiles"]
            turn = next((colour for colour, name in colours.items() if name == who), None)
            drawing = partial(board_svg, fields["board"], turn=turn, hand=hand, newest=newest, names=colours)
            return (colours, newest), drawing
        case "ENDED":
            losers, in_rank = fields["losers"], {name for group in fields["winners"] for name in group}
            ejected = [colour for colour, name in colours.items() if name in losers and name not in in_rank]
            drawing = partial(
                board_svg, fields["board"], names=colours, ejected=ejected, ranking=fields["winners"], cheaters=losers
            )
            return (colours, newest), drawing
    return (colours, newest), None


def verdict(name: str, message: str, fields: Mapping[str, Any]) -> str | None:
    """Return what a message tells a player called ``name`` of how it ended for it, None for nothing."""
    if message != "ENDED":
        return None
    place = 1
    for group in fields["winners"]:
        if name in group:
            return "you have won the game" if place == 1 else f"you have lost the game: place {place}"
        place += len(group)
    return "you are out for breaking the rules" if name in fields["losers"] else None


def result_lines(result: Any) -> list[str]:
    """Return the result of a game in lines: the server's, or a client's, or None when there was no game."""
    if not isinstance(result, Mapping):
        return ["no game: too few players"]
    if "losers" in result:
        return _rank_lines(result["winners"], result["losers"])
    lines = _rank_lines(result["ranking"], result["cheaters"])
    rounds = result["rounds"]
    lines.append(f"{rounds} round{'' if rounds == 1 else 's'} after the first placements")
    for player in result["players"]:
        story = "in to the end" if player["fate"] == "in" else f"{player['fate']} in round {player['round']}"
        lines.append(f"  {player['token']:5} {in_line(player['name'])}: {story}")
    return lines


def _rank_lines(groups: Any, cheaters: Any) -> list[str]:
    lines, place = [], 1
    for group in groups:
        lines.append(f"{place}. {', '.join(map(in_line, group))}")
        place += len(group)
    if not lines:
        lines.append("nobody won")
    if cheaters:
        lines.append(f"ejected: {', '.join(map(in_line, cheaters))}")
    return lines


def _drawn(board: Any) -> str:
    """Return the board in text, or why there is none: what a peer wrote must not stop who watches."""
    try:
        return board_text(board)
    except BoardError as error:
        return f"(this board cannot be drawn: {error})"


def in_line(name: str) -> str:
    """Return a name in one line: an empty one, or one that a terminal might obey, as Python would write it."""
    return name if name and name.isprintable() else repr(name)

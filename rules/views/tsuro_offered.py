"""A person's turn in Tsuro by clicks: a port or square of the board, then a tile as it is to lie."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.tsuro_board import PORTS, tile_text
from rules.views.offered import Answer, Offered, Spot, offered_by
from rules.views.tsuro_svg import OPTION, SQUARE, board_svg, corner, option_corner, point

PORT = 20.0  # Pixels of the spot at a port; its neighbour is 21 away.


def offered(state: Any, question: str, arguments: Mapping[str, Any], choices: Sequence[Answer]) -> Offered | None:
    """Return how the ``choices`` of a question are clicked; None if there are none. ``state`` is of ``pictured``."""
    if not choices:
        return None
    answers = [fields for _, (_, fields) in choices]
    tiles = list(dict.fromkeys(fields["tile"] for fields in answers))
    spots: dict[Hashable, Spot] = {}
    keys: list[tuple[Hashable, Hashable]] = []
    for fields in answers:
        place = fields["x"], fields["y"], fields.get("port", "")
        if place not in spots:
            spots[place] = _place(*place)
        if fields["tile"] not in spots:
            left, top = option_corner(tiles.index(fields["tile"]), len(tiles))
            spots[fields["tile"]] = Spot(left, top, OPTION, OPTION, f"lay {tile_text(fields['tile'])}", "a tile to lay")
        keys.append((place, fields["tile"]))
    colours, newest = state or ({}, None)
    drawing = partial(
        board_svg, arguments["board"], turn=arguments["token"], options=tiles, newest=newest, names=colours
    )
    return offered_by(choices, keys, spots, drawing)


def _place(x: int, y: int, port: str) -> Spot:
    left, top = corner(x, y)
    if not port:
        return Spot(left, top, SQUARE, SQUARE, f"square {x},{y}", "a square")
    across, down = point(PORTS.index(port), left, top, SQUARE)
    return Spot(across - PORT / 2, down - PORT / 2, PORT, PORT, f"port {port} of {x},{y}", "where you begin")

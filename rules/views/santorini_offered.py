"""A person's turn in Santorini by clicks: a worker, the cell it steps to, the cell it builds on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.players.santorini import cells
from rules.santorini_board import Board, cell_of, place_of
from rules.views.offered import Answer, Offered, Spot, offered_by
from rules.views.santorini_svg import SQUARE, board_svg, corner

GIVE_UP = Spot(10, 4, 90, 26, "give up", "that you give up")
WHAT = {
    "place": "where it is placed",
    "worker at": "a worker",
    "step to": "where it steps",
    "build on": "where it builds",
}


def offered(state: Any, question: str, arguments: Mapping[str, Any], choices: Sequence[Answer]) -> Offered | None:
    """Return how the ``choices`` of a question are clicked; None if there are none, or no board is among its values."""
    if not choices or not {"board", "workers"} & set(arguments):
        return None
    board = arguments["board"] if "board" in arguments else _standing(arguments["workers"])
    spots: dict[Hashable, Spot] = {}
    keys: list[tuple[Hashable, ...]] = []
    for _, those in zip(choices, cells(question, arguments), strict=True):
        keys.append(those or ("give up",))
        for deed, cell in those:
            if (deed, cell) not in spots:
                left, top = corner(cell)
                row, column = place_of(cell)
                spots[deed, cell] = Spot(left, top, SQUARE, SQUARE, f"{deed} {row},{column}", WHAT[deed])
        if not those:
            spots["give up"] = GIVE_UP
    return offered_by(choices, keys, spots, partial(board_svg, board))


def _standing(workers: Sequence[Any]) -> Any:
    """Return the board, as messages have it, of workers that are placed: each with its row and column."""
    placed = ((worker, cell_of((row, column))) for worker, row, column in workers)
    return Board(workers=tuple((worker, cell) for worker, cell in placed if cell is not None)).wire

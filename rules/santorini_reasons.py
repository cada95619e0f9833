"""Why an action of Santorini is refused, in words, for who lost by it."""

from __future__ import annotations

from typing import Any

from rules.santorini_board import Board, beside, cell_of, step_of
from rules.santorini_play import Play, Player, own_worker


def _why_no_place(play: Play, player: Player, worker_or_place: Any, place: Any = None) -> str:
    cell = cell_of(worker_or_place if place is None else place)
    if cell is None:
        return "the place is not on the board"
    if play.board.worker(cell) is not None:
        return "a worker stands on that place"
    return "it is not the player's turn to place that worker"


def _why_no_step(board: Board, start_cell: int | None, end_cell: int | None) -> str:
    if start_cell is None or end_cell is None:
        return "a place is not on the board"
    if board.worker(end_cell) is not None:
        return "a worker stands on the place to move to"
    return "the place to move to is no neighbour, more than one higher, or 4 high"


def _why_no_move(play: Play, player: Player, source: Any, target: Any) -> str:
    start_cell, end_cell = cell_of(source), cell_of(target)
    worker = play.board.worker(start_cell) if start_cell is not None else None
    if worker is None or worker[:-1] != player.name:
        return "no worker of the player stands on the place to move from"
    return _why_no_step(play.board, start_cell, end_cell)


def _why_no_build(play: Play, player: Player, source: Any, target: Any) -> str:
    start_cell, end_cell = cell_of(source), cell_of(target)
    if play.moved is None or start_cell is None or play.board.cell(play.moved) != start_cell:
        return "it is not the worker that has moved"
    return (
        "the place to build on is not on the board"
        if end_cell is None
        else ("the place to build on is no neighbour, taken, or 4 high")
    )


def _why_no_turn(play: Play, player: Player, worker: Any, move: Any, build: Any = None) -> str:
    name, step = own_worker(player, worker), step_of(move)
    source = play.board.cell(name)
    if name is None or source is None:
        return "the player has no such worker"
    if step is None:
        return "the worker does not move"
    target = beside(source, step)
    if target is None or not play.board.may_step(source, target):
        return _why_no_step(play.board, source, target)
    return "the move does not win, and the place to build on is none, taken, or 4 high"


WHY_NOT = {
    "may_place": _why_no_place,
    "may_move": _why_no_move,
    "may_build": _why_no_build,
    "may_turn": _why_no_turn,
    "wins": _why_no_turn,
}

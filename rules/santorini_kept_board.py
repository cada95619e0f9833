"""The board that a client of Santorini keeps that hears actions only.

It is as on the wire, so that it can be handed on to whoever decides. Names are not told in that protocol: the own
workers are me1 and me2, the other player's them1 and them2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rules.santorini_board import EMPTY, Board, BoardError, WireBoard, cell_of, read_board
from rules.santorini_play import legal_turn, own_worker

# What the client calls its own player and the other one.
ME = "me"
THEM = "them"


def blank() -> WireBoard:
    """Return the client's board before any placement: 36 cells of height 0."""
    return EMPTY.wire


def may_see(board: Any, told: Any) -> bool:
    """Tell whether what the server tells of the other player can have happened on this board.

    ``told`` is None for nothing, [1 or 2, place] or [1 or 2, move, build]; any value may be asked about. A placement
    told a second time while the worker still stands there is nothing new, and can be.
    """
    return told is None or _seen(board, told) is not None


def seen(board: Any, told: Any) -> Any:
    """Return the client's board after what the server tells of the other player; the same if ``may_see`` denies it."""
    grown = None if told is None else _seen(board, told)
    return board if grown is None else grown.wire


def next_wid(board: Any) -> int:
    """Return the number, 1 or 2, of the own worker that is placed next; 2 if both stand there already."""
    return 2 if _kept(board).own(ME) else 1


def own_place(board: Any, wid: Any, posn: Any) -> Any:
    """Return the client's board with an own worker placed; the same if that cannot be: the server will say so."""
    grown = _placed(_kept(board), ME, wid, posn)
    return board if grown is None else grown.wire


def own_turn(board: Any, wid: Any, move_dir: Any, build_dir: Any) -> Any:
    """Return the client's board after an own turn; the same if it is not legal: the server will say so."""
    grown = _turned(_kept(board), ME, wid, move_dir, build_dir)
    return board if grown is None else grown.wire


@dataclass(frozen=True, slots=True)
class _Named:
    name: str


def _kept(board: Any) -> Board:
    """Return a client's board as a value to reckon with; one that was not made here reads as the blank one."""
    try:
        return read_board(board)
    except BoardError:
        return EMPTY


def _seen(board: Any, told: Any) -> Board | None:
    kept = _kept(board)
    if not isinstance(told, (tuple, list)) or len(told) not in (2, 3):
        return None
    if len(told) == 3:
        return _turned(kept, THEM, *told)
    name, cell = own_worker(_Named(THEM), told[0]), cell_of(told[1])
    if name is not None and cell is not None and kept.cell(name) == cell:
        return kept
    return _placed(kept, THEM, *told)


def _placed(board: Board, player: str, wid: Any, posn: Any) -> Board | None:
    name, cell = own_worker(_Named(player), wid), cell_of(posn)
    if name is None or cell is None or board.cell(name) is not None or board.worker(cell) is not None:
        return None
    return board.put(name, cell)


def _turned(board: Board, player: str, wid: Any, move: Any, build: Any) -> Board | None:
    found = legal_turn(board, _Named(player), wid, move, build)
    if found is None:
        return None
    name, target, raised = found
    grown = board.step(name, target)
    return grown if raised is None else grown.raised(raised)

"""A game with next to no rules, so that what is measured is what carries it: count turns up to a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

GAME = "game-0f8fad5b-d9cb-469f-a165-70867728950e"
BOARD = tuple(tuple(range(10 + row, 16 + row)) for row in range(6))
TILES = (10, 11, 12, 13)
NEWS = (
    "the last tile was laid by the other player, who has the longer road now: ten squares of it, two of them twice; "
    "it is your turn, and there are as many tiles left as the two of you have laid so far, so think well"
)

__all__ = ["board", "may_place", "over", "pairs", "place", "start", "stop"]


@dataclass(frozen=True, slots=True)
class Table:
    """How far a game is: ``turn`` of ``turns``, and where the last tile was put."""

    game: ClassVar[str] = GAME
    news: ClassVar[str] = NEWS

    turn: int
    turns: int
    x: int = 0
    y: int = 0


def start(turns: int) -> Table:
    """Return the table before the first turn."""
    return Table(0, turns)


def pairs(players: Sequence[Any]) -> tuple[tuple[Any, Any], ...]:
    """Return the players two by two."""
    return tuple(zip(players[::2], players[1::2], strict=True))


def board(table: Table) -> tuple[tuple[int, ...], ...]:
    """Return what lies on the table."""
    return BOARD


def may_place(table: Table, game: str, turn: int, tile: int, x: int, y: int) -> bool:
    """Whether a player may put this tile there now."""
    return game == table.game and turn == table.turn and tile in TILES and 0 <= x < 10 and 0 <= y < 10


def place(table: Table, tile: int, x: int, y: int) -> Table:
    """Return the table after a turn."""
    return Table(table.turn + 1, table.turns, x, y)


def stop(table: Table) -> Table:
    """Return the table of a game that ends because a player broke a rule."""
    return Table(table.turn, table.turn)


def over(table: Table) -> bool:
    """Whether all turns are played."""
    return table.turn >= table.turns

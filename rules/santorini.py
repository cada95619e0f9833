"""Santorini: who may place, move and build what where, who wins, and what a client may know of it.

Two players with two workers each on 6 x 6 cells. In turn, a worker steps to a neighbour at most one floor higher and
builds a floor beside it; who steps up to the third floor wins, who has no legal turn loses.

    start -> place, four times, first and second player in turn
          -> turn            a whole turn, or
             move -> build   the same in two halves; after a winning move there is no building
          -> resign | forfeit    at any time
    over, winner, verdict, offenders, outcome

A game is a value; each function returns the next one. A player is anything that can be compared and has a ``name``,
which must not be the other's: workers are called by it, ``alfred1`` and ``alfred2``.

The functions whose names begin with ``may``, and ``wins``, take whatever a peer can say, in the shape of any of the
protocols, and never raise:

    place       [row, column]; a protocol that has it the other way round turns it before it asks
    worker      the full name ``alfred1``, or the number 1 or 2 of an own worker
    direction   one of eight words, or [EastWest, NorthSouth]: see ``santorini_board.step_of``

The rules are those of the course variant without god powers: see the protocols' document for each doubtful point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rules.santorini_board import WireBoard, cell_of, place_of
from rules.santorini_kept_board import blank, may_see, next_wid, own_place, own_turn, seen
from rules.santorini_play import (
    WORKERS,
    Acted,
    Placed,
    Play,
    Player,
    built,
    decided,
    index_of,
    legal_turn,
    may_act,
    own_worker,
    passed_on,
    stepped,
)
from rules.santorini_reasons import WHY_NOT as WHY_NOT

__all__ = [
    "blank",
    "board",
    "build",
    "crossed",
    "forfeit",
    "full_worker",
    "last_action",
    "last_placed",
    "may_build",
    "may_move",
    "may_place",
    "may_see",
    "may_turn",
    "may_turn_any",
    "move",
    "moved",
    "mover",
    "newest",
    "next_wid",
    "next_worker",
    "offenders",
    "outcome",
    "over",
    "own_place",
    "own_turn",
    "place",
    "placements",
    "resign",
    "seen",
    "start",
    "turn",
    "verdict",
    "winner",
    "wins",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended. ``winner`` and ``loser`` are the players as they were given to ``start``.

    ``how`` is ``reached the top``, ``no turn left``, ``gave up`` or ``forfeit``. ``offenders`` are those who forfeited,
    in that order: none, one, or both if the second did so after the end. ``turns`` counts whole turns of both
    players; a winning move is one.
    """

    winner: Any
    loser: Any
    how: str
    offenders: tuple[Any, ...]
    turns: int


# Setting up ----------------------------------------------------------------------------------------------------------


def start(pair: tuple[Player, Player]) -> Play:
    """Return the game before the first placement; the first of the pair is the first to place and to move.

    Raises:
        ValueError: it is not a pair, or both have the same name, so that their workers could not be told apart.
    """
    players = tuple(pair)
    if len(players) != 2 or players[0].name == players[1].name:
        raise ValueError(f"Santorini is for two players with different names, not {', '.join(p.name for p in players)}")
    return Play((players[0], players[1]))


def may_place(play: Play, player: Player, worker_or_place: Any, place: Any = None) -> bool:
    """Tell whether a placement is legal: ``(place)`` of the next worker, or ``(worker, place)``.

    It is if the player is to place, the worker, if named, is its next one, and the place is on the board and free.
    """
    cell = cell_of(worker_or_place if place is None else place)
    if not may_act(play, player) or len(play.board.workers) >= WORKERS or cell is None:
        return False
    if place is not None and full_worker(player, worker_or_place) != next_worker(play, player):
        return False
    return play.board.worker(cell) is None


def place(play: Play, player: Player, worker_or_place: Any, place: Any = None) -> Play:
    """Return the game after a placement that ``may_place`` allows; arguments as there."""
    cell = cell_of(worker_or_place if place is None else place)
    assert cell is not None, "a placement off the board, may_place refuses it"
    assert play.board.worker(cell) is None, f"{place_of(cell)} is taken, may_place refuses it"
    grown = play.board.put(next_worker(play, player), cell)
    number = (len(play.board.workers) // 2) + 1
    return passed_on(replace(play, board=grown, last=(number, place_of(cell))))


def next_worker(play: Play, player: Player) -> str:
    """Return the name of the worker that the player places next: its name and 1, then its name and 2.

    Raises:
        ValueError: both are placed; ask only for the four placements of a game.
    """
    placed = len(play.board.own(player.name))
    if placed >= WORKERS // 2:
        raise ValueError(f"{player.name} has placed both workers")
    return f"{player.name}{placed + 1}"


def newest(play: Play) -> str | None:
    """Return the name of the worker that was placed last, or None before the first."""
    return play.board.workers[-1][0] if play.board.workers else None


def placements(play: Play) -> tuple[tuple[str, int, int], ...]:
    """Return the workers as (worker, row, column) where they stand, in the order in which they were placed.

    During the placements that is what the official protocol asks with.
    """
    return tuple([(worker, *place_of(cell)) for worker, cell in play.board.workers])


def crossed(told: Any, column_first: bool) -> Any:
    """Return a place, or each of several workers with its place, with row and column exchanged if ``column_first``.

    ``told`` is [a, b], or [[worker, a, b], ...], as read or written by a program that has the column first.
    """
    if not column_first:
        return told
    if len(told) == 2 and not isinstance(told[0], (tuple, list)):
        return (told[1], told[0])
    return tuple([(worker, second, first) for worker, first, second in told])


def last_placed(play: Play) -> Placed | None:
    """Return the latest placement as (1 or 2, (row, column)), or None before the first.

    When a placement is asked for it is the other player's.
    """
    if not play.board.workers or len(play.last or ()) != 2:
        return None
    return play.last  # type: ignore[return-value]  # Two long, so it is a placement.


def last_action(play: Play) -> Placed | Acted | None:
    """Return the latest placement or whole turn, or None before the first; when a turn is asked for, the other's.

    A placement is (1 or 2, (row, column)), a turn (1 or 2, move, build): words as in ``North`` and ``SouthEast``, and
    None for the build after a move that won.
    """
    return play.last


# Whole turns ---------------------------------------------------------------------------------------------------------


def full_worker(player: Player, worker: Any) -> str | None:
    """Return the name of an own worker that was given as 1, 2, ``"1"``, ``"2"`` or by its full name, else None.

    The texts are the habit of one program of the course that leaves off its own name; ``may_turn`` does not take them,
    so a spec that wants to must complete them with this function first. Any value may be asked about.
    """
    if isinstance(worker, str) and worker in ("1", "2"):
        return f"{player.name}{worker}"
    return own_worker(player, worker)


def may_turn(play: Play, player: Player, worker: Any, move: Any, build: Any) -> bool:
    """Tell whether a turn is legal. ``build`` may be null if the move wins; if it does, a build is not looked at.

    It is if the player is to move, the worker its own, the step one that ``Board.may_step`` allows, and the build,
    counted from where the worker ends, one that ``Board.may_raise`` allows; the cell just left is free.
    """
    return _turn(play, player, worker, move, build) is not None


def may_turn_any(play: Play, player: Player, turn: Any) -> bool:
    """Tell whether a turn is legal that is given as a list: [worker, move, build], or [worker, move] if it wins."""
    if not isinstance(turn, (tuple, list)) or len(turn) not in (2, 3):
        return False
    return wins(play, player, *turn) if len(turn) == 2 else may_turn(play, player, *turn)


def wins(play: Play, player: Player, worker: Any, move: Any) -> bool:
    """Tell whether a move is legal and wins: it ends on height 3."""
    found = _turn(play, player, worker, move, None)
    return found is not None and found[2] is None


def turn(play: Play, player: Player, worker: Any, move: Any, build: Any) -> Play:
    """Return the game after a turn that ``may_turn`` allows; ``build`` is None for a winning move."""
    found = _turn(play, player, worker, move, build)
    assert found is not None, "this turn is not legal, may_turn refuses it"
    name, target, raised = found
    gone = stepped(play, name, target)
    return gone if raised is None else built(gone, raised)


# Half turns: a worker is told by where it stands ---------------------------------------------------------------------


def may_move(play: Play, player: Player, source: Any, target: Any) -> bool:
    """Tell whether the player may move, and its worker on the place ``source`` to the place ``target``."""
    start_cell, end_cell = cell_of(source), cell_of(target)
    if not _may_turn_now(play, player) or play.moved is not None or start_cell is None or end_cell is None:
        return False
    worker = play.board.worker(start_cell)
    return worker is not None and worker[:-1] == player.name and play.board.may_step(start_cell, end_cell)


def move(play: Play, player: Player, source: Any, target: Any) -> Play:
    """Return the game after a move that ``may_move`` allows: won, lost if nothing can be built, or with a build due."""
    assert may_move(play, player, source, target), "this move is not legal, may_move refuses it"
    start_cell, end_cell = cell_of(source), cell_of(target)
    assert start_cell is not None
    assert end_cell is not None
    worker = play.board.worker(start_cell)
    assert worker is not None
    gone = stepped(play, worker, end_cell)
    if gone.won is None and not gone.board.floors(end_cell):
        return decided(gone, 1 - gone.to_act, "no turn left")
    return gone


def moved(play: Play) -> str | None:
    """Return the name of the worker that has moved and has yet to build, or None."""
    return play.moved


def may_build(play: Play, player: Player, source: Any, target: Any) -> bool:
    """Tell whether the player may build on the place ``target``, with ``source`` the place of the worker that moved."""
    start_cell, end_cell = cell_of(source), cell_of(target)
    if not _may_turn_now(play, player) or play.moved is None or start_cell is None or end_cell is None:
        return False
    return play.board.cell(play.moved) == start_cell and play.board.may_raise(start_cell, end_cell)


def build(play: Play, player: Player, source: Any, target: Any) -> Play:
    """Return the game after a build that ``may_build`` allows."""
    assert may_build(play, player, source, target), "this build is not legal, may_build refuses it"
    end_cell = cell_of(target)
    assert end_cell is not None
    return built(play, end_cell)


# How it ends ---------------------------------------------------------------------------------------------------------


def resign(play: Play, player: Player) -> Play:
    """Return the game as given up by the player: lost, but no offence. A game that is over stays as it is."""
    index = index_of(play, player)
    assert index >= 0, "only who plays can give up"
    return play if play.won is not None else decided(play, 1 - index, "gave up")


def forfeit(play: Play, player: Player) -> Play:
    """Return the game with the player as an offender (illegal, malformed, late, gone): it loses a game not yet over."""
    index = index_of(play, player)
    assert index >= 0, "only who plays can offend"
    if play.pair[index] in play.offenders:
        return play
    marked = replace(play, offenders=(*play.offenders, play.pair[index]))
    return marked if play.won is not None else decided(marked, 1 - index, "forfeit")


def over(play: Play) -> bool:
    """Tell whether the game is decided: by a move to height 3, no turn left for who is next, resigning, or forfeit."""
    return play.won is not None


def mover(play: Play) -> Any:
    """Return the player who has to place, move or build next; in a game that is over, who would have to."""
    return play.pair[play.to_act]


def winner(play: Play) -> Any:
    """Return the player who has won, or None while the game goes on."""
    return None if play.won is None else play.pair[play.won]


def verdict(play: Play, player: Player) -> str:
    """Return ``CHEATER`` for an offender, else ``WINNER`` or ``LOSER``; nobody has won a game that goes on."""
    if player in play.offenders:
        return "CHEATER"
    return "WINNER" if play.won is not None and play.won == index_of(play, player) else "LOSER"


def offenders(play: Play) -> tuple[Any, ...]:
    """Return the players who forfeited, the first first."""
    return play.offenders


def outcome(play: Play) -> Outcome:
    """Return how the game ended.

    Raises:
        ValueError: it is not over.
    """
    if play.won is None:
        raise ValueError("this game is not over")
    return Outcome(play.pair[play.won], play.pair[1 - play.won], play.how, play.offenders, play.turns)


def board(play: Play) -> WireBoard:
    """Return the board as it is sent: six rows of six cells, each a height or a height and a worker."""
    return play.board.wire


# How it is worked out ------------------------------------------------------------------------------------------------


def _may_turn_now(play: Play, player: Any) -> bool:
    return may_act(play, player) and len(play.board.workers) == WORKERS


def _turn(play: Play, player: Player, worker: Any, move: Any, build: Any) -> tuple[str, int, int | None] | None:
    """Return a turn as (worker, target, cell built on or None if the move wins), or None if it is not legal."""
    if not _may_turn_now(play, player) or play.moved is not None:
        return None
    return legal_turn(play.board, player, worker, move, build)

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
from typing import Any, Protocol

from rules.santorini_board import (
    EMPTY,
    TOP,
    WORDS,
    Board,
    BoardError,
    WireBoard,
    beside,
    cell_of,
    place_of,
    read_board,
    step_between,
    step_of,
)

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

WORKERS = 4  # Two a player; the first four actions of a game place them.

Placed = tuple[int, tuple[int, int]]  # Worker 1 or 2, (row, column).
Acted = tuple[int, str, str | None]  # Worker 1 or 2, the word of the move, that of the build unless the move won.

# What a client that hears no names calls its own player and the other one on the board that it keeps.
ME = "me"
THEM = "them"


class Player(Protocol):
    """Who plays: comparable, with a name that differs from the other's."""

    @property
    def name(self) -> str:
        """What the player is called."""


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


@dataclass(frozen=True, slots=True)
class Play:
    """One game at one moment.

    ``pair`` are the players, the first mover first; ``to_act`` is 0 or 1, who has to place, move or build; ``moved``
    is the worker that has moved and has yet to build; ``last`` is the latest whole action as ``last_action`` tells
    it. ``won`` is 0 or 1 once the game is over, and ``how`` says by what, as in ``Outcome``.
    """

    pair: tuple[Any, Any]
    board: Board = EMPTY
    to_act: int = 0
    turns: int = 0
    moved: str | None = None
    move_word: str | None = None
    last: Placed | Acted | None = None
    won: int | None = None
    how: str = ""
    offenders: tuple[Any, ...] = ()

    def __str__(self) -> str:
        names = " against ".join(player.name for player in self.pair)
        if self.won is not None:
            state = f"{self.pair[self.won].name} has won: {self.how}"
        else:
            phase = "place" if len(self.board.workers) < WORKERS else "build" if self.moved else "move"
            state = f"{self.pair[self.to_act].name} has to {phase}"
        return f"{names}, {self.turns} turns, {state}\n{self.board}"


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
    if not _may_act(play, player) or len(play.board.workers) >= WORKERS or cell is None:
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
    return _passed_on(replace(play, board=grown, last=(number, place_of(cell))))


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
    return _own(player, worker)


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
    gone = _gone(play, name, target)
    return gone if raised is None else _built(gone, raised)


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
    gone = _gone(play, worker, end_cell)
    if gone.won is None and not gone.board.floors(end_cell):
        return _decided(gone, 1 - gone.to_act, "no turn left")
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
    return _built(play, end_cell)


# How it ends ---------------------------------------------------------------------------------------------------------


def resign(play: Play, player: Player) -> Play:
    """Return the game as given up by the player: lost, but no offence. A game that is over stays as it is."""
    index = _index(play, player)
    assert index >= 0, "only who plays can give up"
    return play if play.won is not None else _decided(play, 1 - index, "gave up")


def forfeit(play: Play, player: Player) -> Play:
    """Return the game with the player as an offender (illegal, malformed, late, gone): it loses a game not yet over."""
    index = _index(play, player)
    assert index >= 0, "only who plays can offend"
    if play.pair[index] in play.offenders:
        return play
    marked = replace(play, offenders=(*play.offenders, play.pair[index]))
    return marked if play.won is not None else _decided(marked, 1 - index, "forfeit")


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
    return "WINNER" if play.won is not None and play.won == _index(play, player) else "LOSER"


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


# What a client keeps that hears actions only -------------------------------------------------------------------------
#
# Its board is as on the wire, so that it can be handed on to whoever decides. Names are not told in that protocol: the
# own workers are me1 and me2, the other player's them1 and them2.


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


# How it is worked out ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Named:
    name: str


def _index(play: Play, player: Any) -> int:
    """Return the player's place in the pair, or -1."""
    for index, other in enumerate(play.pair):
        if other is player or other == player:
            return index
    return -1


def _may_act(play: Play, player: Any) -> bool:
    return play.won is None and _index(play, player) == play.to_act


def _may_turn_now(play: Play, player: Any) -> bool:
    return _may_act(play, player) and len(play.board.workers) == WORKERS


def _own(player: Player, worker: Any) -> str | None:
    """Return the full name of an own worker given as 1, 2 or by its full name, else None."""
    if type(worker) is int:
        return f"{player.name}{worker}" if worker in (1, 2) else None
    return worker if isinstance(worker, str) and worker in (f"{player.name}1", f"{player.name}2") else None


def _turn(play: Play, player: Player, worker: Any, move: Any, build: Any) -> tuple[str, int, int | None] | None:
    """Return a turn as (worker, target, cell built on or None if the move wins), or None if it is not legal."""
    if not _may_turn_now(play, player) or play.moved is not None:
        return None
    return _legal(play.board, player, worker, move, build)


def _legal(board: Board, player: Player, worker: Any, move: Any, build: Any) -> tuple[str, int, int | None] | None:
    """Return the same of a board alone, whoever is to move."""
    name, step = _own(player, worker), step_of(move)
    source = board.cell(name)
    if name is None or source is None or step is None:
        return None
    target = beside(source, step)
    if target is None or not board.may_step(source, target):
        return None
    if board.heights[target] == TOP:
        return name, target, None
    step = step_of(build)
    raised = None if step is None else beside(target, step)
    if raised is None or not board.step(name, target).may_raise(target, raised):
        return None
    return name, target, raised


def _gone(play: Play, worker: str, target: int) -> Play:
    """Return the game after a step: won by it, or with the worker to build."""
    source = play.board.cell(worker)
    assert source is not None
    word = WORDS[step_between(source, target)]
    grown = play.board.step(worker, target)
    if grown.heights[target] == TOP:
        done = replace(play, board=grown, turns=play.turns + 1, last=(int(worker[-1]), word, None))
        return _decided(done, play.to_act, "reached the top")
    return replace(play, board=grown, moved=worker, move_word=word)


def _built(play: Play, cell: int) -> Play:
    """Return the game after the build of the worker that has moved."""
    assert play.moved is not None
    assert play.move_word is not None
    source = play.board.cell(play.moved)
    assert source is not None
    acted = (int(play.moved[-1]), play.move_word, WORDS[step_between(source, cell)])
    return _passed_on(
        replace(play, board=play.board.raised(cell), turns=play.turns + 1, moved=None, move_word=None, last=acted)
    )


def _passed_on(play: Play) -> Play:
    """Return the game with the other player to act, who has lost if there is nothing it can do."""
    following = 1 - play.to_act
    passed = replace(play, to_act=following)
    if len(play.board.workers) == WORKERS and play.board.stuck(play.pair[following].name):
        return _decided(passed, play.to_act, "no turn left")
    return passed


def _decided(play: Play, won: int, how: str) -> Play:
    return replace(play, won=won, how=how, moved=None, move_word=None)


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
    name, cell = _own(_Named(THEM), told[0]), cell_of(told[1])
    if name is not None and cell is not None and kept.cell(name) == cell:
        return kept
    return _placed(kept, THEM, *told)


def _placed(board: Board, player: str, wid: Any, posn: Any) -> Board | None:
    name, cell = _own(_Named(player), wid), cell_of(posn)
    if name is None or cell is None or board.cell(name) is not None or board.worker(cell) is not None:
        return None
    return board.put(name, cell)


def _turned(board: Board, player: str, wid: Any, move: Any, build: Any) -> Board | None:
    found = _legal(board, _Named(player), wid, move, build)
    if found is None:
        return None
    name, target, raised = found
    grown = board.step(name, target)
    return grown if raised is None else grown.raised(raised)


# Why not, in words ---------------------------------------------------------------------------------------------------


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
    name, step = _own(player, worker), step_of(move)
    source = play.board.cell(name)
    if name is None or source is None:
        return "the player has no such worker"
    if step is None:
        return "the worker does not move"
    target = beside(source, step)
    if target is None or not play.board.may_step(source, target):
        return _why_no_step(play.board, source, target)
    return "the move does not win, and the place to build on is none, taken, or 4 high"


WHY_NOT = {  # in words, for who lost by it
    "may_place": _why_no_place,
    "may_move": _why_no_move,
    "may_build": _why_no_build,
    "may_turn": _why_no_turn,
    "wins": _why_no_turn,
}

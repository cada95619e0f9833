"""A game of Santorini at one moment, and what a step, a build or an end makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from rules.santorini_board import EMPTY, TOP, WORDS, Board, beside, step_between, step_of

WORKERS = 4  # Two a player; the first four actions of a game place them.

Placed = tuple[int, tuple[int, int]]  # Worker 1 or 2, (row, column).
Acted = tuple[int, str, str | None]  # Worker 1 or 2, the word of the move, that of the build unless the move won.


class Player(Protocol):
    """Who plays: comparable, with a name that differs from the other's."""

    @property
    def name(self) -> str:
        """What the player is called."""


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


def index_of(play: Play, player: Any) -> int:
    """Return the player's place in the pair, or -1."""
    for index, other in enumerate(play.pair):
        if other is player or other == player:
            return index
    return -1


def may_act(play: Play, player: Any) -> bool:
    """Tell whether it is the player's turn, in a game that is not over."""
    return play.won is None and index_of(play, player) == play.to_act


def own_worker(player: Player, worker: Any) -> str | None:
    """Return the full name of an own worker given as 1, 2 or by its full name, else None."""
    if type(worker) is int:
        return f"{player.name}{worker}" if worker in (1, 2) else None
    return worker if isinstance(worker, str) and worker in (f"{player.name}1", f"{player.name}2") else None


def legal_turn(board: Board, player: Player, worker: Any, move: Any, build: Any) -> tuple[str, int, int | None] | None:
    """Return the same of a board alone, whoever is to move."""
    name, step = own_worker(player, worker), step_of(move)
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


def stepped(play: Play, worker: str, target: int) -> Play:
    """Return the game after a step: won by it, or with the worker to build."""
    source = play.board.cell(worker)
    assert source is not None
    word = WORDS[step_between(source, target)]
    grown = play.board.step(worker, target)
    if grown.heights[target] == TOP:
        done = replace(play, board=grown, turns=play.turns + 1, last=(int(worker[-1]), word, None))
        return decided(done, play.to_act, "reached the top")
    return replace(play, board=grown, moved=worker, move_word=word)


def built(play: Play, cell: int) -> Play:
    """Return the game after the build of the worker that has moved."""
    assert play.moved is not None
    assert play.move_word is not None
    source = play.board.cell(play.moved)
    assert source is not None
    acted = (int(play.moved[-1]), play.move_word, WORDS[step_between(source, cell)])
    return passed_on(
        replace(play, board=play.board.raised(cell), turns=play.turns + 1, moved=None, move_word=None, last=acted)
    )


def passed_on(play: Play) -> Play:
    """Return the game with the other player to act, who has lost if there is nothing it can do."""
    following = 1 - play.to_act
    passed = replace(play, to_act=following)
    if len(play.board.workers) == WORKERS and play.board.stuck(play.pair[following].name):
        return decided(passed, play.to_act, "no turn left")
    return passed


def decided(play: Play, won: int, how: str) -> Play:
    """Return the game won by the first or the second of the pair, 0 or 1; ``how`` is as in ``Outcome``."""
    return replace(play, won=won, how=how, moved=None, move_word=None)

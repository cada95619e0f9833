"""How the four Santorini protocols ask for a decision, and how it is told them: read a question, word an answer.

    relay      placement(board, wid)         move_build(board)
    prompts    placement(board, ok)          turn(board, me, ok)
    rulecheck  place(board, worker, ok)      move(board, me, ok), then build(board, worker, ok)
    official   placement(workers, me)        turn(board, me)

``ok`` is what the rule checker said last, None before anything was checked. All places in questions and answers of
players are row and column, but for the rule checker's ``x`` and ``y``, which are column and row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rules.players.santorini_position import Position, Turn
from rules.santorini_board import WORDS, cell_of, pair_of, place_of, read_board, step_between
from rules.santorini_kept_board import ME

Answer = tuple[str, dict[str, Any]]
Phase = Literal["place", "turn", "build"]


class Dialect(Protocol):
    """A protocol's way to say what a player has decided. ``check``: only ask the rule checker about it."""

    checks: bool  # Whether there is a rule checker.
    halves: bool  # Whether move and build are asked for apart.

    def place(self, asked: Asked, cell: int, check: bool) -> Answer:
        """Word a placement; a cell from 36 on is off the board."""

    def turn(self, asked: Asked, turn: Turn, check: bool) -> Answer:
        """Word a turn, or the part of it that is asked for."""

    def give_up(self, asked: Asked) -> Answer | None:
        """Word giving up; None if the protocol has no word for it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was understood.

    ``me`` is the player's name, None where the question does not tell it; then all workers count as the opponent's.
    ``number`` is the worker to place or, in the phase ``build``, the one that has moved. ``ok`` is the rule checker's
    last answer.
    """

    dialect: Dialect
    phase: Phase
    position: Position
    me: str | None
    number: int = 0
    ok: bool | None = None

    def source(self, turn: Turn) -> int:
        """Return the cell from which the turn's worker starts."""
        return self.position.mine[turn.worker - 1]


def _word(source: int, target: int | None) -> str | None:
    return None if target is None else WORDS[step_between(source, target)]


def _pair(source: int, target: int) -> tuple[str, str]:
    return pair_of(step_between(source, target))


class Relay:
    """Numbers for workers, words for directions; nothing to check with, no giving up."""

    checks, halves = False, False

    def place(self, asked: Asked, cell: int, check: bool) -> Answer:
        """See `Dialect.place`."""
        return "wid_posn", {"wid": asked.number, "posn": place_of(cell)}

    def turn(self, asked: Asked, turn: Turn, check: bool) -> Answer:
        """See `Dialect.turn`."""
        move, build = _word(asked.source(turn), turn.to), _word(turn.to, turn.build)
        return "wid_move_build_dir", {"wid": turn.worker, "move_dir": move, "build_dir": build}

    def give_up(self, asked: Asked) -> Answer | None:
        """See `Dialect.give_up`."""
        return None


class Prompts:
    """Names for workers, pairs for directions, checks and giving up."""

    checks, halves = True, False

    def place(self, asked: Asked, cell: int, check: bool) -> Answer:
        """See `Dialect.place`."""
        return "check_placement" if check else "place_worker_request", {"place": place_of(cell)}

    def turn(self, asked: Asked, turn: Turn, check: bool) -> Answer:
        """See `Dialect.turn`."""
        said = {"worker": f"{asked.me}{turn.worker}", "move": _pair(asked.source(turn), turn.to)}
        if turn.build is not None:
            said["build"] = _pair(turn.to, turn.build)
        if check:
            return "check_turn", {"turn": tuple(said.values())}
        return "winning_request" if turn.build is None else "turn_request", said

    def give_up(self, asked: Asked) -> Answer | None:
        """See `Dialect.give_up`."""
        return "give_up", {}


class RuleCheck:
    """Cells for everything, column first; move and build apart; checks, no giving up."""

    checks, halves = True, True

    def place(self, asked: Asked, cell: int, check: bool) -> Answer:
        """See `Dialect.place`."""
        row, column = place_of(cell)
        return "place_request", {"wid": f"{asked.me}{asked.number}", "x": column, "y": row, "check": check}

    def turn(self, asked: Asked, turn: Turn, check: bool) -> Answer:
        """See `Dialect.turn`. A build that was left out though the move does not win is one where the worker stands."""
        if asked.phase == "build":
            return "build_request", self._from_to(turn.to, turn.to if turn.build is None else turn.build, check)
        return "move_request", self._from_to(asked.source(turn), turn.to, check)

    def give_up(self, asked: Asked) -> Answer | None:
        """See `Dialect.give_up`."""
        return None

    def _from_to(self, source: int, target: int, check: bool) -> dict[str, Any]:
        (y1, x1), (y2, x2) = place_of(source), place_of(target)
        return {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "check": check}


class Official:
    """Names for workers, flat pairs for directions, the own name for giving up; nothing to check with."""

    checks, halves = False, False

    def place(self, asked: Asked, cell: int, check: bool) -> Answer:
        """See `Dialect.place`."""
        return "place", {"place": place_of(cell)}

    def turn(self, asked: Asked, turn: Turn, check: bool) -> Answer:
        """See `Dialect.turn`."""
        ew, ns = _pair(asked.source(turn), turn.to)
        said = {"worker": f"{asked.me}{turn.worker}", "ew": ew, "ns": ns}
        if turn.build is None:
            return "winning_move", said
        said["build_ew"], said["build_ns"] = _pair(turn.to, turn.build)
        return "turn", said

    def give_up(self, asked: Asked) -> Answer | None:
        """See `Dialect.give_up`."""
        return "give_up", {"own": asked.me}


RELAY, PROMPTS, RULECHECK, OFFICIAL = Relay(), Prompts(), RuleCheck(), Official()


def read_question(question: str, values: Sequence[Any]) -> Asked:
    """Return what is asked, by a question of any of the protocols and its values in order.

    Raises:
        ValueError: no protocol has such a question, a board cannot be read, or a turn is asked for of a player that
            has not two workers on it.
    """
    match question, *values:
        case "placement", board, bool() | None as ok:
            return Asked(PROMPTS, "place", _position(board, None), None, ok=ok)
        case "placement", board, int(wid):
            return Asked(RELAY, "place", _position(board, ME), ME, wid)
        case "placement", workers, str(me):
            return Asked(OFFICIAL, "place", _placed(workers, me), me)
        case "move_build", board:
            return Asked(RELAY, "turn", _position(board, ME, 2), ME)
        case "turn", board, str(me), bool() | None as ok:
            return Asked(PROMPTS, "turn", _position(board, me, 2), me, ok=ok)
        case "turn", board, str(me):
            return Asked(OFFICIAL, "turn", _position(board, me, 2), me)
        case "place", board, str(worker), bool() | None as ok:
            return Asked(RULECHECK, "place", _position(board, worker[:-1]), worker[:-1], int(worker[-1]), ok)
        case "move", board, str(me), bool() | None as ok:
            return Asked(RULECHECK, "turn", _position(board, me, 2), me, ok=ok)
        case "build", board, str(worker), bool() | None as ok:
            return Asked(RULECHECK, "build", _position(board, worker[:-1], 2), worker[:-1], int(worker[-1]), ok)
    raise ValueError(f"Santorini has no question {question!r} with {len(values)} such values")


def _position(wire: Any, me: str | None, workers: int = 0) -> Position:
    board = read_board(wire)
    mine = tuple([cell for worker, cell in board.workers if worker[:-1] == me])
    if workers and len(mine) != workers:
        raise ValueError(f"{me} has {len(mine)} workers on the board, so it cannot take a turn")
    return Position(board.heights, mine, tuple([cell for worker, cell in board.workers if worker[:-1] != me]))


def _placed(workers: Any, me: str) -> Position:
    """Return the position of workers that are told as (worker, row, column), before any turn."""
    mine: list[int] = []
    theirs: list[int] = []
    for worker, row, column in workers:
        cell = cell_of((row, column))
        if cell is None:
            raise ValueError(f"{worker} stands at {row},{column}, off the board")
        (mine if worker[:-1] == me else theirs).append(cell)
    return Position((0,) * 36, tuple(mine), tuple(theirs))

"""The course's test harnesses for Santorini: JSON values in, JSON values out.

    xboard      a board, then requests on it, each answered
    xrules      a board, a move and perhaps a build, over and over: is it legal?
    xstrategy   a player, a board, a number of rounds, perhaps a first turn, over and over: can it stay alive?
    xrun        players by kind and name: who is expelled, and who wins each series of their tournament?

A direction is ``[EastWest, NorthSouth]``, a worker its full name, a board what ``read_board`` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rules import santorini, tournament
from rules.players.santorini import Diagonal, Illegal, Speaker
from rules.players.santorini_position import Position
from rules.santorini_board import CAP, TOP, Board, beside, pair_of, place_of, read_board, step_between, step_of
from rules.santorini_play import WORKERS, Play
from rules.santorini_strategy import Turn, can_stay_alive

__all__ = ["HARNESSES", "Harness", "HarnessError"]

Harness = Callable[[Sequence[object]], Iterable[object]]


SERIES_GAMES: Final = 3
KINDS: Final[Mapping[str, type[Speaker] | None]] = {"good": Diagonal, "breaker": Illegal, "infinite": None}


class HarnessError(ValueError):
    """The input is not what the harness reads; the text says which value."""


def xboard(values: Sequence[object]) -> Iterator[object]:
    """Answer requests on a board, which changes as they are carried out.

    ``["move", worker, direction]`` and ``["build", worker, direction]`` are carried out without asking the rules and
    answered by ``[]``; ``["neighbors", ...]`` by yes if that cell is on the board, ``["occupied?", ...]`` by yes if a
    worker stands there, ``["height", ...]`` by its height. A height of 4 stays 4.

    Raises:
        HarnessError: no such request or worker, or the cell is off the board and it is not asked whether it is.
        BoardError: the first value is no board.
    """
    if not values:
        raise HarnessError("xboard reads a board first, and there is nothing")
    board = read_board(values[0], loose=True)
    for request in values[1:]:
        match request:
            case [("move" | "build" | "neighbors" | "occupied?" | "height") as verb, str(worker), direction]:
                pass
            case _:
                raise HarnessError(f"no request: {request!r}")
        cell = _beside(board, worker, direction)
        if verb == "neighbors":
            yield _said(cell is not None)
            continue
        if cell is None:
            raise HarnessError(f"the cell is off the board: {request!r}")
        if verb == "move":
            board = board.step(worker, cell)
            yield []
        elif verb == "build":
            board = board.raised(cell) if board.heights[cell] < CAP else board
            yield []
        elif verb == "height":
            yield board.heights[cell]
        else:
            yield _said(board.worker(cell) is not None)


def xrules(values: Sequence[object]) -> Iterator[object]:
    """Say yes or no to each ``board``, ``["move", worker, direction]`` and perhaps ``["+build", direction]``.

    A move without a build is judged as a step alone, whatever its height; with one, both must be legal, the build
    counted from where the worker ends. A build after a winning move is judged like any other.

    Raises:
        HarnessError: a move is missing or written otherwise, or its worker is not on the board.
        BoardError: a value that should be a board is none.
    """
    at = 0
    while at < len(values):
        board = read_board(values[at], loose=True)
        asked, at = _asked(values, at + 1)
        if asked is None:
            raise HarnessError(f"a move must follow the board before value {at + 1}")
        worker, move, build = asked
        source, target = board.cell(worker), _beside(board, worker, move)
        legal = source is not None and target is not None and board.may_step(source, target)
        if legal and build is not None and target is not None:
            raised = _off(target, build)
            legal = raised is not None and board.step(worker, target).may_raise(target, raised)
        yield _said(legal)


def xstrategy(values: Sequence[object]) -> Iterator[object]:
    """Say whether each player can stay alive: ``name``, ``board``, ``rounds`` and perhaps its first turn as in xrules.

    Raises:
        HarnessError: a value is missing or written otherwise, or the worker of the turn is not on the board.
        BoardError: a value that should be a board is none.
    """
    at = 0
    while at < len(values):
        name, rounds = values[at], values[at + 2] if at + 2 < len(values) else None
        if not isinstance(name, str) or type(rounds) is not int:
            raise HarnessError(f"value {at + 1} should be a name, a board and a number of rounds should follow")
        board = read_board(values[at + 1], loose=True)
        asked, at = _asked(values, at + 3)
        if asked is None:
            yield _said(can_stay_alive(board, name, rounds))
            continue
        first = _turn(board, *asked)
        yield _said(first is not None and can_stay_alive(board, name, rounds, first))


def xrun(values: Sequence[object]) -> Iterator[object]:
    """Answer with who was expelled from a tournament, and with the winner and loser of each series.

    The one value is ``{"players": [[kind, name, path], ...], "observers": [...]}``. A ``good`` player keeps to the
    rules, a ``breaker`` breaks them with its first turn, and an ``infinite`` one never answers. All of them are ours:
    paths and observers are not looked at. A series is the best of three games, and who moves first alternates. Who is
    expelled plays no more, and what it had won is its opponents'. A name that is taken is padded
    (`rules.tournament.fresh_name`).

    Raises:
        HarnessError: the value is written otherwise, or there are fewer than two players.
    """
    entrants: list[Entrant] = []
    for kind, name in _configured(values):
        entrants.append(Entrant(tournament.fresh_name(entrants, name), kind))
    cup = tournament.start(entrants)
    for pair in tournament.pairs(entrants):
        if tournament.both_in(cup, pair):
            series = tournament.series(pair, SERIES_GAMES, True, True)
            while len(series.played) < SERIES_GAMES and tournament.undecided(series):
                seating = tournament.seating(series, len(series.played) + 1)
                series = tournament.played(series, santorini.outcome(_game(seating)))
            cup = tournament.add(cup, series)
    yield [list(tournament.expelled(cup)), [list(row) for row in tournament.series_rows(cup)]]


HARNESSES: Mapping[str, Harness] = {"xboard": xboard, "xrules": xrules, "xstrategy": xstrategy, "xrun": xrun}


@dataclass(frozen=True)
class Entrant:
    """Who takes part in `xrun`: a name, and the kind that decides for it."""

    name: str
    kind: str


def _configured(values: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of each player of a configuration."""
    match values:
        case [{"players": [_, _, *_] as players}]:
            pass
        case _:
            raise HarnessError('xrun reads one value, {"players": [...], "observers": [...]}, with two players or more')
    for player in players:
        match player:
            case [str(kind), str(name), *_] if kind in KINDS and name:
                yield kind, name
            case _:
                raise HarnessError(f"a player is [kind, name, path], the kind {', '.join(KINDS)}: got {player!r}")


def _game(pair: tuple[Entrant, Entrant]) -> Play:
    """Return a game that is over; who breaks a rule, or has no answer, forfeits."""
    kinds = {player: KINDS[player.kind] for player in pair}
    deciding = {player: None if kind is None else kind(player.name, 0) for player, kind in kinds.items()}
    play = santorini.start(pair)
    while not santorini.over(play):
        player = santorini.mover(play)
        play = _decision(play, player, deciding[player])
    return play


def _decision(play: Play, player: Entrant, decides: Speaker | None) -> Play:
    if decides is None:
        return santorini.forfeit(play, player)
    position = _position(play.board, player)
    if len(play.board.workers) < WORKERS:
        place = place_of(decides.choose_cell(position))
        if not santorini.may_place(play, player, place):
            return santorini.forfeit(play, player)
        return santorini.place(play, player, place)
    chosen = decides.choose_turn(position)
    if chosen is None:
        return santorini.resign(play, player)
    source = position.mine[chosen.worker - 1]
    worker = play.board.own(player.name)[chosen.worker - 1][0]
    move = pair_of(step_between(source, chosen.to))
    build = pair_of(step_between(chosen.to, chosen.build)) if chosen.build is not None else None
    if not santorini.may_turn(play, player, worker, move, build):
        return santorini.forfeit(play, player)
    return santorini.turn(play, player, worker, move, build)


def _position(board: Board, player: Entrant) -> Position:
    own = board.own(player.name)
    others = [cell for worker, cell in board.workers if (worker, cell) not in own]
    return Position(board.heights, tuple([cell for _, cell in own]), tuple(others))


def _said(yes: bool) -> str:
    return "yes" if yes else "no"


def _asked(values: Sequence[object], at: int) -> tuple[tuple[str, Any, Any] | None, int]:
    """Return (worker, direction of the move, direction of the build or None), or None, and what to read next."""
    match values[at] if at < len(values) else None:
        case ["move", str(worker), move]:
            at += 1
        case _:
            return None, at
    match values[at] if at < len(values) else None:
        case ["+build", build]:
            return (worker, move, build), at + 1
    return (worker, move, None), at


def _turn(board: Board, worker: str, move: Any, build: Any) -> Turn | None:
    """Return a turn as the search wants it, or None if it leaves the board or there is no build and no top."""
    target = _beside(board, worker, move)
    if target is None:
        return None
    if board.heights[target] == TOP:
        return worker, target, None
    raised = None if build is None else _off(target, build)
    return None if raised is None else (worker, target, raised)


def _beside(board: Board, worker: str, direction: Any) -> int | None:
    """Return the cell in a direction from a worker, or None off the board.

    Raises:
        HarnessError: there is no such worker or direction.
    """
    cell = board.cell(worker)
    if cell is None:
        raise HarnessError(f"no such worker on the board: {worker!r}")
    return _off(cell, direction)


def _off(cell: int, direction: Any) -> int | None:
    step = step_of(direction)
    if step is None:
        raise HarnessError(f"no direction: {direction!r}")
    return beside(cell, step)

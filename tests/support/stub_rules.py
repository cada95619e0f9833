"""Rules that know no game: plain values, games that are over after a few turns, guards that refuse one marked answer.

Every function that a shipped spec names is here and takes as many values. What a guard refuses is fixed, so that a
player can answer illegally on purpose: the square or place (9, 9), the worker "no1", the map of width 13, the
connection of length 5, destinations that were not offered.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from types import ModuleType
from typing import Any

from machines.values import Peer, Record

Pair = tuple[Peer, Peer]
TURNS = 3  # of a game, both players together
MARKED = (9, 9)
TILE = (("A", "B"), ("C", "D"), ("E", "F"), ("G", "H"))
COLOURS = ("white", "black", "red", "green", "blue")


def others(players: tuple[Peer, ...], gone: tuple[Peer, ...]) -> tuple[Peer, ...]:
    return tuple(player for player in players if player not in gone)


# -- tsuro -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Table:
    """Who plays, who is out, how many tiles lie, and how many are in the hand of the one to move."""

    players: tuple[Peer, ...]
    out: tuple[Peer, ...] = ()
    laid: int = 0
    hand: int = 0


def tsuro() -> dict[str, Any]:
    def free_token(players: tuple[Peer, ...]) -> str:
        return next(colour for colour in COLOURS if colour not in {player.token for player in players})

    def start(players: tuple[Peer, ...]) -> Table:
        return Table(players)

    def deal(table: Table, tiles: int) -> Table:
        return replace(table, hand=tiles)

    def board(table: Table) -> Any:
        return (((None,) * 10,) * 10, ())

    def hand(table: Table) -> Any:
        return (TILE,) * table.hand

    def may_start(table: Table, player: Peer, tile: Any, port: str, x: int, y: int) -> bool:
        return tile == TILE and (x, y) != MARKED

    def begin(table: Table, player: Peer, tile: Any, port: str, x: int, y: int) -> Table:
        return replace(table, laid=table.laid + 1)

    def may_place(table: Table, player: Peer, tile: Any, x: int, y: int) -> bool:
        return tile == TILE and (x, y) != MARKED

    def place(table: Table, player: Peer, tile: Any, x: int, y: int) -> Table:
        # The second tile of the second player takes it off the board: skipped in what is left of the round.
        out = (*table.out, player) if table.laid == len(table.players) + 1 else table.out
        return replace(table, laid=table.laid + 1, out=out)

    def eject(table: Table, player: Peer) -> Table:
        return replace(table, out=(*table.out, player))

    def playing(table: Table, player: Peer) -> bool:
        return player not in table.out

    def over(table: Table) -> bool:
        return len(table.players) - len(set(table.out)) < 2 or table.laid >= 3 * len(table.players)

    def ranking(table: Table) -> Any:
        return (tuple(player.name for player in others(table.players, table.out)),)

    def places(table: Table) -> Any:
        return (others(table.players, table.out),)

    def ejected(table: Table) -> Any:
        return tuple(dict.fromkeys(table.out))

    def cheaters(table: Table) -> Any:
        return tuple(player.name for player in table.out)

    def result(table: Table) -> Any:
        return Record(laid=table.laid, out=tuple(player.number for player in table.out))

    return dict(locals())


# -- santorini and its tournament ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Play:
    """One game: four workers are placed, then TURNS turns are taken, unless somebody forfeits."""

    pair: Pair
    placed: int = 0
    turns: int = 0
    loser: Peer | None = None
    offender: Peer | None = None


def santorini() -> dict[str, Any]:
    def start(pair: Pair) -> Play:
        return Play(pair)

    def over(play: Play) -> bool:
        return play.loser is not None or play.turns >= TURNS

    def mover(play: Play) -> Peer:
        return play.pair[play.turns % 2]

    def winner(play: Play) -> Peer:
        return play.pair[1] if play.loser == play.pair[0] else play.pair[0]

    def outcome(play: Play) -> Play:
        return play

    def forfeit(play: Play, player: Peer) -> Play:
        return replace(play, loser=player, offender=player)

    def resign(play: Play, player: Peer) -> Play:
        return replace(play, loser=player)

    def offenders(play: Play) -> tuple[Peer, ...]:
        return () if play.offender is None else (play.offender,)

    def verdict(play: Play, player: Peer) -> str:
        if player == play.offender:
            return "CHEATER"
        return "WINNER" if player == winner(play) else "LOSER"

    def board(play: Play) -> Any:
        return ((0, play.turns % 5), ("1ab2",))

    # The relay names a worker and a square, the other two a place alone.
    def may_place(play: Play, player: Peer, wid_or_place: Any, posn: Any = None) -> bool:
        return bool((wid_or_place if posn is None else posn) not in (MARKED, (5, 5)))

    def place(play: Play, player: Peer, wid_or_place: Any, posn: Any = None) -> Play:
        return replace(play, placed=play.placed + 1)

    def last_placed(play: Play) -> Any:
        return (1, (0, 0)) if play.placed else None

    def last_action(play: Play) -> Any:
        return (1, "North", "south-east") if play.turns else (2, (1, 1))

    def newest(play: Play) -> str:
        return "ab1"

    def placements(play: Play) -> Any:
        return (("ab1", 0, 1), ("cd1", 2, 3))[: play.placed]

    def crossed(told: Any, column_first: bool) -> Any:
        return told

    def full_worker(player: Peer, worker: str) -> str:
        return worker

    def next_worker(play: Play, player: Peer) -> str:
        return "ab1" if play.placed < 2 else "ab2"

    def may_turn(play: Play, player: Peer, worker: Any, move: Any, build: Any) -> bool:
        return bool(worker != "no1" and move != build)

    def turn(play: Play, player: Peer, worker: Any, move: Any, build: Any) -> Play:
        return replace(play, turns=play.turns + 1, loser=other(play, player) if build is None else play.loser)

    def wins(play: Play, player: Peer, worker: str, move: Any) -> bool:
        return worker != "no1" and play.turns > 0

    def may_turn_any(play: Play, player: Peer, turn: Any) -> bool:
        return bool(turn[0] != "no1")

    def may_move(play: Play, player: Peer, old: Any, new: Any) -> bool:
        return MARKED not in (old, new)

    def move(play: Play, player: Peer, old: Any, new: Any) -> Play:
        return replace(play, loser=other(play, player)) if new == (7, 7) else play

    def moved(play: Play) -> str:
        return "ab1"

    def may_build(play: Play, player: Peer, old: Any, new: Any) -> bool:
        return MARKED not in (old, new)

    def build(play: Play, player: Peer, old: Any, new: Any) -> Play:
        return replace(play, turns=play.turns + 1)

    # What the relay's client knows of its board.
    def blank() -> Any:
        return ((0, 0), (0, 0))

    def seen(board: Any, told: Any) -> Any:
        return board if told is None else ((0, 1), (1, 0))

    def next_wid(board: Any) -> int:
        return 1

    def own_place(board: Any, wid: int, posn: Any) -> Any:
        return ((0, 1), (0, 0))

    def own_turn(board: Any, wid: int, move_dir: str, build_dir: str | None) -> Any:
        return ((0, 1), (0, 1))

    def other(play: Play, player: Peer) -> Peer:
        return play.pair[1] if player == play.pair[0] else play.pair[0]

    return dict(locals())


@dataclass(frozen=True, slots=True)
class Series:
    """The games of one pair, until they are played or somebody has offended."""

    pair: Pair
    games: int
    played: tuple[Play, ...] = ()


@dataclass(frozen=True, slots=True)
class Cup:
    """The series played so far, and who may not go on."""

    players: tuple[Peer, ...]
    rows: tuple[Pair, ...] = ()
    out: tuple[Peer, ...] = ()


def tournament() -> dict[str, Any]:
    def fresh_name(players: tuple[Peer, ...], given: str) -> str:
        taken = {player.name for player in players}
        return next(name for name in (given + "x" * n for n in range(100)) if name not in taken)

    def names(players: tuple[Peer, ...]) -> Any:
        return tuple(player.name for player in players)

    def start(players: tuple[Peer, ...]) -> Cup:
        return Cup(players)

    def pairs(players: tuple[Peer, ...]) -> Any:
        return tuple(combinations(players, 2))

    def both_in(cup: Cup, pair: Pair) -> bool:
        return not set(pair) & set(cup.out)

    def add(cup: Cup, result: Series) -> Cup:
        offenders = tuple(play.offender for play in result.played if play.offender is not None)
        winner = leader(result)
        loser = result.pair[0] if winner == result.pair[1] else result.pair[1]
        return replace(cup, rows=(*cup.rows, (winner, loser)), out=(*cup.out, *offenders))

    def won(cup: Cup, player: Peer) -> bool:
        return any(winner == player for winner, _ in cup.rows)

    def history(cup: Cup) -> Any:
        return tuple((winner.name, loser.name) for winner, loser in cup.rows)

    def series_rows(cup: Cup) -> Any:
        return history(cup)

    def result_rows(cup: Cup) -> Any:
        return history(cup)

    def survivors(cup: Cup) -> Any:
        return others(cup.players, cup.out)

    def expelled(cup: Cup) -> Any:
        return tuple(player.name for player in cup.out)

    def places(cup: Cup) -> Any:
        return (survivors(cup),)

    def offenders(cup: Cup) -> Any:
        return cup.out

    def points(cup: Cup) -> Any:
        return tuple((player, len(cup.rows)) for player in cup.players)

    def result(cup: Cup) -> Any:
        return Record(rows=tuple((w.number, l.number) for w, l in cup.rows), out=tuple(p.number for p in cup.out))

    def odd(games: int) -> int:
        return games

    def series(pair: Pair, games: int, stop_when_decided: bool, alternate: bool) -> Series:
        return Series(pair, games)

    def length(series: Series) -> int:
        return series.games

    def undecided(series: Series) -> bool:
        return all(play.offender is None for play in series.played)

    def seating(series: Series, n: int) -> Pair:
        return series.pair

    def played(series: Series, play: Play) -> Series:
        return replace(series, played=(*series.played, play))

    def leader(series: Series) -> Peer:
        lost = [play.loser for play in series.played]
        return series.pair[1] if lost.count(series.pair[0]) > lost.count(series.pair[1]) else series.pair[0]

    def match_number(players: tuple[Peer, ...], pair: Pair, player: Peer) -> int:
        return [own for own in combinations(players, 2) if player in own].index(pair) + 1

    return dict(locals())


# -- trains and its knockout -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bracket:
    """Maps handed in, who is still in, who lost, who was kicked, and the results of the round so far."""

    players: tuple[Peer, ...]
    maps: tuple[Any, ...] = ()
    lost: tuple[Peer, ...] = ()
    kicked: tuple[Peer, ...] = ()
    results: int = 0
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """One game: who plays, who was kicked, whose turn it is by count."""

    players: tuple[Peer, ...]
    kicked: tuple[Peer, ...] = ()
    turns: int = 0


def knockout() -> dict[str, Any]:
    def start(players: tuple[Peer, ...]) -> Bracket:
        return Bracket(players)

    def enter(cup: Bracket, player: Peer, map: Any) -> Bracket:  # noqa: A002 (as the spec calls it)
        return replace(cup, maps=(*cup.maps, map))

    def kick(cup: Bracket, player: Peer) -> Bracket:
        return replace(cup, kicked=(*cup.kicked, player))

    def entries(cup: Bracket) -> Any:
        return cup.maps

    def points(cup: Bracket) -> Any:
        return tuple((player, 1.0) for player in left(cup))

    def left(cup: Bracket) -> Any:
        return others(cup.players, (*cup.lost, *cup.kicked))

    def groups(cup: Bracket) -> Any:
        playing = left(cup)
        if len(playing) < 4:
            return (playing,)
        return (playing[:2], playing[2:])

    def add(cup: Bracket, result: Record) -> Bracket:
        groups_of_round = 1 if cup.results == 0 and len(left(cup)) < 4 else 2
        results = cup.results + 1
        done = results == groups_of_round
        return replace(
            cup,
            lost=(*cup.lost, *result.losers),
            kicked=(*cup.kicked, *result.kicked),
            results=0 if done else results,
            rounds=cup.rounds + done,
        )

    def over(cup: Bracket) -> bool:
        return cup.rounds >= 3 or len(left(cup)) < 2

    def losers(cup: Bracket) -> Any:
        return tuple(player for player in cup.players if player in cup.lost and player not in cup.kicked)

    def winners(cup: Bracket) -> Any:
        return left(cup)

    def kicked(cup: Bracket) -> Any:
        return tuple(dict.fromkeys(cup.kicked))

    def result(cup: Bracket) -> Any:
        return Record(
            winners=tuple(p.number for p in left(cup)),
            kicked=tuple(sorted({p.number for p in cup.kicked})),
        )

    return dict(locals())


def trains() -> dict[str, Any]:
    destinations = tuple(("Aarhus", f"City {n}") for n in range(5))

    def is_map(map: Any) -> bool:  # noqa: A002
        return bool(map.width != 13)

    def choose(entries: Any, left: Any) -> Any:
        return entries[0] if entries else None

    def start(players: tuple[Peer, ...], map: Any, seed: int, deck: str, offers: str) -> Board:  # noqa: A002
        return Board(players, turns=seed % 2)

    def over(table: Board) -> bool:
        return len(set(table.kicked)) >= len(table.players) or table.turns >= 2 * len(table.players)

    def mover(table: Board) -> Peer:
        playing = others(table.players, table.kicked)
        return playing[table.turns % len(playing)]

    def by_rank(table: Board) -> Any:
        return others(table.players, table.kicked)

    def first(table: Board, player: Peer) -> bool:
        return bool(by_rank(table)[0] == player)

    def kick(table: Board, player: Peer) -> Board:
        return replace(table, kicked=(*table.kicked, player))

    def result(table: Board) -> Any:
        return Record(losers=by_rank(table)[1:], kicked=table.kicked)

    def offer(table: Board) -> Any:
        return Record(rails=45, cards=("red", "blue"), destinations=destinations)

    def may_return(offer: Any, unwanted: Any) -> bool:
        return all(destination in offer.destinations for destination in unwanted)

    def seat(table: Board, player: Peer, offer: Any, unwanted: Any) -> Board:
        return table

    def state(table: Board, player: Peer, show: str) -> Any:
        this = Record(
            destination1=destinations[0],
            destination2=destinations[1],
            rails=45,
            cards=Record(red=table.turns),
            acquired=(),
        )
        return this if show == "own" else Record(this=this, acquired=((),))

    def may_acquire(table: Board, player: Peer, connection: Any) -> bool:
        return bool(connection[3] != 5)

    def acquire(table: Board, player: Peer, connection: Any) -> Board:
        return replace(table, turns=table.turns + 1)

    def has_cards(table: Board) -> bool:
        return table.turns % 3 != 2

    def top(table: Board) -> Any:
        return ("red", "white")

    def draw(table: Board, player: Peer) -> Board:
        return replace(table, turns=table.turns + 1)

    def skip(table: Board, player: Peer) -> Board:
        return replace(table, turns=table.turns + 1)

    return dict(locals())


# -- as modules ------------------------------------------------------------------------------------------------------


def module(name: str, functions: Mapping[str, Any]) -> ModuleType:
    """Return functions as a module of rules."""
    made = ModuleType(name)
    for key, function in functions.items():
        if inspect.isfunction(function):
            setattr(made, key, function)
    made.__all__ = [key for key in functions if hasattr(made, key)]  # type: ignore[attr-defined]
    return made


STUBS = {maker.__name__: module(maker.__name__, maker()) for maker in (tsuro, santorini, tournament, knockout, trains)}

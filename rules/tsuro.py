"""Tsuro: who may lay which tile where, where the tokens end, who is out, who wins.

Three to five players start on the edge of a board of 10 x 10 squares and in turn lay the tile that carries their own
token on. A token that comes back to the edge is out; the last one in wins.

    start -> deal, begin | eject   for each player             the first placements: round 0
          -> deal, place | eject   for each player still in    a round, as often as `over` says no
          -> ranking, cheaters, result

A table is a value; each function returns the next one. A player is anything that can be compared and has a name and
a token: everything goes by player and token, so that two players may have the same name. The round is not told: it is
a new one when a player moves who stands no later in turn order than the one who moved before.

The rules are those of the "edge start": see the protocol's document for each point that players have argued about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from rules.tsuro_board import (
    BESIDE,
    COLOURS,
    CROSSINGS,
    EDGE,
    KINDS,
    OFF,
    PORTS,
    ROTATIONS,
    SIDE,
    TILES,
    Board,
    Crossing,
    Tile,
    WireBoard,
    canonical,
    facing,
    port_of,
    spot_of,
    walk,
)

__all__ = [
    "begin",
    "board",
    "cheaters",
    "deal",
    "eject",
    "ejected",
    "free_token",
    "hand",
    "may_place",
    "may_start",
    "over",
    "place",
    "places",
    "playing",
    "ranking",
    "result",
    "start",
]


Hand = tuple[Tile, ...]
Shape = Sequence[Sequence[str]]  # What a peer may write as a tile.


class Player(Protocol):
    """Who plays: comparable, with a name that need not be unique and the colour of a token that must be."""

    @property
    def name(self) -> str:
        """What the player is called."""

    @property
    def token(self) -> str:
        """One of the five colours."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A player's place in turn order and how the game goes for it.

    ``spot`` is the port where the token stands, None before its first placement. ``fate`` is ``in``, ``exited``,
    ``collided`` or ``ejected``, and ``until`` the round in which it stopped being ``in``. The token of an ejected
    player stays on the board and is moved on.
    """

    player: Any
    token: str
    spot: int | None = None
    fate: str = "in"
    until: int | None = None

    def __str__(self) -> str:
        if self.spot is None:
            return f"{self.token} has not begun, {self.fate}"
        port, x, y = port_of(self.spot)
        return f"{self.token} at {port} {x},{y}, {self.fate}"


@dataclass(frozen=True, slots=True)
class Table:
    """The whole game at one moment.

    ``hand`` is what was dealt last; ``dealt`` counts the tiles dealt so far; ``round`` is 0 for the first placements;
    ``moved`` is the place in turn order of who moved last, -1 before anyone has.
    """

    board: Board
    seats: tuple[Seat, ...]
    hand: tuple[Tile, ...] = ()
    dealt: int = 0
    round: int = 0
    moved: int = -1

    def __str__(self) -> str:
        return "\n".join([f"round {self.round}", str(self.board), *map(str, self.seats)])


# Setting up ----------------------------------------------------------------------------------------------------------


def free_token(players: Iterable[Player]) -> str:
    """Return the first colour in order (white, black, red, green, blue) that none of the players has.

    Raises:
        ValueError: all five are taken; a spec must not seat more.
    """
    taken = {player.token for player in players}
    for colour in COLOURS:
        if colour not in taken:
            return colour
    raise ValueError("all five tokens are taken: Tsuro seats five players at most")


def start(players: Sequence[Player]) -> Table:
    """Return the table before the first placements; turn order is the order of ``players``, for the whole game.

    Raises:
        ValueError: two players have the same token, or one has a token that does not exist.
    """
    seats = tuple(Seat(player, player.token) for player in players)
    tokens = [seat.token for seat in seats]
    if len(set(tokens)) < len(tokens) or not set(tokens) <= set(COLOURS):
        raise ValueError(f"each player needs a token of its own, out of {', '.join(COLOURS)}: got {', '.join(tokens)}")
    return Table(Board(), seats)


def deal(table: Table, count: int) -> Table:
    """Return the table with the next ``count`` tiles as the hand.

    One pointer runs over the 35 tiles in order and begins again at the first. Nothing is shuffled, and what a player
    does not use is not given back, so one tile may lie on the board several times.

    Raises:
        ValueError: ``count`` is not 0..35.
    """
    if not 0 <= count <= len(TILES):
        raise ValueError(f"a hand has 0 to {len(TILES)} tiles, not {count}")
    hand = tuple([TILES[(table.dealt + i) % len(TILES)] for i in range(count)])
    return Table(table.board, table.seats, hand, table.dealt + count, table.round, table.moved)


def board(table: Table) -> WireBoard:
    """Return the board as it is sent: ten columns of ten squares (x first), then where each token started.

    A square is a tile or None; a start is (token, port, x, y), in the order of the colours; tokens that are out, or
    whose player was ejected, stay listed.
    """
    return table.board.wire


def hand(table: Table) -> tuple[Tile, ...]:
    """Return the tiles dealt last, unturned."""
    return table.hand


# Moves ---------------------------------------------------------------------------------------------------------------


def may_start(table: Table, player: Player, tile: Shape, port: str, x: int, y: int) -> bool:
    """Tell whether a first placement is legal. Any tile shape and any integers may be asked about.

    It is if the tile is one of the hand in some rotation; the square is on the board and empty, and so are the
    squares above, below and at its sides; the port faces off the board; and the token does not leave the board again
    at once, unless it would with every tile of the hand in every rotation.
    """
    index = _index(table, player)
    if index < 0 or table.seats[index].spot is not None or table.seats[index].fate != "in":
        return False
    return may_start_on(table.board, table.hand, tile, port, x, y)


def may_start_on(board: Board, hand: Hand, tile: Shape, port: str, x: int, y: int) -> bool:
    """Tell the same of a board and a hand alone, for who has not begun."""
    chosen = _chosen(hand, tile)
    if chosen is None or len(port) != 1 or port not in PORTS or not (0 <= x < SIDE and 0 <= y < SIDE):
        return False
    if not _lonely(board, x, y):
        return False
    first = spot_of(port, x, y)
    return BESIDE[first] == OFF and _prudent(board, hand, first, chosen)


def begin(table: Table, player: Player, tile: Shape, port: str, x: int, y: int) -> Table:
    """Return the table after a first placement that ``may_start`` allows."""
    index, laid = _index(table, player), canonical(tile)
    assert laid is not None, f"{tile} is no tile, may_start refuses it"
    seat = table.seats[index]
    assert seat.spot is None, f"{seat} a second time, may_start refuses it"
    grown = table.board.put(laid, x, y).enter(seat.token, port, x, y)
    seats = list(table.seats)
    seats[index] = replace(seat, spot=80 * x + 8 * y + CROSSINGS[laid][PORTS.index(port)])
    return _settled(table, index, grown, seats)


def may_place(table: Table, player: Player, tile: Shape, x: int, y: int) -> bool:
    """Tell whether a later placement is legal. Any tile shape and any integers may be asked about.

    It is if the player is still in; the tile is one of the hand in some rotation; the square is the one that the
    player's token faces; and the token stays in, unless it would go out with every tile of the hand in every
    rotation. What happens to the other tokens does not matter.
    """
    index = _index(table, player)
    if index < 0:
        return False
    seat = table.seats[index]
    return seat.fate == "in" and seat.spot is not None and may_place_at(table.board, table.hand, seat.spot, tile, x, y)


def may_place_at(board: Board, hand: Hand, spot: int, tile: Shape, x: int, y: int) -> bool:
    """Tell the same of a board and a hand alone, for a token that stands at ``spot``."""
    if facing(spot) != (x, y):
        return False
    chosen = _chosen(hand, tile)
    return chosen is not None and _prudent(board, hand, BESIDE[spot], chosen)


def place(table: Table, player: Player, tile: Shape, x: int, y: int) -> Table:
    """Return the table after a later placement that ``may_place`` allows; all tokens have walked on."""
    index, laid = _index(table, player), canonical(tile)
    assert laid is not None, f"{tile} is no tile, may_place refuses it"
    assert table.board.columns[x][y] is None, f"{x},{y} is taken, may_place refuses it"
    return _settled(table, index, table.board.put(laid, x, y), list(table.seats))


def eject(table: Table, player: Player) -> Table:
    """Return the table with the player out for a violation: nothing is placed, it is a cheater, its token stays."""
    index = _index(table, player)
    assert index >= 0, "only who plays can be ejected"
    number = _round(table, index)
    seats = list(table.seats)
    seats[index] = replace(seats[index], fate="ejected", until=number)
    return Table(table.board, tuple(seats), table.hand, table.dealt, number, index)


# The state of the game -----------------------------------------------------------------------------------------------


def playing(table: Table, player: Player) -> bool:
    """Tell whether the player is still in: its token has not gone out, and it was not ejected."""
    index = _index(table, player)
    return index >= 0 and table.seats[index].fate == "in"


def over(table: Table) -> bool:
    """Tell whether fewer than two players are in. It counts after whole rounds only, so ask it then."""
    return sum(seat.fate == "in" for seat in table.seats) < 2


def ranking(table: Table) -> tuple[tuple[str, ...], ...]:
    """Return the names in groups, best first, each sorted: who is still in, then who went out, the last round first.

    Ejected players are in no group.
    """
    return tuple(tuple(sorted(player.name for player in group)) for group in places(table))


def places(table: Table) -> tuple[tuple[Any, ...], ...]:
    """Return the players in groups as `ranking` has their names, each in turn order."""
    groups: dict[int, list[Any]] = {}
    for seat in table.seats:
        if seat.fate != "ejected":
            until = table.round + 1 if seat.until is None else seat.until
            groups.setdefault(until, []).append(seat.player)
    return tuple(tuple(groups[until]) for until in sorted(groups, reverse=True))


def cheaters(table: Table) -> tuple[str, ...]:
    """Return the sorted names of the players who were ejected."""
    return tuple(sorted(player.name for player in ejected(table)))


def ejected(table: Table) -> tuple[Any, ...]:
    """Return the players who were ejected, in turn order."""
    return tuple(seat.player for seat in table.seats if seat.fate == "ejected")


def result(table: Table) -> dict[str, Any]:
    """Return what there is to say about the game, as JSON-able values.

    ``winners`` is the first group of ``ranking``; ``rounds`` does not count the first placements; ``players`` are in
    turn order with ``name``, ``token``, ``fate`` (in, exited, collided, ejected) and ``round``, the one it went out
    in or None.
    """
    groups = ranking(table)
    return {
        "winners": groups[0] if groups else (),
        "ranking": groups,
        "cheaters": cheaters(table),
        "rounds": table.round,
        "players": tuple(
            {"name": seat.player.name, "token": seat.token, "fate": seat.fate, "round": seat.until}
            for seat in table.seats
        ),
    }


def legal_starts(board: Board, hand: Hand) -> Iterator[tuple[Tile, str, int, int]]:
    """Yield all legal first placements as (tile, port, x, y): squares clockwise from (0, 0), ports, tiles, turns."""
    for x, y in EDGE:
        if not _lonely(board, x, y):
            continue
        for port in PORTS:
            if BESIDE[spot_of(port, x, y)] == OFF:
                for tile in _options(board, hand, spot_of(port, x, y)):
                    yield tile, port, x, y


def legal_places(board: Board, hand: Hand, spot: int) -> tuple[Tile, ...]:
    """Return the tiles that a token at ``spot`` may lay before it, each different rotation once, in the hand's order.

    They lie on the square ``facing(spot)``; there is none for a token at the board's edge.
    """
    return () if BESIDE[spot] == OFF else _options(board, hand, BESIDE[spot])


# How it is worked out ------------------------------------------------------------------------------------------------


def _index(table: Table, player: Player) -> int:
    """Return the player's place in turn order, or -1."""
    for index, seat in enumerate(table.seats):
        # Almost always the very same object; comparing every seat for equality would take longer than the move.
        if seat.player is player:
            return index
    for index, seat in enumerate(table.seats):
        if seat.player == player:
            return index
    return -1


def _chosen(hand: Hand, tile: Shape) -> Tile | None:
    """Return the tile with its pairs in order if the hand holds it in some rotation, else None."""
    chosen = canonical(tile)
    if chosen is None:
        return None
    kind = KINDS[chosen]
    return chosen if any(KINDS[dealt] == kind for dealt in hand) else None


def _lonely(board: Board, x: int, y: int) -> bool:
    """Tell whether a square and the four beside it hold no tile."""
    around = ((x, y), (x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y))
    return not any(
        0 <= column < SIDE and 0 <= row < SIDE and board.columns[column][row] is not None for column, row in around
    )


def _prudent(board: Board, hand: Hand, entry: int, chosen: Tile) -> bool:
    """Tell whether a tile keeps in the token that enters it at ``entry``, or no tile of the hand would."""
    return stays(board.crossings, entry, CROSSINGS[chosen]) or chosen in _options(board, hand, entry)


def _options(board: Board, hand: Hand, entry: int) -> tuple[Tile, ...]:
    """Return the tiles of the hand, turned, that keep in the token that enters at ``entry``; all if none does."""
    tiles = tuple(dict.fromkeys([tile for dealt in hand for tile in ROTATIONS[dealt]]))
    return tuple([tile for tile in tiles if stays(board.crossings, entry, CROSSINGS[tile])]) or tiles


def stays(crossings: Sequence[Crossing | None], entry: int, laid: Crossing) -> bool:
    """Tell whether a token that enters the new tile at ``entry`` comes to a halt before an empty square.

    The path may come through the new tile more than once, so it is looked at apart from the board.
    """
    square = entry >> 3
    spot = entry & ~7 | laid[entry & 7]
    while True:
        spot = walk(crossings, spot)
        over = BESIDE[spot]
        if over == OFF:
            return False
        if over >> 3 != square:
            return True
        spot = over & ~7 | laid[over & 7]


def _round(table: Table, index: int) -> int:
    """Return the round in which the player at ``index`` moves.

    Whoever is in moves once a round, in turn order, and nobody comes back in. So the first to move in a round moved
    in the round before too, and stands no later than the last who did.
    """
    return table.round + (index <= table.moved)


def _settled(table: Table, index: int, grown: Board, seats: list[Seat]) -> Table:
    """Return the table after a tile was laid: tokens walked on, those at the edge are out."""
    number = _round(table, index)
    for i, seat in enumerate(seats):
        if seat.spot is None or (BESIDE[seat.spot] == OFF and i != index):
            continue
        spot = walk(grown.crossings, seat.spot)
        if BESIDE[spot] != OFF:
            if spot != seat.spot:
                seats[i] = Seat(seat.player, seat.token, spot, seat.fate, seat.until)
        elif seat.fate == "in":
            met = any((port, x, y) == port_of(spot) for _, port, x, y in grown.starts)
            seats[i] = Seat(seat.player, seat.token, spot, "collided" if met else "exited", number)
        else:
            seats[i] = replace(seat, spot=spot)
    return Table(grown, tuple(seats), table.hand, table.dealt, number, index)


def _why_no_start(table: Table, player: Player, tile: Shape, port: str, x: int, y: int) -> str:
    if not (0 <= x < SIDE and 0 <= y < SIDE):
        return f"{x},{y} is not on the board"
    if _chosen(table.hand, tile) is None:
        return "the tile is not one of the hand"
    if not _lonely(table.board, x, y):
        return f"there is a tile on {x},{y} or beside it"
    if port not in PORTS or BESIDE[spot_of(port, x, y)] != OFF:
        return f"port {port} of {x},{y} does not face off the board"
    return "the token would leave the board at once, and with another tile or rotation it would not"


def _why_no_place(table: Table, player: Player, tile: Shape, x: int, y: int) -> str:
    spot = table.seats[_index(table, player)].spot
    faced = facing(spot) if spot is not None else None
    if faced is not None and faced != (x, y):
        return f"the token faces {faced[0]},{faced[1]}, not {x},{y}"
    if _chosen(table.hand, tile) is None:
        return "the tile is not one of the hand"
    return "the token would leave the board, and with another tile or rotation it would not"


WHY_NOT = {"may_start": _why_no_start, "may_place": _why_no_place}  # in words, for who lost by it

"""The board of Tsuro: ports, tiles and the paths that tokens walk. No players and no turns here.

Squares are (x, y) in 0..9 with (0, 0) at the top left, x to the right and y down. A tile has eight ports, lettered
clockwise from the left port of its north side; a rotation by 90 degrees clockwise moves every port two letters on:

        A   B
      +---+---+          A path that leaves a tile goes on at the port across the edge:
    H |       | C            north  A - F, B - E  of the square above
    G |       | D            east   C - H, D - G  of the square to the right
      +---+---+              and the reverse.
        F   E

Tiles, columns and starts are held as they stand on the wire. For walking, a port of a square is also one number, its
*spot*: ``80 x + 8 y + port``, with the port counted from 0. ``BESIDE[spot]`` is the spot across the edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Pair = tuple[str, str]
Tile = tuple[Pair, ...]  # Four pairs, the lower letter first in each, the pairs in rising order.
Column = tuple[Tile | None, ...]  # Ten squares from the top down.
Start = tuple[str, str, int, int]  # Token, first port, x, y.
WireBoard = tuple[tuple[Column, ...], tuple[Start, ...]]  # Ten columns from the left; starts in the colours' order.
Crossing = tuple[int, ...]  # Eight ports: where a path that enters at the port of that number leaves.

COLOURS = ("white", "black", "red", "green", "blue")  # Also the order in which tokens are given.
PORTS = "ABCDEFGH"
SIDE = 10
OFF = -1  # What lies across the board's edge.

# The squares along the edge, clockwise from the top left.
EDGE = tuple(
    [(x, 0) for x in range(9)]
    + [(9, y) for y in range(9)]
    + [(x, 9) for x in range(9, 0, -1)]
    + [(0, y) for y in range(9, 0, -1)]
)

# All 35 tiles up to rotation, in the order of the course that the game comes from; dealing follows this order.
_TYPES = """
    AE BF CH DG / AE BF CG DH / AF BE CH DG / AE BD CG FH / AH BC DE FG / AE BC DH FG / AE BC DG FH / AD BG CF EH
    AD BF CG EH / AD BE CH FG / AD BE CG FH / AD BC EH FG / AC BH DF EG / AC BH DE FG / AC BG DF EH / AC BG DE FH
    AC BF DH EG / AC BF DG EH / AC BE DH FG / AC BE DG FH / AC BD EH FG / AC BD EG FH / AB CH DG EF / AB CH DF EG
    AB CH DE FG / AB CG DH EF / AB CG DF EH / AB CG DE FH / AB CF DH EG / AB CF DG EH / AB CE DH FG / AB CE DG FH
    AB CD EH FG / AB CD EG FH / AB CD EF GH
"""


def canonical(tile: Sequence[Sequence[str]]) -> Tile | None:
    """Return the tile with its pairs in order, or None if it does not join eight ports in four pairs.

    Any nesting of texts may be asked about, in any order and of any length.
    """
    try:
        if tile in KINDS:
            return tile
    except TypeError:
        pass  # Lists cannot be looked up; they are put in order below.
    pairs = sorted(tuple(sorted(pair)) for pair in tile)
    ordered: Tile = tuple(pairs)  # type: ignore[arg-type]
    return ordered if ordered in KINDS else None


def turned(tile: Tile, quarters: int = 1) -> Tile:
    """Return the tile turned clockwise by so many quarters.

    >>> turned((("A", "E"), ("B", "F"), ("C", "H"), ("D", "G")))
    (('A', 'F'), ('B', 'E'), ('C', 'G'), ('D', 'H'))
    """
    moved = [sorted(PORTS[(PORTS.index(port) + 2 * quarters) % 8] for port in pair) for pair in tile]
    return tuple((low, high) for low, high in sorted(moved))


def tile_text(tile: Tile) -> str:
    """Return the pairs in one line: ``AE BF CH DG``."""
    return " ".join(map("".join, tile))


def _crossing(tile: Tile) -> Crossing:
    ends = {start: end for pair in tile for start, end in (pair, pair[::-1])}
    return tuple(PORTS.index(ends[port]) for port in PORTS)


def _beside() -> tuple[int, ...]:
    across = (5, 4, 7, 6, 1, 0, 3, 2)
    steps = ((0, -1), (1, 0), (0, 1), (-1, 0))
    spots = []
    for x in range(SIDE):
        for y in range(SIDE):
            for port in range(8):
                dx, dy = steps[port // 2]
                inside = 0 <= x + dx < SIDE and 0 <= y + dy < SIDE
                spots.append(80 * (x + dx) + 8 * (y + dy) + across[port] if inside else OFF)
    return tuple(spots)


TILES: tuple[Tile, ...] = tuple(
    tuple((pair[0], pair[1]) for pair in line.split()) for line in _TYPES.strip().replace("\n", "/").split("/")
)
KINDS: dict[Tile, int] = {turned(tile, q): kind for kind, tile in enumerate(TILES) for q in range(4)}
CROSSINGS: dict[Tile, Crossing] = {tile: _crossing(tile) for tile in KINDS}
ROTATIONS: dict[Tile, tuple[Tile, ...]] = {  # Each tile's different rotations, unturned first: one, two or four.
    tile: tuple(dict.fromkeys(turned(tile, q) for q in range(4))) for tile in KINDS
}
BESIDE: tuple[int, ...] = _beside()


def spot_of(port: str, x: int, y: int) -> int:
    """Return the number of a port of a square on the board."""
    return 80 * x + 8 * y + PORTS.index(port)


def port_of(spot: int) -> tuple[str, int, int]:
    """Return (port, x, y) for a spot: the reverse of ``spot_of``."""
    return PORTS[spot % 8], spot // 80, spot // 8 % 10


def facing(spot: int) -> tuple[int, int] | None:
    """Return the square (x, y) across the edge from a spot, or None off the board."""
    over = BESIDE[spot]
    return None if over == OFF else (over // 80, over // 8 % 10)


def walk(crossings: Sequence[Crossing | None], spot: int) -> int:
    """Return where a token that stands at ``spot`` comes to stand: before an empty square or at the board's edge.

    ``crossings`` has an entry a square, numbered ``10 x + y``. The path must not be a loop; one that began at the
    board's edge cannot be.
    """
    while (over := BESIDE[spot]) != OFF and (crossing := crossings[over >> 3]) is not None:
        spot = over & ~7 | crossing[over & 7]
    return spot


class BoardError(ValueError):
    """A board from the wire cannot be one of the game: a tile that is none, a start without a tile, a loop."""


@dataclass(frozen=True, slots=True)
class Board:
    """Tiles and where tokens started. ``str(board)`` draws it with the tiles' kinds, for a debugger.

    ``columns`` and ``starts`` are as on the wire. ``crossings`` says the same as ``columns``, for walking;
    ``wire`` is both, made once so that asking for it again costs nothing.
    """

    columns: tuple[Column, ...] = ((None,) * SIDE,) * SIDE
    starts: tuple[Start, ...] = ()
    crossings: tuple[Crossing | None, ...] = field(default=(None,) * (SIDE * SIDE), repr=False, compare=False)
    wire: WireBoard = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wire", (self.columns, self.starts))

    def __str__(self) -> str:
        lines = []
        for y in range(SIDE):
            tiles = (self.columns[x][y] for x in range(SIDE))
            lines.append(" ".join(" ." if tile is None else f"{KINDS[tile]:2}" for tile in tiles))
        lines += [f"{token} from {port} {x},{y}" for token, port, x, y in self.starts]
        return "\n".join(lines)

    def put(self, tile: Tile, x: int, y: int) -> Board:
        """Return the board with a tile (its pairs in order) laid on a square."""
        column = self.columns[x]
        column = (*column[:y], tile, *column[y + 1 :])
        square = 10 * x + y
        return Board(
            (*self.columns[:x], column, *self.columns[x + 1 :]),
            self.starts,
            (*self.crossings[:square], CROSSINGS[tile], *self.crossings[square + 1 :]),
        )

    def enter(self, token: str, port: str, x: int, y: int) -> Board:
        """Return the board with a token that starts at that port, in its place in the colours' order."""
        starts = sorted([*self.starts, (token, port, x, y)], key=lambda start: COLOURS.index(start[0]))
        return Board(self.columns, tuple(starts), self.crossings)

    def trail(self, start: Start) -> tuple[int, ...]:
        """Return the ports that a token has passed, its first and its present one included.

        They come in pairs, entry and exit, a pair for each tile crossed.

        Raises:
            BoardError: no tile lies at the start, or the path is a loop; neither can happen in a game.
        """
        _, port, x, y = start
        passed: list[int] = []
        over = first = spot_of(port, x, y)
        while over != OFF and (crossing := self.crossings[over >> 3]) is not None:
            passed += (over, over & ~7 | crossing[over & 7])
            over = BESIDE[passed[-1]]
            if over == first:
                raise BoardError(f"the path of {start[0]} is a loop")
        if not passed:
            raise BoardError(f"{start[0]} starts at {x},{y}, where no tile lies")
        return tuple(passed)

    def stand(self, start: Start) -> tuple[int, str]:
        """Return where a token is now, as (spot, fate); the fate is ``in``, ``exited`` or ``collided``.

        Two tokens have collided when the path of one ends where the other began: they met head on.

        Raises:
            BoardError: as for ``trail``.
        """
        spot = self.trail(start)[-1]
        if BESIDE[spot] != OFF:
            return spot, "in"
        port, x, y = port_of(spot)
        met = any((other[1], other[2], other[3]) == (port, x, y) for other in self.starts)
        return spot, "collided" if met else "exited"


def read_board(wire: Any) -> Board:
    """Return the board that a peer wrote: columns and starts, already known to have the right shapes.

    Raises:
        BoardError: a tile does not use each port once, two tokens have one colour, or a token cannot stand there.
    """
    columns, starts = wire
    tiles: list[Column] = []
    for x, column in enumerate(columns):
        squares: list[Tile | None] = []
        for y, given in enumerate(column):
            tile = None if given is None else canonical(given)
            if given is not None and tile is None:
                raise BoardError(f"the tile at {x},{y} does not join each of the eight ports once")
            squares.append(tile)
        tiles.append(tuple(squares))
    crossings = tuple(None if tile is None else CROSSINGS[tile] for column in tiles for tile in column)
    entered = tuple(sorted((tuple(start) for start in starts), key=lambda start: COLOURS.index(start[0])))
    for one, other in pairwise(entered):
        if one[0] == other[0]:
            raise BoardError(f"{one[0]} starts twice")
    board = Board(tuple(tiles), entered, crossings)
    for start in entered:
        board.trail(start)
    return board

"""Test harnesses for Tsuro, as teams of the game's course wrote them: JSON values in, JSON values out.

    xtile         a tile and the port where a path enters, over and over: where does it leave?
    xboard        placements: what became of each token?
    xboard-each   the same after each placement, in one list
    xrules        placements, a later one and the hand it is from: is it legal?

A tile is its number in the course's order and how far it is turned, in degrees clockwise. A first placement is
``[tile, degrees, token, port, x, y]``, a later one ``[token, tile, degrees, x, y]``. They are laid as they come, nobody
asks whether the rules allow them, and a token that starts twice has started where it did last. Of a token is said
``[token, tile, degrees, port, x, y]``, its tile turned as little as looks alike; or ``[token, " exited"]``, with
``" collided"`` or ``" never played"`` for others, and that blank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rules.tsuro import may_place_at
from rules.tsuro_board import COLOURS, CROSSINGS, PORTS, SIDE, TILES, Board, Tile, port_of, turned

__all__ = ["HARNESSES", "Harness", "HarnessError"]

Harness = Callable[[Sequence[object]], Iterable[object]]


class HarnessError(ValueError):
    """The input is not what the harness reads; the text says which value."""


def xtile(values: Sequence[object]) -> Iterator[object]:
    """Say of each ``[tile, degrees, port]`` where a path that enters there leaves.

    Raises:
        HarnessError: a value is written otherwise.
    """
    for value in values:
        match value:
            case [number, degrees, str(port)] if port in PORTS and len(port) == 1:
                leaves = PORTS[CROSSINGS[_tile(number, degrees, value)][PORTS.index(port)]]
                yield ["if ", port, " is the entrance, ", leaves, " is the exit."]
            case _:
                raise HarnessError(f"no tile and port: {value!r}")


def xboard(values: Sequence[object]) -> Iterator[object]:
    """Say of each list of placements what became of each token, in the order of their colours.

    Raises:
        HarnessError: a placement is written otherwise, or on a square that is taken.
        BoardError: a token walks round and round.
    """
    for value in values:
        laid = _Laid()
        for placement in _listed(value):
            laid.put(placement)
        yield laid.fates()


def xboard_each(values: Sequence[object]) -> Iterator[object]:
    """Say the same after each placement, all in one list.

    Raises:
        HarnessError, BoardError: see ``xboard``.
    """
    for value in values:
        laid = _Laid()
        told: list[object] = []
        for placement in _listed(value):
            laid.put(placement)
            told += laid.fates()
        yield told


def xrules(values: Sequence[object]) -> Iterator[object]:
    """Say "legal" or "illegal" of each later placement: ``[[token, tile, degrees, x, y], tile in hand, tile in hand]``.

    It stands behind the list of the placements before it, or as that list's last item.

    Raises:
        HarnessError: a value is missing or written otherwise; see ``xboard``.
        BoardError: a token walks round and round.
    """
    at = 0
    while at < len(values):
        placements = _listed(values[at])
        at += 1
        if placements and _is_move(placements[-1]):
            *placements, move = placements
        elif at < len(values):
            move = values[at]
            at += 1
        else:
            raise HarnessError("a placement to be judged should follow the placements before it")
        laid = _Laid()
        for placement in placements:
            laid.put(placement)
        yield "legal" if laid.allows(move) else "illegal"


HARNESSES: Mapping[str, Harness] = {"xtile": xtile, "xboard": xboard, "xboard-each": xboard_each, "xrules": xrules}


class _Laid:
    """A board that placements are laid on, and by which number and least degrees each of its tiles is named."""

    def __init__(self) -> None:
        self.board = Board()
        self.kinds: dict[tuple[int, int], tuple[object, object]] = {}

    def put(self, placement: object) -> None:
        match placement:
            case [int() as number, degrees, str() as token, str(port), x, y]:
                if token not in COLOURS or port not in list(PORTS):
                    raise HarnessError(f"no first placement: {placement!r}")
                tile, square = _tile(number, degrees, placement), self._free(x, y, placement)
                self.board = self.board.put(tile, *square)
                others = tuple([start for start in self.board.starts if start[0] != token])
                self.board = replace(self.board, starts=others).enter(token, port, *square)
            case [str() as token, int() as number, degrees, x, y] if token in COLOURS:
                tile, square = _tile(number, degrees, placement), self._free(x, y, placement)
                self.board = self.board.put(tile, *square)
            case _:
                raise HarnessError(f"no placement: {placement!r}")
        alike = (turn for turn in (0, 90, 180, 270) if _tile(number, turn, placement) == tile)
        self.kinds[square] = (number, next(alike))

    def fates(self) -> list[list[object]]:
        found: dict[str, list[object]] = {token: [token, " never played"] for token in COLOURS}
        for start in self.board.starts:
            spot, fate = self.board.stand(start)
            port, x, y = port_of(spot)
            found[start[0]] = [start[0], *self.kinds[x, y], port, x, y] if fate == "in" else [start[0], f" {fate}"]
        return list(found.values())

    def allows(self, move: object) -> bool:
        """Tell whether the token of a move is in, and may lay that tile there."""
        match move:
            case [[str() as token, number, degrees, int() as x, int() as y], *hand] if hand:
                tile = _tile(number, degrees, move)
                dealt = tuple([_tile(one, 0, move) for one in hand])
            case _:
                raise HarnessError(f"no placement to be judged, and a hand: {move!r}")
        stands = [self.board.stand(start) for start in self.board.starts if start[0] == token]
        return any(fate == "in" and may_place_at(self.board, dealt, spot, tile, x, y) for spot, fate in stands)

    def _free(self, x: object, y: object, placement: object) -> tuple[int, int]:
        if not (type(x) is type(y) is int and x in range(SIDE) and y in range(SIDE)) or (x, y) in self.kinds:
            raise HarnessError(f"no square of the board, or one that is taken: {placement!r}")
        return x, y


def _listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise HarnessError(f"no list of placements: {value!r}")
    return value


def _is_move(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _tile(number: object, degrees: object, within: object) -> Tile:
    if type(number) is not int or type(degrees) is not int or number not in range(len(TILES)):
        raise HarnessError(f"no tile, {len(TILES)} are numbered from 0: {within!r}")
    if degrees not in (0, 90, 180, 270):
        raise HarnessError(f"a tile is turned by 0, 90, 180 or 270 degrees: {within!r}")
    return turned(TILES[number], degrees // 90)

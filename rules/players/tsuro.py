"""Players of Tsuro: who decides for a client, from two that play by rote to one that looks ahead.

A player answers the client's two questions with a message and its fields. Boards, hands and tokens are as they stand
in the messages, read as tuples. The question's player may be any of ``PLAYERS``; ``choices`` lays the same decision
before a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random as Chance
from typing import Any

from rules import tsuro
from rules.players.tsuro_search import Strong
from rules.tsuro_board import (
    BESIDE,
    EDGE,
    OFF,
    PORTS,
    ROTATIONS,
    TILES,
    Board,
    Start,
    Tile,
    facing,
    port_of,
    read_board,
    spot_of,
    tile_text,
    turned,
)

Answer = tuple[str, dict[str, Any]]

SQUARES = tuple((x, y) for x in range(10) for y in range(10))


def init_place(token: str, tile: Tile, port: str, x: int, y: int) -> Answer:
    """Return the answer to ``initial``."""
    return "INIT_PLACE", {"token": token, "tile": tile, "port": port, "x": x, "y": y}


def inter_place(tile: Tile, x: int, y: int) -> Answer:
    """Return the answer to ``intermediate``."""
    return "INTER_PLACE", {"tile": tile, "x": x, "y": y}


def start_of(board: Board, token: str) -> Start:
    """Return where the token began.

    Raises:
        ValueError: it is not on the board: the server asks for a later placement before the first.
    """
    for start in board.starts:
        if start[0] == token:
            return start
    raise ValueError(f"{token} is not on the board, so it cannot go on")


def stand_of(board: Board, token: str) -> tuple[int, int, int]:
    """Return (spot, x, y): where the token stands and the square before it.

    Raises:
        ValueError: it is not on the board, or out: the server should not have asked.
    """
    spot, fate = board.stand(start_of(board, token))
    before = facing(spot)
    if before is None:
        raise ValueError(f"{token} has {fate}, so it cannot go on")
    return spot, *before


class First:
    """Plays by rote and often against the rules: never turns a tile, and goes on with the first one whatever it does.

    It begins with the third tile on the first square, clockwise from the top left, where that is legal.
    """

    def __init__(self, name: str, seed: int) -> None:
        pass

    def initial(self, board: Any, hand: Any, token: str) -> Answer:
        """Answer with the third tile, at the first port of the square's outer side."""
        here = read_board(board)
        candidates = [("ACEG"[i // 9], *square) for i, square in enumerate(EDGE)]
        for port, x, y in candidates:
            if tsuro.may_start_on(here, hand, hand[2], port, x, y):
                return init_place(token, hand[2], port, x, y)
        return init_place(token, hand[2], *candidates[0])

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with the first tile as it was dealt."""
        _, x, y = stand_of(read_board(board), token)
        return inter_place(tiles[0], x, y)


class Second:
    """Plays by rote and always legally: the first tile and rotation that may be laid.

    It begins with the third tile, trying one port a square counter-clockwise from the top left.
    """

    def __init__(self, name: str, seed: int) -> None:
        pass

    def initial(self, board: Any, hand: Any, token: str) -> Answer:
        """Answer with the third tile as it was dealt; if it fits nowhere, with the first legal placement."""
        here = read_board(board)
        along = (EDGE[0], *EDGE[:0:-1])
        for i, (x, y) in enumerate(along):
            port = ("HG", "FE", "DC", "BA")[i // 9][i % 9 % 2]
            if tsuro.may_start_on(here, hand, hand[2], port, x, y):
                return init_place(token, hand[2], port, x, y)
        return init_place(token, *next(tsuro.legal_starts(here, hand)))

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with the first legal choice: the first tile before the second, turned as little as can be."""
        here = read_board(board)
        spot, x, y = stand_of(here, token)
        return inter_place(tsuro.legal_places(here, tiles, spot)[0], x, y)


class Random:
    """Plays any legal choice, each as likely as the others."""

    def __init__(self, name: str, seed: int) -> None:
        self._chance = Chance(f"tsuro random {seed}")

    def initial(self, board: Any, hand: Any, token: str) -> Answer:
        """Answer with any legal first placement."""
        return init_place(token, *self._chance.choice(list(tsuro.legal_starts(read_board(board), hand))))

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with any legal tile and rotation."""
        here = read_board(board)
        spot, x, y = stand_of(here, token)
        return inter_place(self._chance.choice(tsuro.legal_places(here, tiles, spot)), x, y)


class IllegalLater(Random):
    """Begins legally; then each move has the right shape and breaks a rule: a wrong square or a foreign tile."""

    def intermediate(self, board: Any, tiles: Any, token: str) -> Answer:
        """Answer with a placement that no table allows."""
        here = read_board(board)
        _, x, y = stand_of(here, token)
        if self._chance.random() < 0.5:
            return inter_place(self._foreign(tiles), x, y)
        return inter_place(tiles[0], *self._chance.choice([square for square in SQUARES if square != (x, y)]))

    def _foreign(self, hand: Any) -> Tile:
        kinds = {tile for dealt in hand for tile in ROTATIONS[dealt]}
        return self._chance.choice([tile for tile in TILES if tile not in kinds])


class Illegal(IllegalLater):
    """Breaks a rule with its first placement already: an inner square, an inner port or a foreign tile."""

    def initial(self, board: Any, hand: Any, token: str) -> Answer:
        """Answer with a first placement that no table allows."""
        tile, port, x, y = self._chance.choice(list(tsuro.legal_starts(read_board(board), hand)))
        match self._chance.randrange(3):
            case 0:
                x, y = 1 + self._chance.randrange(8), 1 + self._chance.randrange(8)
            case 1:
                port = self._chance.choice([port for port in PORTS if BESIDE[spot_of(port, x, y)] != OFF])
            case _:
                tile = self._foreign(hand)
        return init_place(token, tile, port, x, y)


PLAYERS: dict[str, type] = {
    "first": First,
    "second": Second,
    "random": Random,
    "strong": Strong,
    "illegal": Illegal,
    "illegal-later": IllegalLater,
}
# Each seed gives another game, and a close one; a decision takes about 15 ms, with five players 40 ms at most.
DEFAULT = "strong"
# Within the rules and at once: who plays the games of `accord check --games`, in turn.
FAIR = ("second", "random")


# For a person --------------------------------------------------------------------------------------------------------


def choices(question: str, arguments: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> list[tuple[str, Answer]]:
    """Return every legal answer with what it does in words, for a person to choose from.

    ``arguments`` are the question's, by name: board, hand or tiles, token. First placements come by square, clockwise
    from the top left, then by port; later ones by tile and rotation. A later list has eight entries at most.

    Raises:
        ValueError: there is no such question, or the token cannot be asked for it.
    """
    arguments = dict(arguments)
    here, token = read_board(arguments["board"]), arguments["token"]
    match question:
        case "initial":
            hand = arguments["hand"]
            return [
                (
                    f"{x},{y} from port {port}: {_rotation(hand, tile)}, {_outcome(here, token, tile, x, y, port)}",
                    init_place(token, tile, port, x, y),
                )
                for tile, port, x, y in tsuro.legal_starts(here, hand)
            ]
        case "intermediate":
            hand = arguments["tiles"]
            spot, x, y = stand_of(here, token)
            return [
                (
                    f"{x},{y}: {_rotation(hand, tile)}, {_outcome(here, token, tile, x, y)}",
                    inter_place(tile, x, y),
                )
                for tile in tsuro.legal_places(here, hand, spot)
            ]
    raise ValueError(f"Tsuro has no question {question!r}, only initial and intermediate")


def _rotation(hand: Any, tile: Tile) -> str:
    """Return ``tile 2 turned 90 degrees (AE BF CH DG)``; the tiles of the hand are numbered from 1."""
    for number, dealt in enumerate(hand, 1):
        for quarters in range(4):
            if turned(dealt, quarters) == tile:
                how = f"turned {90 * quarters} degrees" if quarters else "as dealt"
                return f"tile {number} {how} ({tile_text(tile)})"
    return f"tile {tile_text(tile)}"


def _outcome(here: Board, token: str, tile: Tile, x: int, y: int, port: str = "") -> str:
    """Return what becomes of the token, and of the others whom the tile puts out."""
    grown = here.put(tile, x, y)
    if port:
        grown = grown.enter(token, port, x, y)
    texts = []
    for start in sorted(grown.starts, key=lambda start: start[0] != token):
        spot, fate = grown.stand(start)
        at = "{} of {},{}".format(*port_of(spot))
        before = facing(spot)
        if start[0] == token and before is not None:
            texts.append("you stand at {} and face {},{}".format(at, *before))
        elif start[0] == token:
            texts.append(f"you go out: {'off the board' if fate == 'exited' else 'head on into another token'} at {at}")
        elif fate != "in" and here.stand(start)[1] == "in":
            texts.append(f"{start[0]} goes out")
    return "; ".join(texts)

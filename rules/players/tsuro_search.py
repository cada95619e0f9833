"""The strong player of Tsuro: plays the game out many times in its head and takes what won most often.

Dealing is not shuffled, so whoever holds tiles 8 and 9 knows that the next player gets 10 and 11: the game is open to
the end. A decision grows a tree of placements. Each playout walks down the tree, at each step to the choice that is
best for the player who moves (its wins so far, plus a bonus for choices seldom tried: "UCB1"), adds one placement, and
goes on at random, but never out of the board if that can be helped. Each player on the way gets its share of the win.

The work is counted in playouts and placements, not in time, so that one seed gives one game everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from random import Random
from typing import Any

from rules import tsuro
from rules.tsuro_board import BESIDE, CROSSINGS, KINDS, OFF, ROTATIONS, TILES, Board, Crossing, facing, read_board, walk

# Twice as many won no more of 105 games against two players that sample without a tree, and take twice as long.
PLAYOUTS = 200
# About 0.1 s of work: playouts of five players early in the game are long, and a client has to answer in time.
PLACEMENTS_MAX = 20_000
# Weight of the bonus for choices seldom tried. In the same games 0.2 and 0.5 won 45 %, 1.0 won 34 %.
CURIOSITY = 0.3

# What the next tile of each kind offers: its different rotations.
_TURNS = tuple(tuple(CROSSINGS[tile] for tile in ROTATIONS[dealt]) for dealt in TILES)


@dataclass(slots=True)
class Standing:
    """A position that is played on in place: tiles, and for each player in turn order its token.

    ``spots`` has OFF for tokens that are out. ``living`` tells who is still asked: a player who was ejected is not,
    though its token is still moved.
    """

    crossings: list[Crossing | None]
    spots: list[int]
    living: list[bool]

    def copy(self) -> Standing:
        """Return one that can be played on without changing this one."""
        return Standing(self.crossings.copy(), self.spots.copy(), self.living.copy())

    def lay(self, square: int, crossing: Crossing) -> list[int]:
        """Lay a tile, walk the tokens on, and return the players whose tokens went out."""
        self.crossings[square] = crossing
        out = []
        for i, spot in enumerate(self.spots):
            if spot != OFF and BESIDE[spot] >> 3 == square:
                end = walk(self.crossings, spot)
                if BESIDE[end] == OFF:
                    end = OFF
                    if self.living[i]:
                        self.living[i] = False
                        out.append(i)
                self.spots[i] = end
        return out


@dataclass(slots=True)
class Node:
    """A moment of the tree: the choices of the player who moves, how often each was tried and what it won."""

    choices: Sequence[Crossing]
    visits: list[int] = field(init=False)
    wins: list[float] = field(init=False)
    below: list[Node | None] = field(init=False)
    visited: int = 0

    def __post_init__(self) -> None:
        self.visits = [0] * len(self.choices)
        self.wins = [0.0] * len(self.choices)
        self.below = [None] * len(self.choices)

    def pick(self) -> int:
        """Return the choice to follow: each once, then the most promising."""
        if self.visited < len(self.choices):
            return self.visited
        spread = CURIOSITY * log(self.visited)
        scores = [won / tried + sqrt(spread / tried) for won, tried in zip(self.wins, self.visits, strict=True)]
        return scores.index(max(scores))


class Strong:
    """Plays each choice out to the end of the game many times, with what the others will be dealt."""

    def __init__(self, name: str, seed: int) -> None:
        self._chance = Random(f"tsuro strong {seed}")
        # Where the others stood when it was asked last: a token that has not moved since belongs to an ejected player,
        # because everyone else has laid a tile before its own token.
        self._stood: dict[str, int] = {}

    def initial(self, board: Any, hand: Any, token: str) -> tuple[str, dict[str, Any]]:
        """Answer with a first placement that leaves the token many ways on and keeps away from the others."""
        self._stood = {}
        here = read_board(board)
        others = [square for square in (facing(here.stand(start)[0]) for start in here.starts) if square is not None]
        placements = list(tsuro.legal_starts(here, hand))
        values = [_promise(here, others, placement) + 0.05 * self._chance.random() for placement in placements]
        tile, port, x, y = placements[values.index(max(values))]
        return "INIT_PLACE", {"token": token, "tile": tile, "port": port, "x": x, "y": y}

    def intermediate(self, board: Any, tiles: Any, token: str) -> tuple[str, dict[str, Any]]:
        """Answer with the choice that most playouts came back to.

        Raises:
            ValueError: the token is not on the board, or out.
        """
        here = read_board(board)
        standing, me = self._read(here, token)
        square = BESIDE[standing.spots[me]] >> 3
        options = tsuro.legal_places(here, tiles, standing.spots[me])
        chosen = 0
        if len(options) > 1:
            root = Node([CROSSINGS[tile] for tile in options])
            kinds = [KINDS[tile] for tile in tiles]
            # Tiles that do not follow each other were shuffled: then the others' hands are guessed.
            following = kinds[1] + 1 if kinds[1] == (kinds[0] + 1) % len(TILES) else None
            placements = playouts = 0
            while playouts < PLAYOUTS and placements < PLACEMENTS_MAX:
                placements += self._play_out(root, standing.copy(), me, following)
                playouts += 1
            chosen = max(range(len(options)), key=lambda i: (root.visits[i], root.wins[i]))
        return "INTER_PLACE", {"tile": options[chosen], "x": square // 10, "y": square % 10}

    def _read(self, here: Board, token: str) -> tuple[Standing, int]:
        """Return the position and this player's place in turn order, which is the order of the colours."""
        tokens = [start[0] for start in here.starts]
        if token not in tokens:
            raise ValueError(f"{token} is not on the board, so it cannot go on")
        stands = [here.stand(start) for start in here.starts]
        me = tokens.index(token)
        if stands[me][1] != "in":
            raise ValueError(f"{token} has {stands[me][1]}, so it cannot go on")
        spots = [spot if fate == "in" else OFF for spot, fate in stands]
        living = [spot not in (OFF, self._stood.get(other)) for other, spot in zip(tokens, spots, strict=True)]
        living[me] = True
        self._stood = dict(zip(tokens, spots, strict=True))
        return Standing(list(here.crossings), spots, living), me

    def _play_out(self, root: Node, standing: Standing, me: int, following: int | None) -> int:
        """Play to the end from the position before this player's move, credit the tree, and return the placements.

        ``following`` is the kind of the next tile to be dealt, None if it cannot be known.
        """
        spots, living = standing.spots, standing.living
        went_out: dict[int, int] = {}  # Player: round.
        path: list[tuple[Node, int, int]] = []
        node: Node | None = root
        in_tree, number, placements, mover = True, 0, 0, me
        while True:
            entry = BESIDE[spots[mover]]
            if not in_tree:
                crossing = self._any_prudent(standing, entry, self._hand(following, placements))
            else:
                if node is None:
                    node = Node(self._prudent(standing, entry, self._hand(following, placements)))
                    above, taken, _ = path[-1]
                    above.below[taken] = node
                choice = node.pick()
                crossing = node.choices[choice]
                path.append((node, choice, mover))
                in_tree = node.visits[choice] > 0
                node = node.below[choice]
            placements += 1
            for player in standing.lay(entry >> 3, crossing):
                went_out[player] = number
            # On to who moves next; the end is looked for between rounds only, as in the game.
            over = not any(living)
            while not over:
                mover += 1
                if mover == len(spots):
                    mover, number = 0, number + 1
                    over = sum(living) < 2
                if living[mover]:
                    break
            if over:
                break
        winners = [player for player, lives in enumerate(living) if lives]
        if not winners:
            latest = max(went_out.values())
            winners = [player for player, until in went_out.items() if until == latest]
        for node, choice, player in path:
            node.visited += 1
            node.visits[choice] += 1
            node.wins[choice] += (player in winners) / len(winners)
        return placements

    def _hand(self, following: int | None, placements: int) -> tuple[Crossing, ...]:
        """Return all that can be laid with the two tiles dealt after so many placements."""
        if following is None:
            first, second = self._chance.randrange(len(TILES)), self._chance.randrange(len(TILES))
        else:
            first = (following + 2 * (placements - 1)) % len(TILES)
            second = (first + 1) % len(TILES)
        return _TURNS[first] + _TURNS[second]

    def _prudent(self, standing: Standing, entry: int, options: tuple[Crossing, ...]) -> list[Crossing]:
        kept = [crossing for crossing in options if tsuro.stays(standing.crossings, entry, crossing)]
        return kept or list(options)

    def _any_prudent(self, standing: Standing, entry: int, options: tuple[Crossing, ...]) -> Crossing:
        """Return one at random; when only some keep the token in, the next of those."""
        first = int(self._chance.random() * len(options))
        for crossing in options[first:] + options[:first]:
            if tsuro.stays(standing.crossings, entry, crossing):
                return crossing
        return options[first]


def _promise(here: Board, others: list[tuple[int, int]], placement: tuple[Any, str, int, int]) -> float:
    """Return how good a first placement looks: the share of ways on that stay on the board, and the distance."""
    tile, port, x, y = placement
    start = ("white", port, x, y)  # The colour does not matter here.
    grown = Board(here.columns, (start,), here.crossings).put(tile, x, y)
    spot, fate = grown.stand(start)
    square = facing(spot)
    if fate != "in" or square is None:
        return -1.0
    near = min((abs(square[0] - x) + abs(square[1] - y) for x, y in others), default=6)
    return ways_on(grown.crossings, BESIDE[spot]) + 0.05 * min(near, 6)


def ways_on(crossings: Sequence[Crossing | None], entry: int) -> float:
    """Return the share, 0 to 1, of ports of the square of ``entry`` from which a token stays in, over two squares."""
    ahead = []
    for out in range(entry & ~7, (entry & ~7) + 8):
        over = BESIDE[walk(crossings, out)]
        if out != entry and over != OFF:
            ahead.append(over)
    further = sum(BESIDE[walk(crossings, out)] != OFF for over in ahead for out in _others(over))
    return (len(ahead) / 7 + further / 49) / 2


def _others(spot: int) -> list[int]:
    """Return the seven other ports of the same square."""
    return [other for other in range(spot & ~7, (spot & ~7) + 8) if other != spot]

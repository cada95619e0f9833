"""The search behind Santorini's strong player: looks ahead as far as its budget of positions reaches.

Negamax with alpha-beta: each side takes what is best for itself, and a line is left as soon as it cannot matter any
more. It looks one turn ahead, then two, and so on ("iterative deepening"); what one round finds decides in which order
the next tries the turns, and a table keeps what is known of positions that several orders of turns lead to. Three
facts about Santorini make it deep enough in Python:

- a win with the next step is seen without trying it: a worker on height 2 beside a free cell of height 3;
- the only answer to such a threat is a build on that cell, and two such cells have no answer;
- a build that raises a cell from 2 to 3 beside the opponent's worker on height 2 loses at once, so it is not tried.

The work is counted in positions, not in time, so that one seed gives one game everywhere. Values are for the side to
move; ``WIN`` less the number of turns until then is a win.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from rules.players.santorini_position import BIT, CAPPED, CELLS, EVERY_CELL, LISTED, NEAR, SIDE, Position, Turn

WIN = 100_000
DECIDED = WIN - 1_000  # At least this, or at most its opposite: won or lost whatever happens.
DEPTH_MAX = 60
# A line of threats and forced answers is followed beyond the depth, but no further than so many turns from the root.
LINE_MAX = 40

# What a worker is worth by where it stands and what it can reach. Of a dozen sets of weights that were tried over 40
# games none was better than this one by more than chance; with less for heights, and without `_AWAY`, a short search
# notices a lone climber in a corner too late.
_STANDING = (0, 100, 260, 0)
_STEP = 4  # for each cell that it can step to
_CLIMB = (8, 36, 0, 0)  # for each of those that is one higher; a climb to 3 is a threat and told apart
_AWAY = (5, 15, 30, 0)  # by its height, for each step to the nearest of the opponent's workers
_THREAT = 90  # a step to 3 that must be answered
_MIDDLE = 6  # for each step away from the edge, rows and columns together
_TO_MOVE = 20
_STEPS = tuple(
    tuple(max(abs(a // SIDE - b // SIDE), abs(a % SIDE - b % SIDE)) for b in range(CELLS)) for a in range(CELLS)
)


def middle(cell: int) -> int:
    """Return how far a cell is from the edge, rows and columns together: 0 to 4."""
    row, column = divmod(cell, SIDE)
    return min(row, SIDE - 1 - row) + min(column, SIDE - 1 - column)


_WORTH = tuple(tuple(standing + _MIDDLE * middle(cell) for cell in range(CELLS)) for standing in _STANDING)


# Zobrist hashing: a position's key is the exclusive or of a random number for each floor and each worker. Whose turn it
# is needs none: each turn adds one floor, so the same heights never come with the other side to move.
_chance = Random("santorini keys")
_FLOOR_KEYS = tuple(tuple(_chance.getrandbits(60) for _ in range(CELLS)) for _ in range(CAPPED + 1))
_WORKER_KEYS = tuple(tuple(_chance.getrandbits(60) for _ in range(CELLS)) for _ in range(2))

# What the table knows of a value: it is exact, or the real one is at least or at most that.
_EXACT, _AT_LEAST, _AT_MOST = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search found: the turn, its value, how many turns ahead it looked, and at how many positions."""

    turn: Turn
    value: int
    depth: int
    positions: int


class _SpentError(Exception):
    """The budget is spent, or it is late."""


def _never() -> bool:
    return False


class Search:
    """One search from one position.

    A turn is one number here: the cell it starts from, the cell it steps to, the cell it builds on, six bits each.
    Sides are named by workers: ``m1, m2`` of the side to move, ``o1, o2`` of the other. ``ply`` counts turns from the
    root.
    """

    def __init__(self, position: Position) -> None:
        self._position = position
        self._heights = list(position.heights)
        # By height: the set of the cells at least so high. Nothing is higher than 4.
        self._floors = [EVERY_CELL & ~position.cells_below(height) for height in range(CAPPED + 2)]
        self._budget = 0
        self._late: Callable[[], bool] = _never
        self._positions = 0
        self._answer = 0  # What `_value` saw last: the one cell that the side to move has to build on, as a set.
        self._table: dict[int, tuple[int, int, int, int]] = {}
        self._killers = [0] * (LINE_MAX + DEPTH_MAX)  # By ply: what refuted a line last.

    def best(self, budget: int, chance: Random, late: Callable[[], bool] | None = None) -> Finding:
        """Return the best turn that is found by looking at about ``budget`` positions.

        Of turns that look equal ``chance`` takes one. ``late`` is asked often; once it says yes, what was found by then
        is returned.

        Raises:
            ValueError: there is no legal turn.
        """
        position = self._position
        legal = list(position.turns())
        if not legal:
            raise ValueError("there is no legal turn")
        for turn in legal:
            if turn.build is None:
                return Finding(turn, WIN - 1, 1, 1)
        self._budget, self._late, self._positions = budget, late or _never, 0
        (m1, m2), (o1, o2) = position.mine, position.theirs
        workers = (m1, m2, o1, o2)
        static = self._value(*workers, 0)
        codes = [] if static <= -DECIDED else self._turns(*workers, self._answer)
        if not codes:
            # Lost against whoever sees it; who does not may miss the one way to win, but hardly two.
            last = min(legal, key=lambda turn: position.after(turn).summits().bit_count())
            return Finding(last, 2 - WIN, 2, self._positions)
        chance.shuffle(codes)
        codes = self._sorted(codes, *workers, 0)
        key = _key(position)
        found, value, depth = codes[0], static, 0
        try:
            while depth < DEPTH_MAX and abs(value) < DECIDED and (depth == 0 or len(codes) > 1):
                highest = -WIN
                for code in codes.copy():
                    reached = -self._child(code, *workers, key, depth, -WIN, -highest, 0)
                    if reached > highest:
                        found, value, highest = code, reached, reached
                        codes.remove(code)
                        codes.insert(0, code)
                depth += 1
        except _SpentError:
            pass  # What this round found counts: it began with the best turn of the one before.
        return Finding(_turn(found, position), value, depth, self._positions)

    def _search(self, m1: int, m2: int, o1: int, o2: int, key: int, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Return the value found by looking ``depth`` turns ahead: exact between the bounds, else itself a bound."""
        value = self._value(m1, m2, o1, o2, ply)
        answer = self._answer
        if not -DECIDED < value < DECIDED or ply >= LINE_MAX or not (depth or answer):
            return value
        if self._positions >= self._budget or self._late():
            raise _SpentError
        known = self._table.get(key)
        hint = 0
        if known is not None:
            known_depth, bound, value, hint = known
            if known_depth >= depth:
                if value >= DECIDED:
                    value -= ply
                elif value <= -DECIDED:
                    value += ply
                if bound == _EXACT or (bound == _AT_LEAST and value >= beta) or (bound == _AT_MOST and value <= alpha):
                    return value
        codes = self._turns(m1, m2, o1, o2, answer)
        if not codes:
            return ply + 2 - WIN  # Every turn lets the opponent win with its next.
        below = depth if answer else depth - 1
        if below > 0:
            codes = self._sorted(codes, m1, m2, o1, o2, ply)
        for first in (self._killers[ply], hint):
            if first in codes:
                codes.remove(first)
                codes.insert(0, first)
        best, chosen, floor = -WIN, 0, alpha
        for code in codes:
            if best > -WIN and below > 0:
                value = -self._child(code, m1, m2, o1, o2, key, below, -alpha - 1, -alpha, ply)
                if alpha < value < beta:
                    value = -self._child(code, m1, m2, o1, o2, key, below, -beta, -alpha, ply)
            else:
                value = -self._child(code, m1, m2, o1, o2, key, below, -beta, -alpha, ply)
            if value > best:
                best, chosen = value, code
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        self._killers[ply] = code
                        break
        bound = _AT_LEAST if best >= beta else _EXACT if best > floor else _AT_MOST
        self._keep(key, depth, bound, best, chosen, ply)
        return best

    def _keep(self, key: int, depth: int, bound: int, value: int, chosen: int, ply: int) -> None:
        """Keep what was found for a position; a win or a loss is as many turns away from there as it is from here."""
        if value >= DECIDED:
            value += ply
        elif value <= -DECIDED:
            value -= ply
        self._table[key] = depth, bound, value, chosen

    def _child(
        self, code: int, m1: int, m2: int, o1: int, o2: int, key: int, depth: int, alpha: int, beta: int, ply: int
    ) -> int:
        """Make a turn, search the position after it, take the turn back; return the value for the other side."""
        start, to, build = code >> 12, code >> 6 & 63, code & 63
        if start == m1:
            m1 = to
        else:
            m2 = to
        heights, floors = self._heights, self._floors
        height = heights[build] + 1
        bit = BIT[build]
        heights[build] = height
        floors[height] |= bit
        workers = _WORKER_KEYS[ply & 1]
        key ^= _FLOOR_KEYS[height][build] ^ workers[start] ^ workers[to]
        try:
            return self._search(o1, o2, m1, m2, key, depth, alpha, beta, ply + 1)
        finally:
            heights[build] = height - 1
            floors[height] ^= bit

    def _sorted(self, codes: list[int], m1: int, m2: int, o1: int, o2: int, ply: int) -> list[int]:
        """Return the turns by what the position after each looks like, best first."""
        heights, floors, evaluate = self._heights, self._floors, self._value
        values = {}
        for code in codes:
            start, to, build = code >> 12, code >> 6 & 63, code & 63
            height = heights[build] + 1
            bit = BIT[build]
            heights[build] = height
            floors[height] |= bit
            values[code] = evaluate(o1, o2, to, m2, ply + 1) if start == m1 else evaluate(o1, o2, m1, to, ply + 1)
            heights[build] = height - 1
            floors[height] ^= bit
        return sorted(codes, key=values.__getitem__)

    def _turns(self, m1: int, m2: int, o1: int, o2: int, answer: int) -> list[int]:
        """Return the turns that do not let the opponent win with its next, climbs first.

        ``answer`` is the one cell that has to be built on, as a set, or 0. No step of the side to move wins.
        """
        heights, floors = self._heights, self._floors
        free = EVERY_CELL & ~(BIT[m1] | BIT[m2] | BIT[o1] | BIT[o2] | floors[4])
        may_build = answer
        if not answer:
            near = (NEAR[o1] if heights[o1] == 2 else 0) | (NEAR[o2] if heights[o2] == 2 else 0)
            may_build = EVERY_CELL & ~(near & floors[2] & ~floors[3])
        codes: list[int] = []
        for start in (m1, m2):
            height = heights[start]
            reach = NEAR[start] & free & ~floors[height + 2]
            left = (free | BIT[start]) & may_build
            up = reach & floors[height + 1]
            for to in LISTED[up] + LISTED[reach ^ up]:
                code = start << 12 | to << 6
                codes += [code | build for build in LISTED[NEAR[to] & left]]
        return codes

    def _value(self, m1: int, m2: int, o1: int, o2: int, ply: int) -> int:
        """Return what a position looks like without looking ahead; won and lost where that is seen at once."""
        self._positions += 1
        self._answer = 0
        heights, floors = self._heights, self._floors
        free = EVERY_CELL & ~(BIT[m1] | BIT[m2] | BIT[o1] | BIT[o2] | floors[4])
        hm1, hm2, ho1, ho2 = heights[m1], heights[m2], heights[o1], heights[o2]
        value = _TO_MOVE
        high = free & floors[3]
        if high:
            if (hm1 == 2 and NEAR[m1] & high) or (hm2 == 2 and NEAR[m2] & high):
                return WIN - 1 - ply
            threats = 0
            if ho1 == 2:
                threats = NEAR[o1] & high
            if ho2 == 2:
                threats |= NEAR[o2] & high
            if threats:
                if threats & (threats - 1):
                    return ply + 2 - WIN
                self._answer = threats
                value -= _THREAT
        from_m1, from_m2 = _STEPS[m1], _STEPS[m2]
        m1_o1, m1_o2, m2_o1, m2_o2 = from_m1[o1], from_m1[o2], from_m2[o1], from_m2[o2]
        value += _AWAY[hm1] * (m1_o1 if m1_o1 < m1_o2 else m1_o2) + _AWAY[hm2] * (m2_o1 if m2_o1 < m2_o2 else m2_o2)
        value -= _AWAY[ho1] * (m1_o1 if m1_o1 < m2_o1 else m2_o1) + _AWAY[ho2] * (m1_o2 if m1_o2 < m2_o2 else m2_o2)
        near = NEAR[m1] & free
        steps = near.bit_count() - (too := (near & floors[hm1 + 2]).bit_count())
        value += _WORTH[hm1][m1] + _STEP * steps + _CLIMB[hm1] * ((near & floors[hm1 + 1]).bit_count() - too)
        near = NEAR[m2] & free
        more = near.bit_count() - (too := (near & floors[hm2 + 2]).bit_count())
        if not steps and not more:
            return ply - WIN
        value += _WORTH[hm2][m2] + _STEP * more + _CLIMB[hm2] * ((near & floors[hm2 + 1]).bit_count() - too)
        near = NEAR[o1] & free
        steps = near.bit_count() - (too := (near & floors[ho1 + 2]).bit_count())
        value -= _WORTH[ho1][o1] + _STEP * steps + _CLIMB[ho1] * ((near & floors[ho1 + 1]).bit_count() - too)
        near = NEAR[o2] & free
        steps = near.bit_count() - (too := (near & floors[ho2 + 2]).bit_count())
        return value - (_WORTH[ho2][o2] + _STEP * steps + _CLIMB[ho2] * ((near & floors[ho2 + 1]).bit_count() - too))


def _key(position: Position) -> int:
    """Return the table's key of a position at the root."""
    key = 0
    for cell, height in enumerate(position.heights):
        for floor in range(1, height + 1):
            key ^= _FLOOR_KEYS[floor][cell]
    for side, workers in enumerate((position.mine, position.theirs)):
        for cell in workers:
            key ^= _WORKER_KEYS[side][cell]
    return key


def _turn(code: int, position: Position) -> Turn:
    return Turn(1 + (code >> 12 == position.mine[1]), code >> 6 & 63, code & 63)

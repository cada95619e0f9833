"""The strong player of Tsuro: looks some rounds ahead and takes the choice after which it lives longest."""

from __future__ import annotations

from random import Random
from typing import Any

from rules import tsuro
from rules.tsuro_board import BESIDE, COLOURS, CROSSINGS, KINDS, OFF, ROTATIONS, TILES, Board, facing, read_board, walk

KIND_OPTIONS = tuple(tuple(CROSSINGS[t] for t in ROTATIONS[tile]) for tile in TILES)

BEAM = (8, 3, 2, 2, 2, 2, 2, 2, 2, 2)
MOVES = 400
DEEP = 8
KILL = 2.0
WIN = 30.0
CONTEST = True
OPP = 0.3


class Position:
    __slots__ = ("crossings", "spots", "alive")

    def __init__(self, crossings, spots, alive):
        self.crossings = crossings
        self.spots = spots
        self.alive = alive

    def lay(self, square, crossing):
        """Lay and walk; return (what to undo)"""
        crossings, spots, alive = self.crossings, self.spots, self.alive
        crossings[square] = crossing
        moved = []
        for i, spot in enumerate(spots):
            if spot >= 0:
                over = BESIDE[spot]
                if over >> 3 == square:
                    end = walk(crossings, spot)
                    moved.append((i, spot, alive[i]))
                    spots[i] = end
                    if BESIDE[end] == OFF:
                        spots[i] = -1
                        alive[i] = False
        return square, moved

    def undo(self, laid):
        square, moved = laid
        self.crossings[square] = None
        for i, spot, alive in moved:
            self.spots[i] = spot
            self.alive[i] = alive

    def outlook(self, i, deep=True):
        """between 0 and 1: share of the ports on the next square that keep it in"""
        spot = self.spots[i]
        crossings = self.crossings
        entry = BESIDE[spot]
        base = entry & ~7
        square = entry >> 3
        safe = 0
        more = 0
        for port in range(8):
            out = base | port
            if out == entry:
                continue
            over = BESIDE[out]
            # walk
            while over != OFF and (crossing := crossings[over >> 3]) is not None:
                out = over & ~7 | crossing[over & 7]
                over = BESIDE[out]
            if over == OFF or over >> 3 == square:
                continue
            safe += 1
            if deep:
                base2 = over & ~7
                square2 = over >> 3
                for port2 in range(8):
                    over2 = base2 | port2
                    if over2 == over:
                        continue
                    over2 = BESIDE[over2]
                    while over2 != OFF and (crossing := crossings[over2 >> 3]) is not None:
                        over2 = BESIDE[over2 & ~7 | crossing[over2 & 7]]
                    if over2 != OFF:
                        more += 1
        return (safe / 7 + more / 49) / 2 if deep else safe / 7


class Strong:
    def __init__(self, name: str, seed: int) -> None:
        self._chance = Random(f"tsuro strong {seed}")
        self._last = {}

    def initial(self, board: Any, hand: Any, token: str):
        here = read_board(board)
        self._last = {}
        best, found = None, -1e9
        others = []
        for start in here.starts:
            spot, fate = here.stand(start)
            if fate == "in":
                others.append(facing(spot))
        for tile, port, x, y in tsuro.legal_starts(here, hand):
            grown = here.put(tile, x, y).enter(token, port, x, y)
            spot, fate = grown.stand([s for s in grown.starts if s[0] == token][0])
            if fate != "in":
                continue
            p = Position(list(grown.crossings), [spot], [True])
            value = p.outlook(0)
            fx, fy = facing(spot)
            near = min((abs(fx - ox) + abs(fy - oy) for ox, oy in others), default=9)
            value += 0.05 * min(near, 6)
            value += self._chance.random() * 0.05
            if value > found:
                best, found = (tile, port, x, y), value
        if best is None:
            best = next(tsuro.legal_starts(here, hand))
        return "INIT_PLACE", dict(zip(("token", "tile", "port", "x", "y"), (token, *best)))

    def intermediate(self, board: Any, tiles: Any, token: str):
        here = read_board(board)
        order = [s[0] for s in here.starts]
        me = order.index(token)
        spots, alive = [], []
        for start in here.starts:
            spot, fate = here.stand(start)
            live = fate == "in"
            spots.append(spot if live else -1)
            alive.append(live and self._last.get(start[0]) != spot)
        self._last = {t: s for t, s in zip(order, spots) if s >= 0 and t != token}
        position = Position(list(here.crossings), spots, alive)
        kinds = [KINDS[t] for t in tiles]
        pointer = kinds[1] + 1
        if (kinds[0] + 1) % 35 != kinds[1]:
            pointer = None
        self.pointer = pointer
        square = BESIDE[spots[me]] >> 3
        tiles = tsuro.legal_places(here, tiles, spots[me])
        noise = [self._chance.random() * 1e-6 for _ in tiles]
        self.moves = 0
        values = {}
        for self.depth in range(1, DEEP + 1):
            now = []
            for i, tile in enumerate(tiles):
                laid = position.lay(square, CROSSINGS[tile])
                now.append(self.after(position, me, 0, pointer, laid) + noise[i])
                position.undo(laid)
            values = now
            if self.moves > MOVES or len(tiles) == 1:
                break
        best = tiles[values.index(max(values))]
        return "INTER_PLACE", {"tile": best, "x": square // 10, "y": square % 10}

    def hand(self, pointer):
        if pointer is None:
            return [self._chance.randrange(35), self._chance.randrange(35)]
        return [pointer % 35, (pointer + 1) % 35]

    def after(self, p, me, depth, pointer, laid):
        """my move has been made; value of it"""
        killed = sum(was and not p.alive[i] for i, _, was in laid[1] if i != me)
        if not p.alive[me]:
            return killed * 0.01
        value = KILL * killed
        undo = []
        self.moves += 1
        n = len(p.spots)
        mine = BESIDE[p.spots[me]] >> 3
        try:
            for k in range(1, n):
                i = (me + k) % n
                if not p.alive[i]:
                    continue
                square = BESIDE[p.spots[i]] >> 3
                mine = BESIDE[p.spots[me]] >> 3
                best, best_value = None, -1e9
                hostile = square == mine
                for kind in self.hand(pointer):
                    for crossing in KIND_OPTIONS[kind]:
                        l2 = p.lay(square, crossing)
                        if not p.alive[i]:
                            v = -5.0
                        else:
                            v = p.outlook(i, False)
                        if hostile:
                            v -= (p.outlook(me, False) if p.alive[me] else -2)
                        p.undo(l2)
                        if v > best_value:
                            best, best_value = crossing, v
                if pointer is not None:
                    pointer += 2
                l2 = p.lay(square, best)
                undo.append(l2)
                if not p.alive[me]:
                    return value + 0.2
            value += 1
            rivals = [i for i in range(n) if i != me and p.alive[i]]
            if not rivals:
                return value + WIN
            if depth + 1 >= self.depth:
                return value + p.outlook(me) - OPP * sum(p.outlook(i, False) for i in rivals) / len(rivals)
            return value + self.future(p, me, depth + 1, pointer)
        finally:
            for l2 in reversed(undo):
                p.undo(l2)

    def future(self, p, me, depth, pointer):
        square = BESIDE[p.spots[me]] >> 3
        options = []
        for kind in self.hand(pointer):
            for crossing in KIND_OPTIONS[kind]:
                laid = p.lay(square, crossing)
                if p.alive[me]:
                    options.append((p.outlook(me), crossing))
                p.undo(laid)
        options.sort(key=lambda o: -o[0])
        best = 0.0
        for _, crossing in options[: BEAM[depth]]:
            laid = p.lay(square, crossing)
            best = max(best, self.after(p, me, depth, None if pointer is None else pointer + 2, laid))
            p.undo(laid)
        return best

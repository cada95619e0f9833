"""Maps of Trains to bring along, made by a seed."""

from __future__ import annotations

from math import hypot, inf
from random import Random
from typing import Any

from rules.trains_map import COLOURS, LENGTHS, joined

WIDTH, HEIGHT = 800, 600
# Invented, so that nobody asks why the map is wrong.
NAMES = (
    "Alder", "Birch Hill", "Cold Spring", "Dunmore", "Eastham", "Fairview", "Glen Ash", "Harrow", "Ivy Dale",
    "Juniper", "Kingsford", "Larkrise", "Mill End", "Norwood", "Oak Park", "Pine Ridge", "Quarry", "Redstone", "Saltby",
    "Thornhill",
)  # fmt: skip
CITIES, CONNECTIONS = 16, 34
PAIRS_MAX = CONNECTIONS - 6  # The rest is for second colours.
GAP = 45.0  # Between a city and a connection that passes it by, in the map's units.


def made_map(seed: int) -> dict[str, Any]:
    """Return a connected map of 16 cities and 34 connections, good for eight players; the seed says which.

    Cities stand apart from each other, connections are between near ones and longer the further apart they are, and
    no two cross; some are double, in two colours.
    """
    chance = Random(f"trains map {seed}")
    spots = _spots(chance)
    pairs = _pairs(spots)
    lengths = {pair: min(max(LENGTHS), 3 + int(_distance(spots[pair[0]], spots[pair[1]]) // 120)) for pair in pairs}
    double = chance.sample(pairs, min(len(pairs), max(0, CONNECTIONS - len(pairs))))
    connections: dict[str, dict[str, dict[str, int]]] = {name: {} for name in sorted(spots)}
    for pair in [*pairs, *double]:
        segment = connections[pair[0]].setdefault(pair[1], {})
        segment[chance.choice([colour for colour in COLOURS if colour not in segment])] = lengths[pair]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "cities": [[name, list(spot)] for name, spot in spots.items()],
        "connections": connections,
    }


def _spots(chance: Random) -> dict[str, tuple[int, int]]:
    """Return the cities, one in each of 16 of 20 fields of the map, not too near its border."""
    fields = chance.sample([(column, row) for column in range(5) for row in range(4)], CITIES)
    names = chance.sample(NAMES, CITIES)
    return {
        name: (column * 160 + chance.randint(40, 120), row * 150 + chance.randint(40, 110))
        for name, (column, row) in zip(names, sorted(fields), strict=True)
    }


def _pairs(spots: dict[str, tuple[int, int]]) -> list[tuple[str, str]]:
    """Return pairs of cities, shortest first, that cross no other; unless needed, none passes a city closely by.

    All cities are joined: as long as they are not, some pair of them that crosses nothing is left.
    """
    names = sorted(spots)
    pairs = [(city, other) for i, city in enumerate(names) for other in names[i + 1 :]]
    pairs.sort(key=lambda pair: (_distance(spots[pair[0]], spots[pair[1]]), pair))
    taken: list[tuple[str, str]] = []
    for needed in (False, True):
        for pair in pairs:
            wanted = not _joined(taken, *pair) if needed else _gap(spots, pair) > GAP and len(taken) < PAIRS_MAX
            if wanted and pair not in taken and not any(_cross(spots, pair, other) for other in taken):
                taken.append(pair)
    return taken


def _joined(taken: list[tuple[str, str]], city: str, other: str) -> bool:
    """Tell whether pairs lead from one city to another."""
    return joined([(*pair, "red", 3) for pair in taken], city, other)


def _distance(one: tuple[int, int], other: tuple[int, int]) -> float:
    return hypot(one[0] - other[0], one[1] - other[1])


def _gap(spots: dict[str, tuple[int, int]], pair: tuple[str, str]) -> float:
    """Return how near the line between two cities comes to any third one."""
    (x1, y1), (x2, y2) = spots[pair[0]], spots[pair[1]]
    dx, dy = x2 - x1, y2 - y1
    gaps = [inf]
    for name, (x, y) in spots.items():
        if name not in pair:
            along = min(1.0, max(0.0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)))
            gaps.append(hypot(x1 + along * dx - x, y1 + along * dy - y))
    return min(gaps)


def _cross(spots: dict[str, tuple[int, int]], pair: tuple[str, str], other: tuple[str, str]) -> bool:
    """Tell whether the lines of two pairs cross, other than at a city of both."""
    if set(pair) & set(other):
        return False
    a, b, c, d = (spots[name] for name in (*pair, *other))
    return _side(a, b, c) != _side(a, b, d) and _side(c, d, a) != _side(c, d, b)


def _side(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Tell on which side of the line from a to b the spot c lies."""
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])

"""The longest path of Trains: through no city twice, so it is a simple path, and finding it is hard in general.

It is exact. Cities come in one after another, each with its connections to those that came before. What matters of the
connections chosen so far is only how they end at the cities that still have connections to come, the *frontier*: so of
all choices that end alike the longest alone is kept. A frontier of a few cities has few ways to end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rules.trains_map import Connection

# How a city of the frontier is met, where no number of another city is: passed through, or the end of a piece of path
# whose other end lies behind the frontier and so stays an end.
PASSED, FIXED = -1, -2
Ends = tuple[int, ...]  # For each city of the frontier: itself (untouched), the other end of its piece, or the above.


def longest_path(connections: Iterable[Connection]) -> int:
    """Return the length in segments of the longest path that visits no city twice, 0 without connections.

    Of parallel connections the longest counts. Exact whatever the connections are; the work grows with how closely
    the cities are knit, not with their number. What a player can own, 15 connections of 45 rails, takes 2 ms at most;
    random maps of 20 cities and 40 connections up to a second or two, of 12 cities and 40 connections up to six.
    """
    best: dict[tuple[str, str], int] = {}
    for city, other, _, length in connections:
        pair = (city, other) if city < other else (other, city)
        if city != other:
            best[pair] = max(length, best.get(pair, 0))
    names = sorted({city for pair in best for city in pair})
    number = {name: i for i, name in enumerate(names)}
    near: list[dict[int, int]] = [{} for _ in names]
    for (city, other), length in best.items():
        near[number[city]][number[other]] = near[number[other]][number[city]] = length
    return _longest(near)


def _longest(near: Sequence[dict[int, int]]) -> int:
    longest = 0
    frontier: list[int] = []
    states: dict[Ends, int] = {(): 0}
    for city, gone in _arrivals(near):
        frontier.append(city)
        states = {(*ends, city): length for ends, length in states.items()}
        for other in frontier[:-1]:
            if other in near[city]:
                here, there, extra = len(frontier) - 1, frontier.index(other), near[city][other]
                for ends, length in list(states.items()):
                    taken = _taken(ends, frontier, here, there)
                    if taken is None:
                        continue
                    if FIXED in (ends[here], ends[there]) and ends[here] == ends[there]:
                        if _alone(taken, frontier):
                            longest = max(longest, length + extra)
                    elif states.get(taken, -1) < length + extra:
                        states[taken] = length + extra
        for leaving in gone:
            place = frontier.index(leaving)
            left: dict[Ends, int] = {}
            for ends, length in states.items():
                mate = ends[place]
                rest = list(ends)
                if mate not in (leaving, PASSED, FIXED):
                    rest[frontier.index(mate)] = FIXED
                del rest[place]
                if mate == FIXED:
                    if _alone(rest, frontier[:place] + frontier[place + 1 :]):
                        longest = max(longest, length)
                elif rest.count(FIXED) <= 2:
                    key = tuple(rest)
                    if left.get(key, -1) < length:
                        left[key] = length
            states = left
            del frontier[place]
    return longest


def _taken(ends: Ends, frontier: Sequence[int], here: int, there: int) -> Ends | None:
    """Return the ends once the connection of two frontier cities, by place, is part of a path; None if it cannot be."""
    city, other = frontier[here], frontier[there]
    one, two = ends[here], ends[there]
    if one in (PASSED, other) or two == PASSED:  # a city twice, or round in a circle
        return None
    found = list(ends)
    if one != city:
        found[here] = PASSED
    if two != other:
        found[there] = PASSED
    if one != FIXED:
        found[frontier.index(one)] = two
    if two != FIXED:
        found[frontier.index(two)] = one
    return tuple(found)


def _alone(ends: Sequence[int], frontier: Sequence[int]) -> bool:
    """Tell whether no city is the end of a piece of path."""
    return all(mate in (PASSED, city) for mate, city in zip(ends, frontier, strict=True))


def _arrivals(near: Sequence[dict[int, int]]) -> list[tuple[int, list[int]]]:
    """Return the cities in an order that keeps the frontier small, each with those that leave it thereafter.

    The next city is the one after which the frontier is smallest; that is not always the best order, but a good one.
    """
    waiting = set(range(len(near)))
    to_come = [len(others) for others in near]  # How many neighbours of a city are still to come.
    frontier: set[int] = set()
    order: list[tuple[int, list[int]]] = []

    def leavers(city: int) -> list[int]:
        out = [other for other in near[city] if other in frontier and to_come[other] == 1]
        return out if to_come[city] else [*out, city]

    while waiting:
        beside = {other for city in frontier for other in near[city] if other in waiting} or waiting
        city = min(sorted(beside), key=lambda city: (-len(leavers(city)), to_come[city]))
        gone = sorted(leavers(city))
        waiting.remove(city)
        frontier.add(city)
        for other in near[city]:
            to_come[other] -= 1
        frontier -= set(gone)
        order.append((city, gone))
    return order

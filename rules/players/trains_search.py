"""The strong player of Trains: wants what pays most for its cards and rails, and goes there by the shortest way.

It looks for the connections that are missing to join its destinations, at the lowest price, over those it owns (free)
and those that nobody has. What it can pay now is worth the segments it lays, the destinations it reaches or comes
nearer to, and what it adds to the longest path. What it does not want it leaves, as long as its rails are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from rules.players.trains_maps import made_map
from rules.players.trains_view import View
from rules.trains_map import Connection, Destination, joined, read_map
from rules.trains_paths import longest_path

UNREACHABLE = 10_000  # Segments; more than any way has.
MANY = 24  # Cards in hand: with more there is no need to wait for better ones.


class Strong:
    """Joins its destinations first, by the cheapest way, then makes its longest path longer."""

    def __init__(self, name: str, seed: int) -> None:
        self._seed = seed
        self._map: Any = None

    def map(self) -> tuple[str, dict[str, Any]]:
        """Answer with a map that is good for eight players."""
        return "map", {"map": made_map(self._seed)}

    def heard(self, message: str, fields: Mapping[str, Any]) -> None:
        """Keep the map of a game that begins."""
        if message == "setup":
            self._map = fields["map"]

    def pick(self, destinations: Any) -> tuple[str, dict[str, Any]]:
        """Answer with all but the two that are joined by the fewest segments together."""
        offered = sorted(map(tuple, destinations))
        free = read_map(self._map).connections
        pairs = [(one, other) for i, one in enumerate(offered) for other in offered[i + 1 :]]
        kept = min(pairs, key=lambda pair: (price(pair, (), free)[0], pair))
        return "returned", {"unwanted": tuple([pair for pair in offered if pair not in kept])}

    def play(self, state: Any) -> tuple[str, dict[str, Any]]:
        """Answer with the best connection that can be had, if it serves its ends; else for more cards."""
        seen = View.of(self._map, state)
        chosen = best(seen)
        return ("more_cards", {}) if chosen is None else ("connection", {"connection": chosen})


def best(seen: View) -> Connection | None:
    """Return the connection to take now, None to ask for cards."""
    options, free = seen.options(), seen.free()
    if not options:
        return None
    missing = [pair for pair in seen.wanted if not joined(seen.owned, *pair)]
    cost, way = price(missing, seen.owned, free)
    if missing and cost > seen.rails:  # both are too much: the cheaper one alone
        singles = [price([pair], seen.owned, free) for pair in missing]
        cost, way = min(singles, key=lambda single: single[0])
    reachable = cost <= seen.rails
    if missing and reachable:
        on_way = [one for one in options if one in way or (one[:2] in {step[:2] for step in way})]
        if on_way:
            return min(on_way, key=lambda one: (one[3], one))
    spare = seen.rails - (cost if missing and reachable else 0)
    now = longest_path(seen.owned)
    useful = [one for one in options if one[3] <= spare]
    if not useful:
        return None
    gains = [(longest_path((*seen.owned, one)) - now, one[3], one) for one in useful]
    gain, _, chosen = max(gains)
    if gain > 0 or sum(seen.cards) > MANY or not missing:
        return chosen
    return None


def price(
    pairs: Iterable[Destination], owned: Sequence[Connection], free: Sequence[Connection]
) -> tuple[int, list[Connection]]:
    """Return the segments still to be laid so that the pairs are joined, and the connections to take.

    The pairs are joined one after another, each over what those before have taken; the cheaper order counts.
    """
    wanted = list(pairs)
    found = [_in_turn(order, owned, free) for order in (wanted, wanted[::-1])]
    return min(found, key=lambda one: one[0])


def _in_turn(
    pairs: Iterable[Destination], owned: Sequence[Connection], free: Sequence[Connection]
) -> tuple[int, list[Connection]]:
    taken: list[Connection] = []
    cost = 0
    for pair in pairs:
        more, way = _way(pair, [*owned, *taken], free)
        cost += more
        taken += way
    return cost, taken


def _way(pair: Destination, owned: Sequence[Connection], free: Sequence[Connection]) -> tuple[int, list[Connection]]:
    """Return the cheapest way from city to city, and what of it is not owned yet (Dijkstra)."""
    near: dict[str, list[tuple[int, str, Connection | None]]] = {}
    for one in owned:
        for here, there in (one[:2], one[1::-1]):
            near.setdefault(here, []).append((0, there, None))
    for one in free:
        for here, there in (one[:2], one[1::-1]):
            near.setdefault(here, []).append((one[3], there, one))
    start, goal = pair
    queue: list[tuple[int, int, str]] = [(0, 0, start)]
    before: dict[str, tuple[str, Connection | None]] = {}
    costs = {start: 0}
    count = 0
    while queue:
        cost, _, city = heappop(queue)
        if city == goal:
            way: list[Connection] = []
            while city != start:
                city, step = before[city]
                if step is not None:
                    way.append(step)
            return cost, way
        if cost > costs[city]:
            continue
        for extra, there, taken in near.get(city, ()):
            if cost + extra < costs.get(there, UNREACHABLE):
                costs[there] = cost + extra
                before[there] = (city, taken)
                count += 1
                heappush(queue, (cost + extra, count, there))
    return UNREACHABLE, []

"""The map of Trains: cities, the coloured connections between them, and which pairs of cities are joined at all.

A map in JSON is ``{"width", "height", "cities": [[name, [x, y]], ...], "connections": {city: {city: {colour:
length}}}}``, each connection once, under the city that comes first by character code. It becomes an `Atlas`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COLOURS = ("red", "blue", "green", "white")
LENGTHS = (3, 4, 5)
SIDE_MIN, SIDE_MAX = 10, 800  # Width and height.
CITY_NAME = re.compile(r"[a-zA-Z0-9 .,]{1,25}")
# The course's tests stay within 20 cities and 40 connections; the rules name no limit, and a peer needs one.
CITIES_MAX = 100
CONNECTIONS_MAX = 400
PLAYERS_MAX = 8  # In one game.

Connection = tuple[str, str, str, int]  # City, city, colour, length; the cities in order.
Destination = tuple[str, str]  # Two cities that are joined on the map, in order.


class MapError(ValueError):
    """A value is no map; the text says why."""


@dataclass(frozen=True, slots=True)
class Atlas:
    """A map that has been looked at.

    ``cities`` are as the map lists them, each with its spot (x, y), from (0, 0) to (``width``, ``height``).
    ``connections`` are in order of cities, then length, then colour; ``destinations`` in order of cities. Names
    compare by character code.
    """

    width: int
    height: int
    cities: tuple[tuple[str, tuple[int, int]], ...]
    connections: tuple[Connection, ...]
    destinations: tuple[Destination, ...]

    def __str__(self) -> str:
        return f"{len(self.cities)} cities, {len(self.connections)} connections"


def read_map(value: Any) -> Atlas:
    """Return the atlas of a map in JSON, with lists or tuples.

    Raises:
        MapError: the shape is another, a number is out of its bounds, a name or a spot occurs twice, or a connection
            is to an unknown city or listed under the wrong one of its two.
    """
    if not isinstance(value, Mapping) or value.keys() != {"width", "height", "cities", "connections"}:
        raise MapError("a map has width, height, cities and connections, and nothing else")
    width, height = _natural(value["width"], SIDE_MIN, SIDE_MAX), _natural(value["height"], SIDE_MIN, SIDE_MAX)
    cities = _cities(value["cities"], width, height)
    names = {name for name, _ in cities}
    connections = _connections(value["connections"], names)
    return Atlas(width, height, cities, tuple(sorted(connections, key=in_order)), destinations_of(names, connections))


def is_map(value: Any) -> bool:
    """Tell whether any value at all is a map."""
    try:
        read_map(value)
    except MapError:
        return False
    return True


def in_order(connection: Connection) -> tuple[str, str, int, str]:
    """Return what connections are sorted by: cities, length, colour."""
    city, other, colour, length = connection
    return city, other, length, colour


def destinations_of(cities: Iterable[str], connections: Iterable[Connection]) -> tuple[Destination, ...]:
    """Return all pairs of the cities that are joined by some path, in order."""
    piece = pieces(connections)
    names = sorted(cities)
    return tuple(
        [
            (city, other)
            for i, city in enumerate(names)
            if city in piece
            for other in names[i + 1 :]
            if piece.get(other) == piece[city]
        ]
    )


def pieces(connections: Iterable[Connection]) -> dict[str, int]:
    """Return for each connected city the number of its piece; cities are joined if they have the same."""
    found: dict[str, int] = {}
    members: dict[int, list[str]] = {}
    for number, (city, other, _, _) in enumerate(connections):
        here, there = found.get(city), found.get(other)
        if here is None and there is None:
            found[city] = found[other] = number
            members[number] = [city, other]
        elif here is None or there is None:
            joined = here if here is not None else there
            assert joined is not None
            found[city] = found[other] = joined
            members[joined].append(city if here is None else other)
        elif here != there:
            for name in members[there]:
                found[name] = here
            members[here] += members.pop(there)
    return found


def joined(connections: Iterable[Connection], city: str, other: str) -> bool:
    """Tell whether a path of the connections leads from one city to another; none leads to a city itself."""
    piece = pieces(connections)
    return city != other and city in piece and piece[city] == piece.get(other)


def is_connection(value: Any) -> bool:
    """Tell whether any value has the shape of a connection: two cities, a colour, a length."""
    match value:
        case [str(), str(), str() as colour, int() as length] if not isinstance(length, bool):
            return colour in COLOURS and length in LENGTHS
    return False


# Reading -------------------------------------------------------------------------------------------------------------


def _natural(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise MapError(f"a whole number from {low} to {high} is wanted")
    return value


def _cities(value: Any, width: int, height: int) -> tuple[tuple[str, tuple[int, int]], ...]:
    if not _is_list(value):
        raise MapError("the cities are a list")
    if len(value) > CITIES_MAX:
        raise MapError(f"a map has {CITIES_MAX} cities at most")
    cities: dict[str, tuple[int, int]] = {}
    for item in value:
        match item:
            case [str() as name, [x, y]] if CITY_NAME.fullmatch(name):
                spot = _natural(x, 0, width), _natural(y, 0, height)
            case _:
                raise MapError("a city is [name, [x, y]], its name 1 to 25 letters, digits, blanks, dots and commas")
        if name in cities or spot in cities.values():
            raise MapError(f"{name} or its spot is on the map twice")
        cities[name] = spot
    return tuple(cities.items())


def _connections(value: Any, names: set[str]) -> list[Connection]:
    if not isinstance(value, Mapping):
        raise MapError("the connections are an object")
    found: list[Connection] = []
    for city, targets in value.items():
        if city not in names or not isinstance(targets, Mapping):
            raise MapError("the connections are objects by city of the map")
        for other, segment in targets.items():
            if other not in names or not isinstance(segment, Mapping):
                raise MapError(f"the connections of {city} are objects by city of the map")
            if not city < other:
                raise MapError(f"the connection of {city} and {other} belongs under the one that comes first")
            for colour, length in segment.items():
                if not is_connection((city, other, colour, length)):
                    raise MapError(f"the connections of {city} and {other} are lengths of 3, 4 or 5 by colour")
                found.append((city, other, colour, length))
    if len(found) > CONNECTIONS_MAX:
        raise MapError(f"a map has {CONNECTIONS_MAX} connections at most")
    return found


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)

"""Trains for people at a terminal: the map in text, what a message shows, and the result in lines.

``map_svg`` draws the map as a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.players.trains_view import View
from rules.trains_map import Atlas, Connection, MapError, read_map
from rules.views.trains_offered import offered, owned_by
from rules.views.trains_svg import map_svg

__all__ = [
    "EXPLANATION",
    "POINTS",
    "map_svg",
    "map_text",
    "offered",
    "pictured",
    "result_lines",
    "seen",
    "shown",
    "written",
]

POINTS = "points in each one's last game"  # what the points of an outcome are, for people
COLUMNS, ROWS = 100, 28  # Characters of the map in text.
EXPLANATION = """\
Take connections between cities: each costs as many cards of its colour, and as many rails, as it is long.
You begin with 45 rails and 4 cards; instead of taking a connection you may ask for 2 more cards.
A point a segment, 20 for the longest path, 10 for each of your two destinations that is joined, -10 if not.
Who has fewer than 3 rails left begins the last round: one more turn for each of the others.
"""


def map_text(submitted: Any, owned: Mapping[str, Sequence[Any]] | None = None) -> str:
    """Return the map in text: its cities where they lie, each with a number, then a line for each pair of cities.

    ``submitted`` is as in the messages; ``owned`` are the connections of each player, by name.

    Raises:
        MapError: it is no map.
    """
    atlas = read_map(submitted)
    holders = {tuple(one): name for name, those in (owned or {}).items() for one in those}
    numbers = {name: number for number, (name, _) in enumerate(atlas.cities, 1)}
    lines = [row.rstrip() for row in _canvas(atlas, numbers)]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    between: dict[tuple[str, str], list[Connection]] = {}
    for one in atlas.connections:
        between.setdefault(one[:2], []).append(one)
    for (city, other), those in between.items():
        told = ", ".join(_told(one, holders.get(one)) for one in those)
        lines.append(f"  {numbers[city]:2} {city} - {numbers[other]} {other}: {told}")
    return "\n".join(lines)


def _canvas(atlas: Atlas, numbers: Mapping[str, int]) -> list[str]:
    """Return the rows with the cities: a number and the name where there is room for it, to its right or left."""
    rows = [[" "] * COLUMNS for _ in range(ROWS)]
    places = []
    for name, (x, y) in atlas.cities:
        column, row = round(x * (COLUMNS - 3) / atlas.width), round(y * (ROWS - 1) / atlas.height)
        places.append((name, row, column))
        for i, char in enumerate(f"{numbers[name]:<2}".rstrip()):
            rows[row][column + i] = char
    for name, row, column in places:
        width = len(str(numbers[name]))
        for begin in (column + width + 1, column - len(name) - 1):
            room = range(max(0, begin - 1), min(COLUMNS, begin + len(name) + 1))
            inside = begin >= 0 and begin + len(name) <= COLUMNS
            own = range(column, column + width)
            if inside and all(rows[row][at] == " " or at in own for at in room):
                rows[row][begin : begin + len(name)] = list(name)
                break
    return ["".join(row) for row in rows]


def _told(one: Connection, holder: str | None) -> str:
    return f"{one[2]} {one[3]}" + (f" ({in_line(holder)})" if holder is not None else "")


def shown(message: str, fields: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str | None:
    """Return what someone who watches should see of a message, or None for nothing.

    ``fields`` are the message's, by name. What sets a game up shows the map; the rest is a line.
    """
    fields = dict(fields)
    match message:
        case "name":
            return f"signs up as {in_line(fields['name'])}"
        case "map":
            return f"brings a map along, {_size(fields['map'])}"
        case "setup":
            return _drawn(fields["map"])
        case "returned":
            return f"returns {', '.join(' to '.join(map(in_line, pair)) for pair in fields['unwanted'])}"
        case "connection":
            city, other, colour, length = fields["connection"]
            return f"takes {in_line(city)} - {in_line(other)}, {colour} {length}"
        case "more_cards":
            return "asks for cards"
        case "win":
            return "won the game" if fields["won"] else "did not win the game"
        case "end":
            return result_lines({"won": fields["won"]})[0]
    return None


def pictured(state: Any, who: str, message: str, fields: Mapping[str, Any]) -> tuple[Any, Callable[[], str] | None]:
    """Return what is known after a message, and how to draw the map that it changes; None if it changes none.

    ``state`` is what this returned for the message before, None at first: the map, whose which connections are, and
    whose game is over. ``who`` is the name of the client that sent or got it.
    """
    after = _followed(state, who, message, fields)
    return after, partial(map_svg, after[0], owned=after[1]) if _is_seen(after, message) else None


def written(state: Any, who: str, message: str, fields: Mapping[str, Any]) -> tuple[Any, Callable[[], str] | None]:
    """Return the same as `pictured`, with the map in text."""
    after = _followed(state, who, message, fields)
    return after, partial(_drawn, after[0], after[1]) if _is_seen(after, message) else None


def seen(atlas: Any, message: str, fields: Mapping[str, Any]) -> tuple[Any, Callable[[], str] | None]:
    """Return the map after a message to a player, and how to write it as that player knows it; None if it shows none.

    ``atlas`` is what this returned for the message before, None at first. A state tells whose what is, and no names:
    the player is ``you``, and who comes after it is ``player 2`` and so on.
    """
    if message == "setup":
        return fields["map"], partial(_drawn, fields["map"])
    if message == "play" and atlas is not None:
        view = View.of(atlas, fields["state"])
        return atlas, partial(_drawn, atlas, owned_by(view))
    return atlas, None


_State = tuple[Any, dict[str, tuple[Any, ...]], frozenset[str]]


def _followed(state: _State | None, who: str, message: str, fields: Mapping[str, Any]) -> _State:
    """Return the map, the connections of each player of the games on it, and who has been told of an end."""
    atlas, owned, over = state or (None, {}, frozenset())
    match message:
        case "setup":  # of the next game, where one is over
            kept = owned if fields["map"] == atlas else {}
            return (
                fields["map"],
                {name: those for name, those in kept.items() if name not in over} | {who: ()},
                frozenset(),
            )
        case "connection" if atlas is not None:
            return atlas, {**owned, who: (*owned.get(who, ()), tuple(fields["connection"]))}, over
        case "win":
            return atlas, owned, over | {who}
    return atlas, owned, over


def _is_seen(after: _State, message: str) -> bool:
    return message in ("setup", "connection") and after[0] is not None


def result_lines(result: Any) -> list[str]:
    """Return the result of a tournament in lines, or a client's, or why there was none."""
    match result:
        case str() as why:
            return [f"no tournament: {why.removeprefix('error: ')}"]
        case {"won": bool() as won}:
            return ["won the tournament" if won else "did not win the tournament"]
        case [[], []]:
            return ["no tournament: too few players, or nobody left"]
        case [[*winners], [*kicked]]:
            lines = [f"won: {', '.join(map(in_line, winners))}" if winners else "nobody won"]
            return [*lines, f"kicked: {', '.join(map(in_line, kicked))}"] if kicked else lines
    return [f"result: {result!r}"]


def _size(submitted: Any) -> str:
    try:
        return str(read_map(submitted))
    except MapError as error:
        return f"which is none: {error}"


def _drawn(submitted: Any, owned: Mapping[str, Sequence[Any]] | None = None) -> str:
    """Return the map in text, or why there is none: what a peer wrote must not stop who watches."""
    try:
        return map_text(submitted, owned)
    except MapError as error:
        return f"(this map cannot be drawn: {error})"


def in_line(name: str) -> str:
    """Return a name in one line: an empty one, or one that a terminal might obey, as Python would write it."""
    return name if name and name.isprintable() else repr(name)

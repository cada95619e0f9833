"""Trains as a picture: the map with each connection in its colour, those that are taken in the colour of their owner.

SVG text, written by hand: no library is needed, and the same map gives the same bytes. A connection is drawn as its
segments, 3 to 5 of them, each with a frame in the connection's colour; one that is taken is filled with its owner's.
Parallel ones lie beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Any

from rules.trains_map import Atlas, Connection, read_map
from rules.views.svg import opening, safe, short, written

WIDTH, HEIGHT = 1000.0, 760.0  # Pixels that the map fills at most, in its own proportions.
MARGIN = 60.0
PANEL = 320.0
APART = 13.0  # Between parallel connections.
THICK = 8.0
CITY = 8.0  # Radius.
LINE_CHARACTERS = 26
PAINT = {"red": "#d62839", "blue": "#2563eb", "green": "#1f9d55", "white": "#8d8778"}
# Of the players, in turn order: none is like a connection's colour.
OWNERS = ("#111318", "#f59e0b", "#9333ea", "#06b6d4", "#ec4899", "#84cc16", "#7c4a21", "#0f766e")
GROUND = "#f7f2e7"
STYLE = """
text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#2d2a26}
.city{font-size:13px;font-weight:bold;paint-order:stroke;stroke:#f7f2e7;stroke-width:4px;stroke-linejoin:round}
.text{font-size:13px}.head{font-size:15px;font-weight:bold}.title{font-size:22px;font-weight:bold}
.spot{fill:#2d2a26;stroke:#fff;stroke-width:2}
"""

Box = tuple[float, float, float, float]  # Left, top, right, bottom.


def map_svg(
    submitted: Any,
    *,
    owned: Mapping[str, Sequence[Any]] | None = None,
    title: str = "Trains",
    notes: Mapping[str, str] | None = None,
    lines: Sequence[str] = (),
) -> str:
    """Return the picture as the text of an SVG file. ``submitted`` is as in the messages; the rest is told if given.

    ``owned`` are the connections of each player, by name, in turn order: with them goes the colour. ``notes`` is a
    line more on a player, by name: its points. ``lines`` are told below the players.

    Raises:
        MapError: it is no map.
    """
    atlas = read_map(submitted)
    scale, spots = _placed(atlas)
    across = 2 * MARGIN + atlas.width * scale
    down = max(2 * MARGIN + atlas.height * scale, 110.0 + 44 * len(owned or {}) + 22 * len(lines))
    total = across + (PANEL if owned else 0)
    paints = {name: OWNERS[i % len(OWNERS)] for i, name in enumerate(owned or {})}
    holders = {tuple(one): name for name, those in (owned or {}).items() for one in those}
    parts = opening(title, STYLE, total, down, GROUND)
    between = _between(atlas)
    for (city, other), those in between.items():
        for i, one in enumerate(those):
            beside = (i - (len(those) - 1) / 2) * APART
            holder = holders.get(one)
            parts.append(_track(spots[city], spots[other], one, beside, paints[holder] if holder else None))
    for x, y in spots.values():
        parts.append(f'<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="{CITY:g}"/>')
    parts += _labels(spots, [(spots[city], spots[other]) for city, other in between], across, down)
    if owned:
        parts += _panel(title, owned, paints, notes or {}, across)
        below = MARGIN + 44 * (len(owned) + 1)
        parts += [written(across, below + 22 * at, short(line, 40), "text") for at, line in enumerate(lines)]
    parts.append("</svg>\n")
    return "\n".join(parts)


def middles(submitted: Any) -> dict[Connection, tuple[float, float]]:
    """Return the middle of each connection of a map, in the picture's pixels.

    Raises:
        MapError: it is no map.
    """
    atlas = read_map(submitted)
    spots = _placed(atlas)[1]
    found = {}
    for (city, other), those in _between(atlas).items():
        (x1, y1), (x2, y2) = spots[city], spots[other]
        far = hypot(x2 - x1, y2 - y1)
        for i, one in enumerate(those):
            beside = (i - (len(those) - 1) / 2) * APART
            found[one] = (x1 + x2) / 2 - (y2 - y1) / far * beside, (y1 + y2) / 2 + (x2 - x1) / far * beside
    return found


def _placed(atlas: Atlas) -> tuple[float, dict[str, tuple[float, float]]]:
    """Return the pixels of a map's unit, and where each city is in pixels."""
    scale = min((WIDTH - 2 * MARGIN) / atlas.width, (HEIGHT - 2 * MARGIN) / atlas.height)
    return scale, {name: (MARGIN + x * scale, MARGIN + y * scale) for name, (x, y) in atlas.cities}


def _between(atlas: Atlas) -> dict[tuple[str, str], list[Connection]]:
    found: dict[tuple[str, str], list[Connection]] = {}
    for one in atlas.connections:
        found.setdefault(one[:2], []).append(one)
    return found


def _track(start: tuple[float, float], end: tuple[float, float], one: Connection, beside: float, paint: Any) -> str:
    """Return a connection: a rectangle for each segment, from city to city, ``beside`` the straight line."""
    (x1, y1), (x2, y2) = start, end
    far = hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / far, (y2 - y1) / far
    gap = min(CITY + 3, far / 6)
    each = (far - 2 * gap) / one[3]
    pause = min(4.0, each / 5)
    colour = PAINT[one[2]]
    parts = [f"<g><title>{safe(f'{one[0]} - {one[1]}, {one[2]} {one[3]}')}</title>"]
    for i in range(one[3]):
        begin, stop = gap + i * each + pause / 2, gap + (i + 1) * each - pause / 2
        corners = [
            (x1 + ux * along - uy * (beside + side), y1 + uy * along + ux * (beside + side))
            for along, side in ((begin, -THICK / 2), (stop, -THICK / 2), (stop, THICK / 2), (begin, THICK / 2))
        ]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        fill = paint if paint is not None else "#fffdf7"
        parts.append(f'<polygon points="{points}" fill="{fill}" stroke="{colour}" stroke-width="2"/>')
    return "".join([*parts, "</g>"])


def _labels(
    spots: Mapping[str, tuple[float, float]],
    tracks: Sequence[tuple[tuple[float, float], tuple[float, float]]],
    across: float,
    down: float,
) -> list[str]:
    """Return the names of the cities, each where it covers least: other names, cities, connections, the border."""
    taken: list[Box] = [(x - CITY, y - CITY, x + CITY, y + CITY) for x, y in spots.values()]
    points = [(x1 + (x2 - x1) * i / 24, y1 + (y2 - y1) * i / 24) for (x1, y1), (x2, y2) in tracks for i in range(25)]
    parts = []
    for name, (x, y) in sorted(spots.items(), key=lambda item: (item[1][1], item[1][0])):
        long = 8.6 * len(name) + 4
        off = CITY + 4
        boxes = []
        for far in (off, off + 8):
            boxes += [
                (x - long / 2, y - far - 14, x + long / 2, y - far),
                (x - long / 2, y + far, x + long / 2, y + far + 14),
                (x + far, y - 8, x + far + long, y + 7),
                (x - far - long, y - 8, x - far, y + 7),
                (x + 4, y - far - 14, x + 4 + long, y - far),
                (x - 4 - long, y - far - 14, x - 4, y - far),
                (x + 4, y + far, x + 4 + long, y + far + 14),
                (x - 4 - long, y + far, x - 4, y + far + 14),
            ]
        best = min(boxes, key=lambda box: _covered(box, taken, points, across, down))
        taken.append(best)
        middle, foot = (best[0] + best[2]) / 2, best[3] - 3
        parts.append(f'<text class="city" x="{middle:.1f}" y="{foot:.1f}" text-anchor="middle">{safe(name)}</text>')
    return parts


def _covered(
    box: Box, taken: Sequence[Box], points: Sequence[tuple[float, float]], across: float, down: float
) -> float:
    """Return how bad a place for a name is."""
    left, top, right, bottom = box
    over = sum(40 for a, b, c, d in taken if left < c and a < right and top < d and b < bottom)
    cut = 200 if left < 2 or top < 2 or right > across - 2 or bottom > down - 2 else 0
    return over + cut + sum(1 for x, y in points if left - 4 < x < right + 4 and top - 4 < y < bottom + 4)


def _panel(
    title: str,
    owned: Mapping[str, Sequence[Any]],
    paints: Mapping[str, str],
    notes: Mapping[str, str],
    left: float,
) -> list[str]:
    """Return what stands to the right of the map: who has which colour, and how much."""
    y = MARGIN
    parts = [written(left, y, short(title, LINE_CHARACTERS), "title")]
    for name, those in owned.items():
        y += 44
        parts.append(
            f'<rect x="{left:g}" y="{y - 13:g}" width="26" height="14" fill="{paints[name]}" stroke="#2d2a26"/>'
        )
        parts.append(written(left + 36, y, short(name, LINE_CHARACTERS), "head"))
        segments = sum(one[3] for one in those)
        told = f"{len(those)} connections, {segments} segments"
        if name in notes:
            told = f"{told}; {notes[name]}"
        parts.append(written(left + 36, y + 17, told, "text"))
    return parts

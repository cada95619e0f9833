"""Where arrows meet a box: those that arrive are moved apart from those that leave, and do not cross them there.

    ╭─────────╮          ╭─────────╮
    │ waiting │    ⇒     │ waiting │       one line that turns at the box, or two arrows?
    ╰────▲╲───╯          ╰──▲───╲──╯

Graphviz aims every arrow at a box's middle and cuts it where it meets the border, so that one may end exactly where
another begins, or on top of another's head. It has no attribute against that: a port fixes where an arrow ends before
its way is known. What is done here comes after the layout: ends slide along the border until one that arrives and one
that leaves are GAP apart, and two that arrive, or two that leave, stand beside each other.

Plain numbers in and out, in points: nothing here knows what lays out or draws.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final

Point = tuple[float, float]

GAP: Final = 9.0  # points along the border between a head and a tail: a head is 8 long and 6 wide
BENT: Final = 120.0  # points from an end that is moved by GAP to where the curve is as it was
CLOSE: Final = 0.1  # points that nobody sees
ALIKE: Final = 2 / 3  # of GAP between two heads, or two tails: side by side, not one over the other
CROWDED: Final = 0.8  # of an equal share of the border, where there is no room for GAP
ROUNDS_MAX: Final = 400
ROUNDING: Final = 12.0  # the radius of Graphviz's rounded corners, but a third of the shorter side at most
CORNER_STEPS: Final = 6
PIECE_STEPS: Final = 12  # straight pieces for a Bézier piece, where crossings are looked for


@dataclass(frozen=True, slots=True)
class Curve:
    """A way of cubic Bézier pieces, 3n + 1 points; ``first`` and ``last`` are the tips of marks at its ends, if any."""

    points: tuple[Point, ...]
    first: Point | None = None
    last: Point | None = None

    @classmethod
    def read(cls, text: str) -> Curve:
        """Return the curve that Graphviz writes as ``pos``: ``s,x,y e,x,y x,y x,y …``, both marks optional.

        Raises:
            ValueError: it is not one curve of numbers.
        """
        marks: dict[str, Point] = {}
        points: list[Point] = []
        for word in text.replace("\\\n", "").split():
            *mark, x, y = word.split(",")
            if mark:
                marks[mark[0]] = (float(x), float(y))
            else:
                points.append((float(x), float(y)))
        if len(points) < 4 or len(points) % 3 != 1:
            raise ValueError(f"{len(points)} points are no curve")
        return cls(tuple(points), marks.get("s"), marks.get("e"))

    def written(self) -> str:
        """Return the curve as ``read`` takes it, to a hundredth of a point."""
        marks = {"s": self.first, "e": self.last}
        words = [f"{mark},{at[0]:.2f},{at[1]:.2f}" for mark, at in marks.items() if at is not None]
        return " ".join([*words, *(f"{x:.2f},{y:.2f}" for x, y in self.points)])

    def end(self, *, last: bool) -> Point:
        """Return where the curve, with its mark, begins or ends."""
        mark = self.last if last else self.first
        return mark if mark is not None else self.points[-1 if last else 0]

    def led(self, to: Point, *, last: bool) -> Curve:
        """Return the curve with one end led to a point, and what is near that end bent along."""
        old = self.end(last=last)
        by = (to[0] - old[0], to[1] - old[1])
        start, stop = (self.points[-1], self.points[0]) if last else (self.points[0], self.points[-1])
        moved = min(math.dist(old, to) / GAP, 1.0)
        reach = min(BENT * moved * moved, math.dist(start, stop)) or 1.0
        shares = (min(max(0.0, 2 - 2 * math.dist(start, point) / reach), 1.0) for point in self.points)
        bent = tuple((x + by[0] * share, y + by[1] * share) for (x, y), share in zip(self.points, shares, strict=True))
        if last:
            return replace(self, points=bent, last=None if self.last is None else to)
        return replace(self, points=bent, first=None if self.first is None else to)

    def straight(self) -> tuple[Point, ...]:
        """Return points along the way, marks included, close enough to take the way as straight between them."""
        way = [*([self.first] if self.first is not None else []), self.points[0]]
        for start in range(0, len(self.points) - 1, 3):
            a, b, c, d = self.points[start : start + 4]
            for step in range(1, PIECE_STEPS + 1):
                t = step / PIECE_STEPS
                p, q, r, s = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                way.append((p * a[0] + q * b[0] + r * c[0] + s * d[0], p * a[1] + q * b[1] + r * c[1] + s * d[1]))
        return (*way, self.last) if self.last is not None else tuple(way)


@dataclass(frozen=True)
class Outline:
    """The outline of a box: its corners, one way round."""

    corners: tuple[Point, ...]

    @cached_property
    def _sides(self) -> tuple[tuple[Point, Point], ...]:
        return tuple(pairwise([*self.corners, self.corners[0]]))

    @cached_property
    def _reached(self) -> tuple[float, ...]:
        """How far round each corner is, and at last the whole way."""
        return tuple(accumulate((math.dist(a, b) for a, b in self._sides), initial=0.0))

    @property
    def length(self) -> float:
        """The way once round."""
        return self._reached[-1]

    def nearest(self, point: Point) -> float:
        """Return how far round the place is that is nearest to ``point``."""
        best, found = math.inf, 0.0
        for (a, b), reached in zip(self._sides, self._reached, strict=False):
            side = math.dist(a, b)
            if not side:
                continue
            along = ((point[0] - a[0]) * (b[0] - a[0]) + (point[1] - a[1]) * (b[1] - a[1])) / side
            along = min(max(along, 0.0), side)
            away = math.dist(point, _between(a, b, along / side))
            if away < best:
                best, found = away, reached + along
        return found

    def at(self, way: float) -> Point:
        """Return the place that is so far round."""
        way %= self.length
        place = min(bisect_right(self._reached, way), len(self.corners)) - 1
        (a, b), reached = self._sides[place], self._reached[place]
        side = math.dist(a, b)
        return _between(a, b, (way - reached) / side) if side else a


def rounded(middle: Point, width: float, height: float) -> Outline:
    """Return the outline of a box with the round corners that Graphviz draws."""
    radius = min(ROUNDING, width / 3, height / 3)
    x, y = width / 2 - radius, height / 2 - radius
    corners: list[Point] = []
    for quarter, corner in enumerate([(x, y), (-x, y), (-x, -y), (x, -y)]):
        for step in range(CORNER_STEPS + 1):
            angle = math.pi / 2 * (quarter + step / CORNER_STEPS)
            turned = (radius * math.cos(angle), radius * math.sin(angle))
            corners.append(_plus(middle, _plus(corner, turned)))
    return Outline(tuple(corners))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An end of a curve at a box: the curve's index, which end of it, and whether the arrow arrives there."""

    curve: int
    last: bool
    arrives: bool


def separate_endpoints(curves: Sequence[Curve], boxes: Sequence[tuple[Outline, Sequence[Endpoint]]]) -> list[Curve]:
    """Return the curves with the ends moved that lie too close to another at the same box.

    ``boxes`` are borders, each with the ends that meet it. Neighbours that cross change places if they then do not.
    The gap is smaller than GAP where a box has no room for it.
    """
    result = list(curves)
    for border, ends in boxes:
        met = sorted(ends, key=lambda end: border.nearest(result[end.curve].end(last=end.last)))
        ways = _settled(result, border, met, [border.nearest(result[end.curve].end(last=end.last)) for end in met])
        if _uncrossed(result, met, [border.at(way) for way in ways]):
            _settled(result, border, met, ways)
    return result


def _settled(curves: list[Curve], border: Outline, met: Sequence[Endpoint], ways: Sequence[float]) -> list[float]:
    """Lead ends to where they have room, and return how far round that is."""
    settled = spread(ways, [end.arrives for end in met], border.length)
    for end, way in zip(met, settled, strict=True):
        place = border.at(way)
        if math.dist(place, curves[end.curve].end(last=end.last)) > CLOSE:
            curves[end.curve] = curves[end.curve].led(place, last=end.last)
    return settled


def _uncrossed(curves: list[Curve], met: list[Endpoint], places: Sequence[Point]) -> bool:
    """Let neighbours that cross change places, where they then do not: what began in one point is in no order.

    Return whether any did.
    """
    changed = False
    for left, right in pairwise([*range(len(met)), 0]):
        one, other = met[left], met[right]
        if one.curve == other.curve or not crossed(curves[one.curve], curves[other.curve]):
            continue
        led = (
            curves[one.curve].led(places[right], last=one.last),
            curves[other.curve].led(places[left], last=other.last),
        )
        if not crossed(*led):
            met[left], met[right] = other, one
            curves[one.curve], curves[other.curve] = led
            changed = True
    return changed


def crossed(one: Curve, other: Curve) -> bool:
    """Tell whether two curves cross."""
    ways = one.straight(), other.straight()
    (left, low), (right, high) = (map(min, zip(*ways[0], strict=True)), map(max, zip(*ways[0], strict=True)))
    near = [
        (a, b)
        for a, b in pairwise(ways[1])
        if max(a[0], b[0]) >= left and min(a[0], b[0]) <= right and max(a[1], b[1]) >= low and min(a[1], b[1]) <= high
    ]
    return any(_meet(a, b, c, d) for c, d in near for a, b in pairwise(ways[0]))


def spread(places: Sequence[float], sorts: Sequence[bool], length: float) -> list[float]:
    """Return places round a border of ``length``, in their order, moved so that unlike neighbours are GAP apart.

    ``places`` ascend; what is returned may be below 0 or past ``length``. Neighbours alike get ALIKE of that room.
    """
    count = len(places)
    gap = min(GAP, length / count * CROWDED)

    def room(place: int, held: Sequence[float]) -> float:
        return held[place + 1] - held[place] if place + 1 < count else held[0] + length - held[place]

    needed = [gap if sorts[place] != sorts[(place + 1) % count] else gap * ALIKE for place in range(count)]
    moved = list(places)
    for _ in range(ROUNDS_MAX):
        lacks = [max(0.0, needed[place] - room(place, moved)) for place in range(count)]
        if max(lacks) < CLOSE:
            break
        for place in range(count):
            lack = max(0.0, needed[place] - room(place, moved))
            moved[place] -= lack / 2
            moved[(place + 1) % count] += lack / 2
    return moved


def _meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _plus(point: Point, by: Point) -> Point:
    return point[0] + by[0], point[1] + by[1]


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
